/** The entry `toolkernel/sqlite`: journals and run stores in a SQLite file. */
export type { SqliteDatabase, SqliteDriver, SqliteStatement } from "./driver.ts";
export type { SqliteStoreOptions } from "./open-sqlite-file.ts";
export { openSqliteJournal, type SqliteJournalOptions } from "./open-sqlite-journal.ts";
export { openSqliteRunStore, type SqliteRunStoreOptions } from "./open-sqlite-run-store.ts";
