import type { RunStore } from "../../domain/run-store.ts";
import { KeptRuns } from "../run-store/kept-runs.ts";
import { openPostgres, type PostgresStoreOptions } from "./open-postgres.ts";
import type { PoolOrConfig } from "./pool.ts";
import { PostgresRuns } from "./postgres-runs.ts";

/** Options of {@link openPostgresRunStore}. */
export type PostgresRunStoreOptions = PostgresStoreOptions;

/**
 * Opens a run store in a PostgreSQL database, and makes its schema if there is none (RUN-6); it may be that
 * of a journal. Many processes and hosts may share it. A run whose process has ended can be taken once its
 * lease has run out, by the database's clock. It needs three connections; a pool that is passed stays the
 * host's.
 * @throws KernelError `JOURNAL_*` as `openPostgresJournal` does; `INVALID_OPTIONS`.
 */
export async function openPostgresRunStore(
  poolOrConfig: PoolOrConfig,
  options: PostgresRunStoreOptions = {},
): Promise<RunStore> {
  return openPostgres(poolOrConfig, options, (opened) => new KeptRuns(new PostgresRuns(opened)));
}
