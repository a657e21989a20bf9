import { KernelError, type KernelErrorCode } from "../../domain/errors.ts";
import { isDiskFull } from "./file-system.ts";

/** SQLite's primary result codes that mean something to the journal. */
const CODES = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  constraint: 19,
  notADatabase: 26,
};

const NAMES: Readonly<Record<string, number>> = {
  SQLITE_BUSY: CODES.busy,
  SQLITE_LOCKED: CODES.locked,
  SQLITE_READONLY: CODES.readOnly,
  SQLITE_IOERR: CODES.io,
  SQLITE_CORRUPT: CODES.corrupt,
  SQLITE_FULL: CODES.full,
  SQLITE_CANTOPEN: CODES.cannotOpen,
  SQLITE_CONSTRAINT: CODES.constraint,
  SQLITE_NOTADB: CODES.notADatabase,
};

/** A change that matched no row although it had just been read: a rule of the store is broken, and nothing is kept. */
export class BrokenStep extends Error {}

/** Whether another connection has the lock just now. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === CODES.busy || code === CODES.locked;
}

/** Whether there was no space left; some file systems say so by failing in other ways. */
export function isFull(error: unknown, path: string): boolean {
  const code = primaryCode(error);
  if (code === CODES.full || (error as { readonly code?: unknown })?.code === "ENOSPC") return true;
  return (code === CODES.io || code === CODES.cannotOpen) && isDiskFull(path);
}

/** An error of SQLite or of the file system as the named error that it means for the journal (ACT-11). */
export function toJournalError(error: unknown, path: string): KernelError {
  if (error instanceof KernelError) return error;
  const [code, what] = meaningOf(error, path);
  const said = error instanceof Error ? error.message : "unknown error";
  return new KernelError(code, `The journal ${path} ${what} (${said}).`, { subject: path, cause: error });
}

function meaningOf(error: unknown, path: string): readonly [KernelErrorCode, string] {
  if (error instanceof BrokenStep) return ["KERNEL_STUCK", "did not change as it should have"];
  if (isFull(error, path)) return ["JOURNAL_FULL", "has no space left; nothing new is dispatched until there is"];
  switch (primaryCode(error)) {
    case CODES.busy:
    case CODES.locked:
      return ["JOURNAL_UNAVAILABLE", "is locked by another process; try again"];
    case CODES.readOnly:
      return ["JOURNAL_UNAVAILABLE", "cannot be written; check the file, its directory and the mount"];
    case CODES.corrupt:
    case CODES.notADatabase:
      return ["JOURNAL_CORRUPT", "is damaged or not a journal; restore it, nothing was dispatched"];
    case CODES.cannotOpen:
      return ["JOURNAL_UNAVAILABLE", "cannot be opened; check the path and its directory"];
    case CODES.constraint:
      return ["KERNEL_STUCK", "refused a step that its rules forbid"];
    case 1:
      return ["JOURNAL_CORRUPT", "does not hold what it should; restore it, nothing was dispatched"];
    default:
      return ["JOURNAL_UNAVAILABLE", "cannot be read or written"];
  }
}

/** `node:sqlite` gives the extended code as a number, better-sqlite3 its name. */
function primaryCode(error: unknown): number | undefined {
  const { errcode, code } = (error ?? {}) as { readonly errcode?: unknown; readonly code?: unknown }; // any thrown value
  if (typeof errcode === "number") return errcode & 0xff;
  if (typeof code !== "string" || !code.startsWith("SQLITE_")) return undefined;
  return NAMES[code] ?? NAMES[code.split("_").slice(0, 2).join("_")];
}
