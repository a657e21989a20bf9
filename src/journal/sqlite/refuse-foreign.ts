import { KernelError } from "../../domain/errors.ts";
import type { SqliteDatabase } from "./driver.ts";

/** What is looked at, and whether there has to be a journal in it already. */
export interface JournalLook {
  readonly database: SqliteDatabase;
  readonly path: string;
  readonly mustExist: boolean;
}

/**
 * Refuses a database that is somebody else's, and where a journal has to be there one in which nothing is yet;
 * writes nothing (ACT-11).
 * @throws KernelError `JOURNAL_CORRUPT`, `INVALID_OPTIONS`
 */
export function refuseForeign({ database, path, mustExist }: JournalLook): void {
  const { version } = database.prepare("SELECT user_version AS version FROM pragma_user_version").get() as {
    readonly version: number;
  }; // the column asked for
  const { all, own } = database
    .prepare(
      "SELECT count(*) AS 'all', count(*) FILTER (WHERE name LIKE 'toolkernel@_%' ESCAPE '@') AS own FROM sqlite_schema",
    )
    .get() as { readonly all: number; readonly own: number }; // the columns asked for
  if (own > 0) return;
  if (all > 0 || version > 0) {
    throw new KernelError(
      "JOURNAL_CORRUPT",
      `The file ${path} is not a journal: it is some other database. Give the journal a file of its own; this one was left as it is.`,
      { subject: path },
    );
  }
  if (mustExist) throw noJournal(path, "is empty, and not a journal");
}

/** There is nothing, or nothing yet, where a journal had to be. */
export function noJournal(path: string, what: string): KernelError {
  return new KernelError("INVALID_OPTIONS", `The file ${path} ${what}; no journal was created.`, { subject: path });
}
