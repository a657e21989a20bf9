/** The entry `toolkernel/sqlite`: journals and run stores in a SQLite file. */
export type {
  EvidenceContents,
  MovedCounts,
  RunContents,
  ScopeContents,
  StoreContents,
} from "../store-contents.ts";
export type { StoredEntry } from "../stored-entry.ts";
export type { SqliteDatabase, SqliteDriver, SqliteStatement } from "./driver.ts";
export { type MovedSqlite, type MoveSqliteOptions, moveSqliteStore } from "./move-sqlite-store.ts";
export type { SqliteStoreOptions } from "./open-sqlite-file.ts";
export { openSqliteJournal, type SqliteJournalOptions } from "./open-sqlite-journal.ts";
export { openSqliteRunStore, type SqliteRunStoreOptions } from "./open-sqlite-run-store.ts";
