/** The entry `toolkernel/postgres`: journals and run stores in a PostgreSQL database. */
export type { MovedCounts, StoreContents } from "../store-contents.ts";
export { fillPostgresStore } from "./fill-postgres-store.ts";
export type { PostgresStoreOptions } from "./open-postgres.ts";
export { openPostgresJournal, type PostgresJournalOptions } from "./open-postgres-journal.ts";
export { openPostgresRunStore, type PostgresRunStoreOptions } from "./open-postgres-run-store.ts";
export type { PoolOrConfig, PostgresClient, PostgresPool, PostgresResult } from "./pool.ts";
