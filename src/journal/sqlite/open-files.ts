/**
 * Which database files this process has opened, and through which copy of this library.
 * Owns: a registry that all copies of the library in a process share through `globalThis`. Invariant: one
 * file is only ever open through one copy and one binding: a second SQLite in the process would drop the
 * locks of the first when it closes the file, and another process could then write at the same time.
 * A file stays known after `close`, since a binding may keep it open until its statements are gone.
 */
import { statSync } from "node:fs";
import { KernelError } from "../../domain/errors.ts";
import type { SqliteClass } from "./driver.ts";

interface OpenFile {
  readonly copy: symbol;
  readonly databaseClass: SqliteClass;
  /** When the file was made: another file may come to have its inode. */
  readonly madeAtNs: bigint;
  uses: number;
}

const REGISTRY = Symbol.for("toolkernel.sqlite.openFiles");
/** This copy of the library. */
const COPY = Symbol("toolkernel copy");

/**
 * Notes that a file is being opened; returns a function to call when it was closed.
 * @throws KernelError `JOURNAL_UNSAFE` when another copy or binding has it in this process.
 */
export function noteOpen(path: string, databaseClass: SqliteClass): () => void {
  const files = openFiles();
  const { dev, ino, birthtimeNs: madeAtNs } = statSync(path, { bigint: true });
  const fileId = `${dev}:${ino}`;
  const known = files.get(fileId);
  const isKnown = known !== undefined && (known.uses > 0 || known.madeAtNs === madeAtNs);
  if (isKnown && (known.copy !== COPY || known.databaseClass !== databaseClass)) {
    throw new KernelError(
      "JOURNAL_UNSAFE",
      `The journal ${path} was opened in this process through another copy of toolkernel or another SQLite binding; a second one would destroy the locks of the first. Share one journal.`,
      { subject: path },
    );
  }
  const file = isKnown ? known : { copy: COPY, databaseClass, madeAtNs, uses: 0 };
  file.uses += 1;
  files.set(fileId, file);
  return () => {
    file.uses -= 1;
  };
}

function openFiles(): Map<string, OpenFile> {
  const shared = globalThis as { [REGISTRY]?: Map<string, OpenFile> }; // the one place all copies know
  shared[REGISTRY] ??= new Map();
  return shared[REGISTRY];
}
