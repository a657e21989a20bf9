import { KernelError } from "../../domain/errors.ts";
import type { Journal } from "../../domain/journal.ts";
import type { Clock } from "../../domain/ports.ts";
import { systemClock } from "../../run/clock.ts";
import { type LeaseOptions, readLease } from "../store-options.ts";
import { checkIncarnation, checkServer } from "./check-server.ts";
import { Connections } from "./connections.ts";
import { MIGRATIONS, migrate } from "./migrations.ts";
import { openPool, type PoolOrConfig } from "./pool.ts";
import { PostgresJournal } from "./postgres-journal.ts";

/** Options of {@link openPostgresJournal}. */
export interface PostgresJournalOptions extends LeaseOptions {
  /** The schema that holds the journal, made if it is not there; default `toolkernel`. Lower-case letters, digits and `_`. */
  readonly schema?: string | undefined;
  /** Default the platform's clock. Leases count by the database's, whatever this one says. */
  readonly clock?: Clock | undefined;
}

/**
 * Opens a journal in a PostgreSQL database, and makes its schema if there is none (ACT-10). Many processes
 * and hosts may share it. It needs three connections; a pool that is passed stays the host's.
 * @throws KernelError `JOURNAL_UNSAFE` for a server that could lose acknowledged commits, that only reads,
 * or that was restored or failed over; `JOURNAL_VERSION` for a newer schema; `JOURNAL_UNAVAILABLE` when it
 * cannot be reached or used; `JOURNAL_CORRUPT`; `JOURNAL_FULL`; `INVALID_OPTIONS`.
 */
export async function openPostgresJournal(
  poolOrConfig: PoolOrConfig,
  options: PostgresJournalOptions = {},
): Promise<Journal> {
  const { schema = "toolkernel", clock = systemClock } = options;
  if (!/^[a-z_][a-z0-9_]{0,40}$/.test(schema)) {
    throw new KernelError(
      "INVALID_OPTIONS",
      "A schema is named by at most 41 lower-case letters, digits and underscores.",
      {
        subject: "schema",
      },
    );
  }
  const lease = readLease(options);
  const owned = await openPool(poolOrConfig);
  try {
    const connections = new Connections(owned.pool, clock);
    await checkServer(connections);
    await migrate({ connections, schema, migrations: MIGRATIONS });
    await checkIncarnation(connections, schema);
    const { rows } = await connections.once({ text: "SELECT gen_random_uuid()::text AS name" });
    return new PostgresJournal({ owned, connections, schema, clock, lease, name: String(rows[0]?.name) });
  } catch (error) {
    await owned.end();
    throw error;
  }
}
