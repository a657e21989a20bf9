import { epochMachine } from "toolkernel/machines";
import { describe, expect, it } from "vitest";
import { initialTransition, type SnapshotFrom, transition } from "xstate";
import { nameOf, type Steps, stepOf } from "./chart-steps.ts";

const EPOCH_EVENTS = ["START", "CALL_SETTLED", "LANE_FREED", "HALT", "CANCEL"] as const;
const STOPPABLE = { HALT: "halting [haltCalls]", CANCEL: "draining [cancelCalls]" };
type EpochFact = (typeof EPOCH_EVENTS)[number];

function epochAfter(calls: number, ...facts: readonly EpochFact[]): SnapshotFrom<typeof epochMachine> {
  let [snapshot] = initialTransition(epochMachine, { epoch: 0, calls });
  for (const type of facts) [snapshot] = transition(epochMachine, snapshot, { type });
  return snapshot;
}

describe("the epoch chart", () => {
  it.each<[string, number, readonly EpochFact[], Steps]>([
    ["waiting", 2, [], { START: "running [admitCalls]" }],
    [
      "running",
      2,
      ["START"],
      { CALL_SETTLED: "running [admitCalls]", LANE_FREED: "running [admitCalls]", ...STOPPABLE },
    ],
    [
      "running",
      2,
      ["START", "CALL_SETTLED"],
      { CALL_SETTLED: "settled [settled]", LANE_FREED: "running [admitCalls]", ...STOPPABLE },
    ],
    [
      "running",
      1,
      ["START", "LANE_FREED"],
      { CALL_SETTLED: "settled [settled]", LANE_FREED: "running [admitCalls]", ...STOPPABLE },
    ],
    // Nothing is admitted any more, only counted.
    ["halting", 2, ["START", "HALT"], { CALL_SETTLED: "halting", CANCEL: "draining [cancelCalls]" }],
    ["halting", 1, ["START", "HALT"], { CALL_SETTLED: "settled [settled]", CANCEL: "draining [cancelCalls]" }],
    ["draining", 2, ["START", "CANCEL"], { CALL_SETTLED: "draining" }],
    ["draining", 2, ["START", "CALL_SETTLED", "CANCEL"], { CALL_SETTLED: "settled [settled]" }],
    ["settled", 1, ["START", "CALL_SETTLED"], {}],
    ["settled", 1, ["START", "CANCEL", "CALL_SETTLED"], {}],
  ])(
    "EPOCH-2, EPOCH-5, CAN-1: in %s (%i calls, after %j) takes exactly its own steps",
    (state, calls, facts, steps) => {
      const from = epochAfter(calls, ...facts);
      const taken = EPOCH_EVENTS.map((type) => [type, stepOf(epochMachine, from, { type })]);
      expect([nameOf(from.value), Object.fromEntries(taken.filter(([, step]) => step !== "-"))]).toEqual([
        state,
        steps,
      ]);
    },
  );

  it.each([1, 2, 7])("EPOCH-2: settles with the last of its %i calls, cancelled or not", (calls) => {
    for (const cancelAfter of [-1, 0, calls - 1]) {
      let snapshot = epochAfter(calls, "START");
      for (let settled = 0; settled < calls; settled += 1) {
        if (settled === cancelAfter) [snapshot] = transition(epochMachine, snapshot, { type: "CANCEL" });
        expect(snapshot.context.open).toBe(calls - settled);
        [snapshot] = transition(epochMachine, snapshot, { type: "CALL_SETTLED" });
      }
      expect([snapshot.value, snapshot.status]).toEqual(["settled", "done"]);
    }
  });
});
