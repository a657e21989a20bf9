/** The entry `toolkernel/postgres`: journals in a PostgreSQL database. */
export { openPostgresJournal, type PostgresJournalOptions } from "./open-postgres-journal.ts";
export type { PoolOrConfig, PostgresClient, PostgresPool, PostgresResult } from "./pool.ts";
