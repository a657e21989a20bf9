import { getEventListeners } from "node:events";
import {
  type AnyTool,
  type Clock,
  createLanes,
  createToolSession,
  defineTool,
  type JsonObject,
  type ToolContext,
  ToolError,
  toolResult,
} from "toolkernel";
import { type SimulatedClock, simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { follow, keyedTool, openBench, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, eventsOf, outcomesOf, textsOf, verdictsOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

type Execute = (args: JsonObject, context: ToolContext) => unknown;

/** A write that times out after 100 ms. */
function writeOf(execute: Execute, options: Partial<AnyTool> = {}): AnyTool {
  return defineTool({
    name: "tool",
    description: "Does what the test says.",
    inputSchema: { type: "object" } as JsonObject,
    timeoutMs: 100,
    ...(options as object),
    execute,
  }) as AnyTool;
}

const trap = (): never => {
  throw new Error("trap");
};

/** Spelt apart, since a literal of that name is taken for a slip. */
const THEN = "then";

/** Plays one call, time-out and grace included, and what it is told. */
async function play(execute: Execute, options: Partial<AnyTool> = {}) {
  const bench = openBench({ tools: [writeOf(execute, options)] });
  const running = await bench.start([call("tool", {}, "t")]);
  await bench.advance(5_000);
  const result = await running.result;
  return { verdict: verdictsOf(result).join(), texts: textsOf(result), log: running.log(), bench };
}

describe("CAN-4: whatever an executor answers, there is one result", () => {
  it.each([
    ["throws at once", trap, "uncertain:internal"],
    [
      "throws a ToolError at once",
      () => {
        throw new ToolError("no");
      },
      "failed:unspecified",
    ],
    ["is an async function that throws at once", async () => trap(), "uncertain:internal"],
    ["answers a promise that rejects", () => Promise.reject(new Error("x")), "uncertain:internal"],
    ["answers a promise that never ends", () => new Promise(() => undefined), "uncertain:timeout"],
    ["answers a thenable", () => ({ [THEN]: (done: (value: unknown) => void) => done("ok") }), "succeeded"],
    [
      "answers a thenable that rejects",
      () => ({ [THEN]: (_: unknown, fail: (error: unknown) => void) => fail(new ToolError("no")) }),
      "failed:unspecified",
    ],
    ["answers a thenable that throws", () => ({ [THEN]: trap }), "uncertain:internal"],
    ["answers a thenable that never calls back", () => ({ [THEN]: () => undefined }), "uncertain:timeout"],
    ["answers a thenable whose then can be read only once", () => readableOnce(), "uncertain:internal"],
    [
      "answers a thenable of a thenable",
      () => ({ [THEN]: (done: (value: unknown) => void) => done(Promise.resolve("ok")) }),
      "succeeded",
    ],
    [
      "answers a function that is thenable",
      () => Object.assign(() => undefined, { [THEN]: (done: (value: unknown) => void) => done("ok") }),
      "succeeded",
    ],
    [
      "answers a promise whose constructor throws",
      () => Object.defineProperty(Promise.resolve("ok"), "constructor", { get: trap }),
      "uncertain:internal",
    ],
  ])("one that %s", async (_what, execute, expected) => {
    const { verdict, log } = await play(execute);
    expect(verdict).toBe(expected);
    expect(log.filter((line) => line.startsWith("t ends"))).toHaveLength(1);
    expect(log.filter((line) => line.includes("late"))).toEqual([]);
  });

  it("of a thenable that calls back twice, the first word counts", async () => {
    const twice = (first: number) => () => ({
      [THEN]: (done: (value: unknown) => void, fail: (error: unknown) => void) => {
        const words = [() => done(toolResult({ value: "first" })), () => fail(new Error("x"))];
        words[first]?.();
        words[1 - first]?.();
        throw new Error("and last");
      },
    });
    expect((await play(twice(0))).verdict).toBe("succeeded");
    expect((await play(twice(1))).verdict).toBe("uncertain:internal");
  });

  it("one that mutates its arguments gets a TypeError and hurts nobody else", async () => {
    const { verdict, texts } = await play((args) => {
      (args as { extra?: number }).extra = 1;
    });
    expect(verdict).toBe("uncertain:internal");
    expect(texts[0]).toContain("not extensible");
  });
});

/** An object whose `then` is a function the first time it is looked at, and throws after that. */
function readableOnce(): object {
  let looks = 0;
  return Object.defineProperty({}, THEN, {
    get: () => {
      looks += 1;
      return looks === 1 ? () => undefined : trap();
    },
  });
}

describe("CAN-2: async iterables and the signal", () => {
  it("one is told by return(), its finally is awaited, and values after the signal are dropped", async () => {
    const steps: string[] = [];
    const { verdict, log } = await play(async function* (_args, { signal }) {
      try {
        yield 1;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        steps.push("signalled");
        yield 2;
        steps.push("never here");
      } finally {
        steps.push("cleaned up");
      }
    });
    expect(steps).toEqual(["signalled", "cleaned up"]);
    expect([verdict, log]).toEqual([
      "uncertain:timeout",
      ["epoch 0: t", "t starts", "t says 1", "t ends uncertain", "epoch 0 over"],
    ]);
  });

  it("one that ends by itself within the grace has its real result", async () => {
    const { verdict, texts } = await play(async function* (_args, { signal }) {
      yield 1;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return "all of it";
    });
    expect([verdict, texts]).toEqual(["succeeded", ["all of it"]]);
  });

  it("one that ends by itself within the grace without a return value has its last value before the signal", async () => {
    const { verdict, texts } = await play(async function* (_args, { signal }) {
      yield "half";
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    expect([verdict, texts]).toEqual(["succeeded", ["half"]]);
  });

  it("a read that is told to return is failed by a time-out, cancelled by a cancellation, at once", async () => {
    const values: Execute = async function* (_args, { signal }) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield 1;
    };
    expect((await play(values, { risk: "readOnly" })).verdict).toBe("failed:timeout");
    const bench = openBench({ tools: [writeOf(values, { risk: "readOnly" })] });
    const { signal, abort } = trackedSignal();
    const running = await bench.start([call("tool")], { signal });
    abort();
    // Without any time passing.
    expect(verdictsOf(await running.result)).toEqual(["cancelled:cancelled"]);
  });

  it("a ToolError in its finally is a declared failure, any other throw there is a lost outcome", async () => {
    const throwing = (error: Error): Execute =>
      async function* (_args, { signal }) {
        try {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          yield 1;
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: what a tool of a host may well do
          throw error;
        }
      };
    expect((await play(throwing(new ToolError("rolled back")))).verdict).toBe("failed:unspecified");
    expect((await play(throwing(new Error("x")))).verdict).toBe("uncertain:timeout");
  });

  it("one whose finally hangs is abandoned after the grace", async () => {
    const { verdict } = await play(async function* (_args, { signal }) {
      try {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        yield 1;
      } finally {
        await new Promise(() => undefined);
      }
    });
    expect(verdict).toBe("uncertain:timeout");
  });

  type Iterating = (signal: AbortSignal) => Partial<AsyncIterator<unknown>> & object;
  const iterable =
    (iterate: Iterating): Execute =>
    (_args, { signal }) => ({ [Symbol.asyncIterator]: () => iterate(signal) });
  const untilAbort = (signal: AbortSignal, value: unknown) =>
    new Promise<never>((resolve) => signal.addEventListener("abort", () => resolve(value as never)));
  const never = () => new Promise<never>(() => undefined);

  it.each<[string, Iterating, string]>([
    [
      "without return()",
      (signal) => ({ next: () => untilAbort(signal, { done: false, value: 1 }) }),
      "uncertain:timeout",
    ],
    ["that ignores return()", () => ({ next: never, return: never }), "uncertain:timeout"],
    [
      "whose return() throws at once",
      (signal) => ({ next: () => untilAbort(signal, { done: false, value: 1 }), return: trap }),
      "uncertain:timeout",
    ],
    [
      "whose return() throws a ToolError",
      (signal) => ({
        next: () => untilAbort(signal, { done: false, value: 1 }),
        return: () => {
          throw new ToolError("undone");
        },
      }),
      "failed:unspecified",
    ],
    [
      "whose return cannot be read",
      (signal) =>
        Object.defineProperty({ next: () => untilAbort(signal, { done: false, value: 1 }) }, "return", { get: trap }),
      "uncertain:timeout",
    ],
    [
      "whose return() rejects",
      () => ({ next: never, return: () => Promise.reject(new Error("x")) }),
      "uncertain:timeout",
    ],
    ["whose return() ends the next that waits", () => endsByReturn(), "uncertain:timeout"],
    [
      "that ends with a value of its own",
      (signal) => ({ next: () => untilAbort(signal, { done: true, value: "all" }), return: never }),
      "succeeded",
    ],
  ])("an iterator %s", async (_what, iterate, expected) => {
    expect((await play(iterable(iterate))).verdict).toBe(expected);
  });

  it("one that is only just begun when the signal has fired is told to return as well", async () => {
    let wasToldToReturn = false;
    const { verdict } = await play(async (_args, { signal }) => {
      await untilAbort(signal, undefined);
      return {
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ done: false, value: "late" }),
          return: async () => {
            wasToldToReturn = true;
            return { done: true, value: undefined };
          },
        }),
      };
    });
    expect([wasToldToReturn, verdict]).toEqual([true, "uncertain:timeout"]);
  });

  it("nobody listens to the executor's signal for it after it has ended", async () => {
    let own: AbortSignal | undefined;
    const { verdict } = await play(async function* (_args, { signal }) {
      own = signal;
      expect(getEventListeners(signal, "abort")).toHaveLength(1);
      yield 1;
    });
    expect([verdict, own && getEventListeners(own, "abort")]).toEqual(["succeeded", []]);
  });
});

