import { getEventListeners } from "node:events";
import { ToolError } from "toolkernel";
import { describe, expect, it } from "vitest";
import { type Execute, play, trap, writeOf } from "../support/can-hostile-scene.ts";
import { openBench } from "../support/execution-bench.ts";
import { call, verdictsOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

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

  it.each([
    ["write", "uncertain:timeout", undefined],
    ["read", "failed:timeout", "readOnly"],
  ] as const)(
    "CAN-3: one that always has a value at once lets its time-out fire, as a %s",
    async (_name, expected, risk) => {
      let values = 0;
      const endless: Execute = async function* () {
        for (;;) yield values++;
      };
      const { verdict } = await play(endless, { ...(risk !== undefined && { risk }) });
      const told = values;
      await new Promise(setImmediate);
      expect([verdict, values - told]).toEqual([expected, 0]);
    },
  );

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
