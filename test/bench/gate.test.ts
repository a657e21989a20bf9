import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, it } from "vitest";
import type { Contender, Host } from "../../bench/contender.ts";
import { bare } from "../../bench/contenders/bare.ts";
import { kernel } from "../../bench/contenders/kernel.ts";
import { type GateBounds, type GateFigures, judgeFigures } from "../../bench/gate/judge.ts";
import { measureGrowth, measureMixed, measureTurns } from "../../bench/gate/measure-gate.ts";

const BOUNDS: GateBounds = {
  growth: 1.5,
  lastToFirst: 1.1,
  makespanToIdeal: 1.05,
  bytesPerCall: 10_000,
  bytesTolerance: 1.05,
};
const GOOD: GateFigures = { growth: 1.5, lastToFirst: 1.1, makespanToIdeal: 1.05, unsafe: 0, bytesPerCall: 10_500 };

const SCANS = 10;

/** The kernel, with hosts that are altered. */
function altered(alter: (host: Host) => Partial<Host>): Contender {
  const equip: Contender["equip"] = (setup) => {
    const open = kernel.equip(setup);
    return () => {
      const host = open();
      return { ...host, ...alter(host) };
    };
  };
  return { ...kernel, equip };
}

/** A contender whose every call looks at all calls of its response, some times over, as a scan that was overlooked would. */
const quadratic = altered((host) => ({
  respond: async (calls, signal) => {
    let seen = 0;
    for (let scan = 0; scan < SCANS; scan++) {
      for (const call of calls) for (const other of calls) if (other.id !== call.id) seen += 1;
    }
    expect(seen).toBe(SCANS * calls.length * (calls.length - 1));
    return host.respond(calls, signal);
  },
}));

const LOOKS = 2_000;

/** A contender whose every turn goes through all turns before it, as one that copies its transcript would. */
const looksBack = altered((host) => ({
  converse: (callsOf) => {
    let seen = 0;
    const lookBack = (turn: number) => {
      for (let look = 0; look < LOOKS * turn; look++) seen += look % turn;
      return seen;
    };
    return host.converse?.((turn) => (Number.isNaN(lookBack(turn)) ? [] : callsOf(turn))) ?? Promise.resolve();
  },
}));

beforeAll(() => {
  setFlagsFromString("--expose-gc");
  Object.assign(globalThis, { gc: runInNewContext("gc") });
});

describe("the gate", () => {
  it("is open for what is just within its bounds", () => {
    expect(judgeFigures(GOOD, BOUNDS)).toEqual([]);
  });

  it.each([
    ["growth", { growth: 1.51 }],
    ["turns", { lastToFirst: 1.11 }],
    ["makespan", { makespanToIdeal: 1.06 }],
    ["unsafe", { unsafe: 1 }],
    ["allocation", { bytesPerCall: 10_501 }],
    ["what was not measured", { growth: Number.NaN }],
  ])("is shut by %s alone", (_what, worse) => {
    expect(judgeFigures({ ...GOOD, ...worse }, BOUNDS)).toHaveLength(1);
  });

  it("sees a slowdown that was planted: a scan of the whole response for every call", async () => {
    const growth = await measureGrowth(quadratic, { calls: 4_000, rounds: 1 });
    expect(judgeFigures({ ...GOOD, growth }, BOUNDS)).toHaveLength(1);
  }, 60_000);

  it("sees a slowdown that was planted: a look at all former turns in each", async () => {
    const lastToFirst = await measureTurns(looksBack, { turns: 200, warmUps: 1, rounds: 3 });
    expect(judgeFigures({ ...GOOD, lastToFirst }, BOUNDS)).toHaveLength(1);
  }, 60_000);

  it("sees a contender that keeps no rules", async () => {
    const { unsafe } = await measureMixed(bare, 1);
    expect(judgeFigures({ ...GOOD, unsafe }, BOUNDS)).toHaveLength(1);
  });
});