/** An iterator as event emitters make them: `return()` ends the `next` that waits. */
function endsByReturn(): AsyncIterator<unknown> {
  let end: (result: IteratorResult<unknown>) => void = () => undefined;
  const waiting = new Promise<IteratorResult<unknown>>((resolve) => {
    end = resolve;
  });
  return {
    next: () => waiting,
    return: async () => {
      end({ done: true, value: undefined });
      return { done: true, value: undefined };
    },
  };
}

describe("CAN-4: abandoned executors of every manner", () => {
  it("may do whatever they like afterwards: the session works on, nothing is unhandled", async () => {
    const ends: (() => void)[] = [];
    const tools = [
      writeOf(() => new Promise((resolve) => ends.push(() => resolve(new Proxy({}, { get: trap })))), {
        name: "proxy",
      }),
      writeOf(() => new Promise((_resolve, reject) => ends.push(() => reject(trap))), { name: "rejects" }),
      writeOf(
        async function* () {
          await new Promise<void>((resolve) => ends.push(resolve));
          yield 1;
          trap();
        },
        { name: "stream" },
      ),
      writeOf(
        () => ({ [THEN]: (_: unknown, fail: (error: unknown) => void) => ends.push(() => fail(new Error("x"))) }),
        {
          name: "thenable",
        },
      ),
      writeOf(
        (_args, { progress }) =>
          new Promise((resolve) => ends.push(() => void [progress(1n), resolve(1n), progress(2)])),
        { name: "progress" },
      ),
    ];
    const bench = openBench({ tools, toolExecution: "parallel" });
    const lost = await bench.start(tools.map(({ name }) => call(name)));
    await bench.advance(1_100);
    expect(new Set(outcomesOf(await lost.result))).toEqual(new Set(["uncertain"]));
    const next = await bench.start([call("progress", {}, "next")]);
    expect(runningIn(next.events)).toEqual([]);
    for (const end of ends.splice(0)) end();
    await bench.advance();
    expect(new Set(eventsOf(next.events, "toolLateSettled").map(({ callId }) => callId))).toEqual(
      new Set(tools.map(({ name }) => name)),
    );
    expect(runningIn(next.events)).toEqual(["next"]);
    for (const end of ends) end();
    expect(outcomesOf(await next.result)).toEqual(["succeeded"]);
  });
});

