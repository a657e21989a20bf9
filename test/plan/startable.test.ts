import { describe, expect, it } from "vitest";
import { createLanes, joinLanes, type LaneEntry } from "../../src/plan/lanes.ts";
import { isStartable, keylessHoldEnd, type StartConditions } from "../../src/plan/startable.ts";

const entry = (isWrite: boolean, conflictKeys: readonly string[] = [], heldUntilMs?: number): LaneEntry => ({
  conflictKeys,
  isWrite,
  hasLeft: false,
  heldUntilMs,
});
const conditions = (more: Partial<StartConditions<LaneEntry>> = {}): StartConditions<LaneEntry> => ({
  lanes: createLanes(),
  keylessHolds: new Set(),
  lost: new Set(),
  ...more,
});
const at = (nowMs: number) => () => nowMs;

describe("isStartable", () => {
  it("EPOCH-4: is so for who heads all its lanes, and not for who stands behind another", () => {
    const lanes = createLanes();
    const [first, second] = [entry(true, ["k"]), entry(false, ["k"])];
    for (const each of [first, second]) joinLanes(lanes, each);
    const standing = [first, second].map((each) => isStartable(each, conditions({ lanes }), at(0)));
    expect(standing).toEqual([true, false]);
  });

  it("EPOCH-8: keeps writes back, and not reads, until the last abandoned write without a key is over", () => {
    const keylessHolds = () => new Set([entry(true, [], 5), entry(true, [], 10)]);
    const ask = (call: LaneEntry, nowMs: number) =>
      isStartable(call, conditions({ keylessHolds: keylessHolds() }), at(nowMs));
    expect([ask(entry(true), 9), ask(entry(true), 10), ask(entry(false), 0)]).toEqual([false, true, true]);
  });

  it("RUN-6: keeps back whatever is not lost while anything lost is not known", () => {
    const [lost, read] = [entry(true), entry(false)];
    const standing = [lost, read].map((each) => isStartable(each, conditions({ lost: new Set([lost]) }), at(0)));
    expect(standing).toEqual([true, false]);
  });

  it("asks for no time where nothing depends on it", () => {
    const untimed = () => {
      throw new Error("the time was asked for");
    };
    expect(isStartable(entry(false), conditions(), untimed)).toBe(true);
  });
});

describe("keylessHoldEnd", () => {
  it("EPOCH-8: is the end of the last, and forgets those that are over", () => {
    const [over, now, later, gone] = [entry(true, [], 4), entry(true, [], 5), entry(true, [], 9), entry(true)];
    const holds = new Set([later, over, now, gone]);
    expect(keylessHoldEnd(holds, 5)).toBe(9);
    expect([...holds]).toEqual([later]);
    expect(keylessHoldEnd(holds, 9)).toBeUndefined();
    expect(holds.size).toBe(0);
  });
});
