import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";
import type { StoreAddress } from "./store.ts";

/** Where one test keeps its journal and its world. */
export interface CrashSite {
  readonly store: StoreAddress;
  readonly worldPath: string;
  remove(): Promise<void>;
}

/** Which stores crash tests are run on. */
export const STORES = ["sqlite", "postgres"] as const;

const LEASE_MS = 400;
let schemas = 0;

/** Makes a place for one test; databases are shared within a file. */
export async function makeSite(kind: (typeof STORES)[number], leaseMs = LEASE_MS): Promise<CrashSite> {
  const directory = mkdtempSync(join(tmpdir(), "toolkernel-crash-"));
  const worldPath = join(directory, "world.jsonl");
  const remove = async (): Promise<void> => rmSync(directory, { recursive: true, force: true });
  if (kind === "sqlite") return { store: { kind, path: join(directory, "journal.db") }, worldPath, remove };
  const { url } = await sharedDatabase();
  schemas += 1;
  return { store: { kind, url, schema: `crash_${process.pid}_${schemas}`, leaseMs }, worldPath, remove };
}

let database: Promise<TestDatabase> | undefined;

function sharedDatabase(): Promise<TestDatabase> {
  database ??= makeDatabase();
  return database;
}

/** Drops what {@link makeSite} made in the server. */
export async function dropDatabase(): Promise<void> {
  await (await database)?.drop();
  database = undefined;
}
