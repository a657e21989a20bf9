import { getBuiltinModule } from "node:process";
import { mustHaveMethods, type OptionCheck, readGiven } from "../../domain/check-options.ts";
import { KernelError } from "../../domain/errors.ts";

/** What the journal needs of a SQLite binding: the common part of `node:sqlite` and `better-sqlite3`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

/** A prepared statement. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
}

/** What is bound to statements. */
export type SqliteValue = string | number | null;

/** A class of databases, such as `DatabaseSync` or better-sqlite3's `Database`. */
export type SqliteClass = new (path: string) => SqliteDatabase;

/** A binding that a host passes in: the class, or a database it has opened. */
export type SqliteDriver = SqliteClass | SqliteDatabase;

/** A chosen binding: its class, and the host's own database if it opened one. */
export interface ChosenDriver {
  readonly databaseClass: SqliteClass;
  readonly opened: SqliteDatabase | undefined;
}

/** Older ones lose committed transactions when two connections write and checkpoint at one moment. */
const OLDEST_VERSION = [3, 51, 3] as const;

/**
 * Chooses the SQLite binding: the one passed in, else `node:sqlite`, else `@photostructure/sqlite`.
 * @throws KernelError `JOURNAL_UNSAFE` when the one passed in, or every one there is, is older than 3.51.3.
 */
export async function chooseDriver(given: SqliteDriver | undefined): Promise<ChosenDriver> {
  if (given !== undefined) return checkGiven(given);
  const found = [loadBuiltin(), await loadPackage()].filter((each) => each !== undefined);
  const databaseClass = found.find(isNewEnough);
  if (databaseClass !== undefined) return { databaseClass, opened: undefined };
  const versions = found.map(versionOf).join(" and ");
  throw new KernelError(
    "JOURNAL_UNSAFE",
    `No SQLite of version ${OLDEST_VERSION.join(".")} or newer was found${versions === "" ? "" : ` (found ${versions})`}. Install @photostructure/sqlite@1.2.1, or pass a driver.`,
    { subject: "driver" },
  );
}

/** Whether a host passed in what can be a binding: a class, or a database. */
export const mustBeDriver: OptionCheck = (value) => {
  const isOne =
    typeof value === "function"
      ? typeof value.prototype === "object" // an arrow function has none, and is no class
      : mustHaveMethods("exec", "prepare", "close")(value) === undefined;
  return isOne ? undefined : "must be a class of databases, or a database that is open";
};

function checkGiven(given: SqliteDriver): ChosenDriver {
  const opened = typeof given === "function" ? undefined : given;
  // Owners' lock files are opened through the very same binding.
  const databaseClass = typeof given === "function" ? given : (given.constructor as SqliteClass);
  if (readGiven("driver", () => isNewEnough(databaseClass))) return { databaseClass, opened };
  throw new KernelError(
    "JOURNAL_UNSAFE",
    `The driver passed has SQLite ${versionOf(databaseClass)}; versions before ${OLDEST_VERSION.join(".")} can lose committed transactions.`,
    { subject: "driver" },
  );
}

function loadBuiltin(): SqliteClass | undefined {
  try {
    return classIn(getBuiltinModule("node:sqlite"));
  } catch {
    return undefined; // this Node has none
  }
}

async function loadPackage(): Promise<SqliteClass | undefined> {
  try {
    return classIn(await import("@photostructure/sqlite"));
  } catch {
    return undefined; // an optional peer
  }
}

function classIn(module: unknown): SqliteClass | undefined {
  return (module as { readonly DatabaseSync?: SqliteClass } | undefined)?.DatabaseSync; // the name both modules give it
}

function isNewEnough(databaseClass: SqliteClass): boolean {
  const parts = versionOf(databaseClass).split(".").map(Number);
  for (const [index, wanted] of OLDEST_VERSION.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}

function versionOf(databaseClass: SqliteClass): string {
  const database = new databaseClass(":memory:");
  try {
    const row = database.prepare("SELECT sqlite_version() AS version").get() as { readonly version: string }; // a text column
    return row.version;
  } finally {
    database.close();
  }
}
