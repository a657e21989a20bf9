/**
 * Appends of several runs as one statement.
 * Owns: nothing; the database decides. The statement may be taken twice: see `append_facts`.
 */
import type { AppendRequest } from "../run-store/run-backend.ts";
import type { Connections } from "./connections.ts";
import type { OwnerLease } from "./owner-lease.ts";

/** An append, and the name under which its run was last seen to be this process's. */
export interface RunAppend extends AppendRequest {
  readonly lastOwner: string;
}

/** What the database said of an append, and under which name the run is this process's now. */
export interface AppendAnswer {
  readonly kind: "saved" | "lost" | "corrupt";
  readonly facts: number;
  readonly owner: string;
}

/** What appends are sent with. */
export interface AppendPorts {
  readonly connections: Connections;
  readonly schema: string;
  readonly lease: OwnerLease;
}

/** Sends appends in one statement; a lease that ran out is replaced by a new one, and they are sent again. */
export function sendAppends(ports: AppendPorts, appends: readonly RunAppend[]): Promise<readonly AppendAnswer[]> {
  return ports.lease.under((owner) => sendOnce(ports, appends, owner));
}

async function sendOnce(
  { connections, schema, lease }: AppendPorts,
  appends: readonly RunAppend[],
  owner: string,
): Promise<readonly AppendAnswer[]> {
  const sentAtMs = lease.now();
  const { rows } = await connections.repeatable({
    text: `SELECT place, kind, run_facts::text, remaining_ms FROM ${schema}.append_facts($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    values: [owner, lease.leaseMs, ...columnsOf(appends)],
  });
  const answers = new Map(rows.map((row) => [Number(row.place), row]));
  lease.noteRemaining(Number(rows[0]?.remaining_ms), sentAtMs);
  return appends.map((_append, index) => {
    const row = answers.get(index + 1);
    const kind = row?.kind === "saved" || row?.kind === "lost" ? row.kind : "corrupt";
    return { kind, facts: Number(row?.run_facts), owner };
  });
}

function columnsOf(appends: readonly RunAppend[]): unknown[] {
  let last = 0;
  const spans = appends.map(({ texts }) => {
    const first = last + 1;
    last += texts.length;
    return { first, last };
  });
  return [
    appends.map(({ runId }) => runId),
    appends.map(({ fence }) => fence),
    appends.map(({ lastOwner }) => lastOwner),
    appends.map(({ behind }) => behind),
    appends.map(({ progress }) => progress?.status ?? null),
    appends.map(({ progress }) => progress?.turn ?? null),
    spans.map(({ first }) => first),
    spans.map((span) => span.last),
    appends.flatMap(({ texts }) => texts),
  ];
}
