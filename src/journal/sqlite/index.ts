/** The entry `toolkernel/sqlite`: journals in a SQLite file. */
export type { SqliteDatabase, SqliteDriver, SqliteStatement } from "./driver.ts";
export { openSqliteJournal, type SqliteJournalOptions } from "./open-sqlite-journal.ts";