describe("CAN-4: hosts whose own ports misbehave", () => {
  it("a telemetry sink that throws changes nothing", async () => {
    const read = keyedTool({ name: "read", risk: "readOnly" });
    const bench = openBench({ tools: [read], telemetry: { record: trap } });
    const running = await bench.start([call("read")]);
    runningCall(read, 0).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded"]);
  });

  it.each(["compiled", "xstate"] as const)("an inspector that throws changes nothing (%s)", async (interpreter) => {
    const read = keyedTool({ name: "read", risk: "readOnly" });
    const bench = openBench({ tools: [read], inspect: trap, interpreter });
    const running = await bench.start([call("read"), call("read", {}, "b")]);
    for (const place of [0, 1]) runningCall(read, place).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "succeeded"]);
  });

  /** A clock whose timers fail once, when `isBroken` says so. A session on it keeps that one in its books. */
  function brokenOnce({ clock }: SimulatedClock) {
    const broken = { isBroken: false };
    const setTimer: Clock["setTimer"] = (atMs, run) => {
      if (!broken.isBroken) return clock.setTimer(atMs, run);
      broken.isBroken = false;
      return trap();
    };
    return { broken, clock: { now: clock.now, setTimer } };
  }

  it.each(["compiled", "xstate"] as const)(
    "a clock that throws ends the session with KERNEL_STUCK, and nothing else of the process (%s)",
    async (interpreter) => {
      const simulated = simulatedClock();
      const { broken, clock } = brokenOnce(simulated);
      const read = keyedTool({ name: "read", risk: "readOnly" });
      const session = createToolSession({ tools: [read], clock, interpreter });
      broken.isBroken = true;
      const running = follow(session.execute([call("read"), call("read", {}, "b")]));
      const queued = session.execute([call("read")]);
      for (const { result } of [running, queued]) {
        await expect(result).rejects.toMatchObject({ code: "KERNEL_STUCK", cause: { message: "trap" } });
      }
      expect(() => session.execute([])).toThrowError(expect.objectContaining({ code: "KERNEL_STUCK" }));
      await session.close();
      await simulated.advance(1_000);
      expect(read.pending).toEqual([]);
    },
  );

  it("a session that is stuck starts nothing more and gives back the lanes it shares", async () => {
    const simulated = simulatedClock();
    const lanes = createLanes();
    const { broken, clock } = brokenOnce(simulated);
    const [one, two] = [0, 1].map(() => keyedTool({ name: "read", risk: "readOnly" }));
    if (one === undefined || two === undefined) throw new Error("two tools were made");
    const stuck = createToolSession({ tools: [one], clock, lanes });
    const keys = ["k", ["k", "m"], ["k", "n"]];
    const first = follow(stuck.execute(keys.map((key, place) => call("read", { keys: key }, `a${place}`))));
    await simulated.advance(0);
    const other = openBench({ simulated, tools: [two], lanes });
    const second = await other.start([call("read", { keys: "m" }, "c"), call("read", { keys: "n" }, "d")]);
    expect(runningIn(second.events)).toEqual([]);
    broken.isBroken = true;
    runningCall(one, 0).resolve();
    await expect(first.result).rejects.toMatchObject({ code: "KERNEL_STUCK" });
    expect(first.log().filter((line) => line.endsWith("starts"))).toEqual(["a0 starts", "a1 starts"]);
    await simulated.advance(1_000);
    expect(runningIn(second.events)).toEqual(["d", "c"]);
    for (const place of [0, 1]) runningCall(two, place).resolve();
    expect(outcomesOf(await second.result)).toEqual(["succeeded", "succeeded"]);
  });
});
