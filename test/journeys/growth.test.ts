import {
  type AnyTool,
  type Clock,
  createLanes,
  createToolSession,
  defineTool,
  type GivenCall,
  type Interpreter,
  type JsonObject,
  type ToolSession,
} from "toolkernel";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, runningIn } from "../support/execution-bench.ts";
import { call, outcomesOf } from "../support/run-calls.ts";
import { trackedClock, trackedSignal } from "../support/tracked.ts";

const LIMITS = {
  maxToolCallsPerTurn: 1_000,
  maxToolCalls: 1_000_000,
  exactToolRepeatAdvisoryThreshold: 0,
  exactToolRepeatTerminationThreshold: 0,
};

/** Keys are the argument `keys`. */
const toolOf = (name: string, rest: object): AnyTool =>
  defineTool({
    name,
    description: `Does ${name}.`,
    inputSchema: { type: "object" } as JsonObject,
    conflictKey: ({ keys }: { keys?: string[] }) => keys,
    execute: async () => name,
    ...rest,
  } as never) as AnyTool;

const TOOLS = [
  toolOf("read", { risk: "readOnly" }),
  toolOf("write", { executionMode: "parallel" }),
  toolOf("barrier", {}),
  toolOf("loses", {
    executionMode: "parallel",
    execute: async () => {
      throw new Error("lost");
    },
  }),
];

type Shape = (place: number) => readonly [name: string, keys: readonly string[]];

/** Batches of every shape that could make a look at one call cost a look at all. */
const SHAPES: Readonly<Record<string, Shape>> = {
  "mixed keys and barriers": (place) => [
    place % 10 === 9 ? "barrier" : place % 3 === 0 ? "write" : "read",
    place % 4 === 0 ? [] : [`k${place % 7}`, `m${place % 5}`],
  ],
  "no key at all": () => ["read", []],
  "one key for all": () => ["read", ["k"]],
  "one key for all and others": (place) => ["write", ["k", `x${place}`, `y${place % 3}`]],
  "a key each": (place) => ["write", [`k${place}`]],
  "barriers alone": () => ["barrier", []],
  "uncertain writes of a key each": (place) => ["loses", [`k${place}`]],
  "one uncertain write and all blocked by it": () => ["loses", []],
};

const callsOf = (shape: Shape, count: number): GivenCall[] =>
  Array.from({ length: count }, (_, place) => {
    const [name, keys] = shape(place);
    return call(name, keys.length === 0 ? {} : { keys: [...keys] }, `c${place}`);
  });

/** A clock that stands still, sets no timer, and counts how often it is looked at: once for each look at a call. */
function countingClock(): { readonly clock: Clock; looks: number } {
  const counted = {
    looks: 0,
    clock: {
      now: () => {
        counted.looks += 1;
        return 0;
      },
      setTimer: () => () => undefined,
    },
  };
  return counted;
}

const sessionOn = (clock: Clock, interpreter: Interpreter): ToolSession =>
  createToolSession({ tools: TOOLS, limits: LIMITS, clock, interpreter });

describe("1,000 calls in one response", { timeout: 120_000 }, () => {
  it.each(Object.entries(SHAPES))(
    "EPOCH-5: %s: each call is looked at as often as one of 100 is",
    async (_what, shape) => {
      const looksPerCall = async (count: number): Promise<number> => {
        const counted = countingClock();
        const { settled } = await sessionOn(counted.clock, "compiled").execute(callsOf(shape, count)).result;
        expect(settled).toHaveLength(count);
        return counted.looks / count;
      };
      expect((await looksPerCall(1_000)) / (await looksPerCall(100))).toBeLessThan(1.1);
    },
  );

  it.each([
    ["compiled", 3_000],
    ["xstate", 1_000],
  ] as const)(
    "cost at most twice as much each as 100 do, by the processor's time (%s)",
    async (interpreter, callsPerWindow) => {
      const shape = SHAPES["mixed keys and barriers"] as Shape;
      const { clock } = countingClock();
      /** Microseconds per call, over as many calls whatever the size of their responses. */
      const costOf = async (count: number): Promise<number> => {
        const sessions = Array.from({ length: callsPerWindow / count }, () => sessionOn(clock, interpreter));
        const calls = callsOf(shape, count);
        const before = process.cpuUsage();
        for (const session of sessions) await session.execute(calls).result;
        const { user, system } = process.cpuUsage(before);
        return (user + system) / callsPerWindow;
      };
      const rounds: { readonly hundred: number; readonly thousand: number }[] = [];
      // The first rounds also warm up the machine; the smallest time of each is the one with least noise in it.
      for (let round = 0; round < 7; round += 1) {
        rounds.push({ hundred: await costOf(100), thousand: await costOf(1_000) });
      }
      const thousand = Math.min(...rounds.map((round) => round.thousand));
      const hundred = Math.min(...rounds.map((round) => round.hundred));
      expect(thousand / hundred).toBeLessThan(2);
    },
  );

  it.each(["compiled", "xstate"] as const)("CAN-4: leave nothing behind (%s)", async (interpreter) => {
    const simulated = trackedClock();
    const { signal } = trackedSignal();
    const lanes = createLanes();
    const options = { simulated, tools: TOOLS, limits: LIMITS, lanes, interpreter };
    const bench = openBench(options);
    for (const shape of Object.values(SHAPES)) {
      const running = await bench.start(callsOf(shape, 1_000), { signal });
      await bench.advance();
      const { settled, messages } = await running.result;
      expect([settled.length, messages.length, runningIn(running.events)]).toEqual([1_000, 1_000, []]);
      expect(bench.pendingTimers()).toBe(0);
    }
    // The lanes are as good as new: whoever comes next has every key at once.
    const next = await openBench(options).start([call("read", { keys: ["k", "k0", "m0", "x0", "y0"] }, "r")]);
    expect(outcomesOf(await next.result)).toEqual(["succeeded"]);
  });

  it("CAN-1: are all cancelled at once, wherever they wait", async () => {
    const read = keyedTool({ name: "read", risk: "readOnly" });
    const bench = openBench({ tools: [read, ...TOOLS.slice(1)], limits: LIMITS });
    const { signal, abort } = trackedSignal();
    const running = await bench.start(callsOf(SHAPES["mixed keys and barriers"] as Shape, 1_000), { signal });
    const begun = runningIn(running.events).length;
    abort();
    await bench.advance(1_000);
    const outcomes = outcomesOf(await running.result);
    expect([begun > 0, outcomes.filter((outcome) => outcome === "cancelled").length > 990]).toEqual([true, true]);
    expect(bench.pendingTimers()).toBe(0);
  });
});
