import type { RunStore } from "../../domain/run-store.ts";
import { KeptRuns } from "../run-store/kept-runs.ts";
import { openSqliteFile, type SqliteStoreOptions } from "./open-sqlite-file.ts";
import { SqliteRuns } from "./sqlite-runs.ts";

/** Options of {@link openSqliteRunStore}. */
export type SqliteRunStoreOptions = SqliteStoreOptions;

/**
 * Opens a run store in a SQLite file, and makes it if there is none (RUN-6); it may be the file of a
 * journal. Several processes of one machine may have it open; a run whose process has ended can be taken
 * at once, one whose process was only stopped cannot. Within a process no other SQLite library may open
 * the file.
 * @throws KernelError `JOURNAL_*` as `openSqliteJournal` does; `INVALID_OPTIONS`.
 */
export async function openSqliteRunStore(file: string, options: SqliteRunStoreOptions = {}): Promise<RunStore> {
  return openSqliteFile(file, options, (parts) => new KeptRuns(new SqliteRuns(parts)));
}
