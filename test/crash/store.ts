import type { Journal } from "../../src/domain/journal.ts";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";

/** Which journal a process opens. */
export type StoreAddress =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: string; readonly schema: string; readonly leaseMs: number };

/** Opens it. */
export function openStore(address: StoreAddress): Promise<Journal> {
  if (address.kind === "sqlite") return openSqliteJournal(address.path);
  const { url, schema, leaseMs } = address;
  return openPostgresJournal(url, { schema, leaseMs, heartbeatMs: Math.floor(leaseMs / 4) });
}
