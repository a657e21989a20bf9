import {
  checkOptions,
  mayBeAnything,
  mustBeBoolean,
  mustBeClock,
  type OptionCheck,
  readGiven,
} from "../../domain/check-options.ts";
import { KernelError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/ports.ts";
import { steadyClock } from "../../run/clock.ts";
import { type Lease, type LeaseOptions, readLease } from "../store-options.ts";
import { checkIncarnation, checkServer } from "./check-server.ts";
import { Connections } from "./connections.ts";
import { MIGRATIONS, migrate, refuseAbsent } from "./migrations.ts";
import { type OwnedPool, openPool, type PoolOrConfig, type PostgresPool } from "./pool.ts";

/** Options of whatever is kept in a PostgreSQL database. */
export interface PostgresStoreOptions extends LeaseOptions {
  /** The schema that holds the store, made if it is not there; default `toolkernel`. Lower-case letters, digits and `_`. */
  readonly schema?: string | undefined;
  /**
   * Measures time-outs, and how long this process may believe in its lease; default the time that passes on
   * the platform, whatever its clock is set to. Leases count by the database's clock.
   */
  readonly clock?: Clock | undefined;
  /** Whether to refuse a schema in which there is no store, where otherwise one is made; default false. */
  readonly mustExist?: boolean | undefined;
}

/** A lease is read with its defaults, a schema by its own pattern. */
const OPTION_CHECKS: Readonly<Record<keyof PostgresStoreOptions, OptionCheck>> = {
  leaseMs: mayBeAnything,
  heartbeatMs: mayBeAnything,
  schema: mayBeAnything,
  clock: mustBeClock,
  mustExist: mustBeBoolean,
};

/** A database that was reached, checked, and brought to today's schema. */
export interface OpenPostgres {
  readonly owned: OwnedPool;
  readonly connections: Connections;
  readonly schema: string;
  readonly clock: Clock;
  readonly lease: Lease;
}

/**
 * Reaches a PostgreSQL database, makes its schema if there is none, and makes a store of it.
 * @throws KernelError `JOURNAL_*`, and `INVALID_OPTIONS`.
 */
export async function openPostgres<Store>(
  poolOrConfig: PoolOrConfig,
  options: PostgresStoreOptions,
  makeStore: (opened: OpenPostgres) => Store | Promise<Store>,
): Promise<Store> {
  checkOptions(options, OPTION_CHECKS, { path: "options" });
  const { schema = "toolkernel" } = options;
  const clock = steadyClock(options.clock);
  if (typeof schema !== "string" || !/^[a-z_][a-z0-9_]{0,40}$/.test(schema)) throw wrongSchema();
  const lease = readLease(options);
  // A pool or not: that is seen by its `connect`, which must be readable.
  readGiven("poolOrConfig", () => (poolOrConfig as Partial<PostgresPool> | null | undefined)?.connect);
  const owned = await openPool(poolOrConfig);
  try {
    const connections = new Connections(owned.pool, clock);
    await checkServer(connections);
    if (options.mustExist === true) await refuseAbsent(connections, schema);
    await migrate({ connections, schema, migrations: MIGRATIONS });
    await checkIncarnation(connections, schema);
    return await makeStore({ owned, connections, schema, clock, lease });
  } catch (error) {
    await owned.end();
    throw error;
  }
}

function wrongSchema(): KernelError {
  const message = "A schema name has at most 41 lower-case letters, digits and underscores.";
  return new KernelError("INVALID_OPTIONS", message, { subject: "schema" });
}
