import type { Journal } from "../../domain/journal.ts";
import { openPostgres, type PostgresStoreOptions } from "./open-postgres.ts";
import type { PoolOrConfig } from "./pool.ts";
import { PostgresJournal } from "./postgres-journal.ts";

/** Options of {@link openPostgresJournal}. */
export type PostgresJournalOptions = PostgresStoreOptions;

/**
 * Opens a journal in a PostgreSQL database, and makes its schema if there is none (ACT-10). Many processes
 * and hosts may share it. A pool that is passed stays the host's. One of its connections is kept to listen from
 * the first wait for keys on, where there is more than one; without it those who wait look from time to time.
 * @throws KernelError `JOURNAL_UNSAFE` for a server that could lose acknowledged commits, that only reads,
 * or that was restored or failed over; `JOURNAL_VERSION` for a newer schema; `JOURNAL_UNAVAILABLE` when it
 * cannot be reached or used; `JOURNAL_CORRUPT`; `JOURNAL_FULL`; `INVALID_OPTIONS`.
 */
export async function openPostgresJournal(
  poolOrConfig: PoolOrConfig,
  options: PostgresJournalOptions = {},
): Promise<Journal> {
  return openPostgres(poolOrConfig, options, async (opened) => {
    const { rows } = await opened.connections.once({ text: "SELECT gen_random_uuid()::text AS name" });
    return new PostgresJournal({ ...opened, name: String(rows[0]?.name) });
  });
}
