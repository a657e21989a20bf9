/**
 * The steps of the journal protocol as statements.
 * Owns: nothing; the database decides. Each statement is one transaction, and none is held open.
 */
import type { ClaimRequest, FinishRequest } from "../../domain/journal.ts";
import type { Clock } from "../../domain/ports.ts";
import type { Connections } from "./connections.ts";
import type { OwnerLease } from "./owner-lease.ts";

/** A step that may share its statement with others. */
export type SharedStep =
  | { readonly kind: "claim"; readonly request: ClaimRequest }
  | { readonly kind: "end"; readonly request: FinishRequest };

/** What the database said of a shared step. */
export interface SharedAnswer {
  readonly kind: string;
  readonly fence: number;
}

/** What steps are sent with. */
export interface StepPorts {
  readonly connections: Connections;
  readonly schema: string;
  readonly clock: Clock;
  readonly lease: OwnerLease;
  readonly leaseMs: number;
}

/** Sends steps in one statement; a lease that ran out is replaced by a new one, and they are sent again. */
export function sendSteps(ports: StepPorts, steps: readonly SharedStep[]): Promise<readonly SharedAnswer[]> {
  const isAnyClaim = steps.some(({ kind }) => kind === "claim");
  return isAnyClaim ? ports.lease.under((owner) => sendOnce(ports, steps, owner)) : sendOnce(ports, steps, null);
}

async function sendOnce(
  { connections, schema, clock, lease, leaseMs }: StepPorts,
  steps: readonly SharedStep[],
  owner: string | null,
): Promise<readonly SharedAnswer[]> {
  const ends = steps.flatMap((step) => (step.kind === "end" ? [step.request] : []));
  const claims = steps.flatMap((step) => (step.kind === "claim" ? [step.request] : []));
  const sentAtMs = clock.now();
  const { rows } = await connections.repeatable({
    text: `SELECT part, place, kind, fence::text FROM ${schema}.take_steps($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    values: [owner, leaseMs, ...endColumns(ends), ...claimColumns(claims)],
  });
  const answers = { finish: new Map<number, SharedAnswer>(), claim: new Map<number, SharedAnswer>() };
  for (const { part, place, kind, fence } of rows) {
    const answer = { kind: String(kind), fence: Number(fence) };
    if (part === "lease") lease.noteRemaining(answer.fence, sentAtMs);
    else if (part === "finish" || part === "claim") answers[part].set(Number(place), answer);
  }
  const places = { finish: 0, claim: 0 };
  return steps.map(({ kind }) => {
    const part = kind === "claim" ? "claim" : "finish";
    places[part] += 1;
    return answers[part].get(places[part]) ?? { kind: "look", fence: 0 };
  });
}

function endColumns(ends: readonly FinishRequest[]): unknown[] {
  return [
    ends.map(({ operationId }) => operationId),
    ends.map(({ fence }) => fence),
    ends.map(({ receipt }) => receipt.status),
    ends.map(({ receipt }) => JSON.stringify(receipt)),
    ends.map(({ evidence }) => (evidence === undefined ? null : JSON.stringify(evidence))),
  ];
}

function claimColumns(claims: readonly ClaimRequest[]): unknown[] {
  const scopes = claims.flatMap((claim) => claim.scopes);
  let last = 0;
  const spans = claims.map((claim) => {
    const first = last + 1;
    last += claim.scopes.length;
    return [first, last] as const;
  });
  return [
    claims.map(({ operationId }) => operationId),
    claims.map(({ claimId }) => claimId),
    claims.map(({ intentHash }) => intentHash),
    claims.map(({ intentText }) => intentText),
    aloneOf(claims),
    spans.map(([first]) => first),
    spans.map(([, end]) => end),
    scopes.map(({ id }) => id),
    scopes.map(({ key }) => key),
  ];
}

/** Of each claim, whether it shares neither id nor scope with one before it. */
function aloneOf(claims: readonly ClaimRequest[]): boolean[] {
  const named = new Set<string>();
  return claims.map(({ operationId, scopes }) => {
    const names = [`operation ${operationId}`, ...scopes.map(({ id }) => id)];
    const isAlone = !names.some((name) => named.has(name));
    for (const name of names) named.add(name);
    return isAlone;
  });
}
