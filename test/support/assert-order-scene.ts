import type { RecordedEvent } from "toolkernel";

/** Fields of an event beside its kind. */
export type Fields = Readonly<Record<string, unknown>>;

/** Events of one turn from their kinds and fields, numbered in order. */
export function told(...events: readonly (readonly [kind: string, fields?: Fields])[]): RecordedEvent[] {
  return events.map(([kind, fields], seq) => ({ kind, seq, timeMs: 1, runId: "run", turn: 1, ...fields }) as never);
}

/** A call, as its events name it. */
export const call = (index: number): Fields => ({
  callId: `c${index}`,
  callIndex: index,
  toolName: "t",
  operationId: `o${index}`,
});

// Events that calls and epochs are named in, each by its place: what has happened, in a word.
export const started = (index: number) => ["toolStarted", call(index)] as const;
export const prepared = (index: number, ...conflictKeys: readonly string[]) =>
  ["toolPrepared", { ...call(index), conflictKeys }] as const;
export const refused = (index: number) => ["toolRefused", { ...call(index), failureCategory: "internal" }] as const;
export const epoch = (place: number, ...indices: readonly number[]) =>
  ["epochStarted", { epoch: place, callIds: indices.map((index) => `c${index}`) }] as const;
export const over = (place: number) => ["epochSettled", { epoch: place }] as const;
export const write = (index: number, place = 0) =>
  ["toolDispatched", { ...call(index), epoch: place, isWrite: true }] as const;
export const read = (index: number, place = 0) =>
  ["toolDispatched", { ...call(index), epoch: place, isWrite: false }] as const;
export const ended = (index: number, outcome = "succeeded", isWrite = true) =>
  ["toolEnded", { ...call(index), outcome, isWrite }] as const;
export const blocked = (index: number, by: number) => ["toolBlocked", { ...call(index), blockedBy: `c${by}` }] as const;
export const about = (kind: string, index: number) => [kind, call(index)] as const;

/** Two calls that share a key. */
export const BOTH_PREPARED = [started(0), prepared(0, "k"), started(1), prepared(1, "k")];
/** Two calls without a key. */
export const BOTH_KEYLESS = [started(0), prepared(0), started(1), prepared(1)];
