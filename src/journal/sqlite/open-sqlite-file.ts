import {
  checkOptions,
  mayBeAnything,
  mustBeBoolean,
  mustBeClock,
  type OptionCheck,
} from "../../domain/check-options.ts";
import type { Clock } from "../../domain/ports.ts";
import { systemClock } from "../../run/clock.ts";
import { type Lease, type LeaseOptions, readLease } from "../store-options.ts";
import { mustBeDriver, type SqliteDriver } from "./driver.ts";
import type { DurableFileParts } from "./durable-file.ts";
import { placeOf } from "./file-place.ts";
import { openDurably } from "./open-database.ts";
import { toJournalError } from "./sqlite-errors.ts";

/** Options of whatever is kept in a SQLite file. */
export interface SqliteStoreOptions extends LeaseOptions {
  /**
   * A SQLite binding in place of `node:sqlite` or `@photostructure/sqlite`: the class `DatabaseSync` or
   * better-sqlite3's `Database`, or a database that one of them has opened at the same path and that only
   * this store uses; that one stays open on `close`.
   */
  readonly driver?: SqliteDriver | undefined;
  /** Where the times of entries and runs come from; default the platform's clock. */
  readonly clock?: Clock | undefined;
  /** Whether to refuse a file that is not there, or is empty, where otherwise one is made of it; default false. */
  readonly mustExist?: boolean | undefined;
}

/** A lease is read with its defaults. */
const OPTION_CHECKS: Readonly<Record<keyof SqliteStoreOptions, OptionCheck>> = {
  leaseMs: mayBeAnything,
  heartbeatMs: mayBeAnything,
  driver: mustBeDriver,
  clock: mustBeClock,
  mustExist: mustBeBoolean,
};

/** Makes a store of a file that was opened. */
export type MakeStore<Store> = (parts: DurableFileParts, lease: Lease) => Store;

/**
 * Opens a SQLite file, makes it if there is none, and makes a store of it.
 * @throws KernelError `JOURNAL_*`, and `INVALID_OPTIONS` for anything but the path of a file, and for a bad lease.
 */
export async function openSqliteFile<Store>(
  file: string,
  options: SqliteStoreOptions,
  makeStore: MakeStore<Store>,
): Promise<Store> {
  checkOptions(options, OPTION_CHECKS, { path: "options" });
  const path = placeOf(file);
  const lease = readLease(options);
  const clock = options.clock ?? systemClock;
  const { driver, mustExist = false } = options;
  const opened = await openDurably({ path, driver, clock, mustExist });
  try {
    return makeStore({ path, opened, clock }, lease);
  } catch (error) {
    opened.close();
    throw toJournalError(error, path);
  }
}
