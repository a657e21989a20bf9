import type { Journal } from "../../src/domain/journal.ts";
import type { RunStore } from "../../src/domain/run-store.ts";
import { openPostgresJournal, openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { openSqliteJournal, openSqliteRunStore } from "../../src/journal/sqlite/index.ts";

/** Which journal, or run store, a process opens. */
export type StoreAddress =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: string; readonly schema: string; readonly leaseMs: number };

/** Opens it. */
export function openStore(address: StoreAddress): Promise<Journal> {
  if (address.kind === "sqlite") return openSqliteJournal(address.path);
  const { url, schema, leaseMs } = address;
  return openPostgresJournal(url, { schema, leaseMs, heartbeatMs: Math.floor(leaseMs / 4) });
}

/** Opens the run store there. */
export function openRuns(address: StoreAddress): Promise<RunStore> {
  if (address.kind === "sqlite") return openSqliteRunStore(address.path);
  const { url, schema, leaseMs } = address;
  return openPostgresRunStore(url, { schema, leaseMs, heartbeatMs: Math.floor(leaseMs / 4) });
}
