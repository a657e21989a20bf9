import { batchMachine } from "toolkernel/machines";
import { describe, expect, it } from "vitest";
import { initialTransition, type SnapshotFrom, transition } from "xstate";
import { nameOf, stepOf } from "./chart-steps.ts";

const BATCH_EVENTS = [
  { type: "REFUSE" },
  { type: "PREPARED", undecided: 0 },
  { type: "DECIDED", undecided: 0 },
  { type: "CHECKED" },
  { type: "PLANNED", epochs: 1 },
  { type: "EPOCH_SETTLED" },
  { type: "CALLS_SETTLED" },
  { type: "STORE_LOST" },
  { type: "CANCEL" },
] as const;

/** A batch of three epochs that has begun to run them, after facts. */
function batchAfter(...facts: readonly (typeof BATCH_EVENTS)[number]["type"][]): SnapshotFrom<typeof batchMachine> {
  const events = [
    { type: "PREPARED", undecided: 0 },
    { type: "CHECKED" },
    { type: "PLANNED", epochs: 3 },
    ...facts.map((type) => ({ type })),
  ] as (typeof BATCH_EVENTS)[number][];
  let [snapshot] = initialTransition(batchMachine, { turn: 1, calls: 5 });
  for (const event of events) [snapshot] = transition(batchMachine, snapshot, event);
  return snapshot;
}

describe("the batch chart from its first epoch on", () => {
  const DRAINED = { CANCEL: "drainingEpoch [cancelEpoch]" };
  const NEXT = { EPOCH_SETTLED: "runningEpoch [startEpoch]", STORE_LOST: "haltingEpoch [haltEpoch]", ...DRAINED };

  it.each([
    ["runningEpoch", [], NEXT],
    ["runningEpoch", ["EPOCH_SETTLED"], NEXT],
    ["runningEpoch", ["EPOCH_SETTLED", "EPOCH_SETTLED"], { ...NEXT, EPOCH_SETTLED: "settled [settled]" }],
    ["haltingEpoch", ["STORE_LOST"], { EPOCH_SETTLED: "cancelling [cancelCalls]", ...DRAINED }],
    ["drainingEpoch", ["STORE_LOST", "CANCEL"], { EPOCH_SETTLED: "cancelling [cancelCalls]" }],
    ["drainingEpoch", ["CANCEL"], { EPOCH_SETTLED: "cancelling [cancelCalls]" }],
    ["cancelling", ["CANCEL", "EPOCH_SETTLED"], { CALLS_SETTLED: "cancelled [settled]" }],
    ["settled", ["EPOCH_SETTLED", "EPOCH_SETTLED", "EPOCH_SETTLED"], {}],
    ["cancelled", ["CANCEL", "EPOCH_SETTLED", "CALLS_SETTLED"], {}],
  ] as const)("EPOCH-2, CAN-1: in %s (after %j) takes exactly its own steps", (state, facts, steps) => {
    const from = batchAfter(...facts);
    const taken = BATCH_EVENTS.map((event) => [event.type, stepOf(batchMachine, from, event)]);
    expect([nameOf(from.value), Object.fromEntries(taken.filter(([, step]) => step !== "-"))]).toEqual([state, steps]);
  });

  it("EPOCH-2: starts its epochs in order, each named when it starts", () => {
    let snapshot = batchAfter();
    const started: unknown[] = [];
    for (const _ of [1, 2]) {
      const [next, actions] = transition(batchMachine, snapshot, { type: "EPOCH_SETTLED" });
      snapshot = next;
      started.push(...actions.map(({ params }) => (params as { readonly event?: unknown }).event));
    }
    expect(started).toEqual([
      { type: "startEpoch", epoch: 1 },
      { type: "startEpoch", epoch: 2 },
    ]);
  });
});
