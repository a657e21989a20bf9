import { type AnyTool, defineTool, type JsonObject, ToolError, type ToolRisk, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { openBench } from "../support/execution-bench.ts";
import { call, textsOf, verdictsOf } from "../support/run-calls.ts";

describe("UNC-1: executors that are async iterables", () => {
  type Values = AsyncIterable<unknown>;
  const stream = (
    execute: (args: JsonObject, context: { readonly signal: AbortSignal }) => Values,
    risk?: ToolRisk,
  ): AnyTool =>
    defineTool({
      name: "stream",
      description: "Streams.",
      inputSchema: { type: "object" } as JsonObject,
      risk,
      timeoutMs: 100,
      execute,
    }) as AnyTool;

  async function play(
    tool: AnyTool,
  ): Promise<{ readonly verdict: string; readonly texts: string[]; readonly log: string[] }> {
    const bench = openBench({ tools: [tool] });
    const running = await bench.start([call("stream", {}, "s")]);
    await bench.advance(2_000);
    const result = await running.result;
    return { verdict: verdictsOf(result).join(), texts: textsOf(result), log: running.log().slice(2, -1) };
  }

  it("the result is what the generator returns; every yielded value is progress", async () => {
    async function* values() {
      yield 1;
      yield "two";
      return "all";
    }
    expect(await play(stream(values))).toEqual({
      verdict: "succeeded",
      texts: ["all"],
      log: ["s says 1", 's says "two"', "s ends succeeded"],
    });
  });

  it("without a return value it is the last yielded one, and of none at all an empty one", async () => {
    async function* values() {
      yield 1;
      yield "two";
    }
    async function* nothing() {}
    expect((await play(stream(values))).texts).toEqual(["two"]);
    expect(await play(stream(nothing))).toEqual({ verdict: "succeeded", texts: [""], log: ["s ends succeeded"] });
  });

  it("a declared result may be yielded or returned", async () => {
    async function* yielding() {
      yield toolResult({ content: "no", isError: true });
    }
    async function* returning() {
      yield 1;
      return toolResult({ value: 1, outcomeUncertain: true });
    }
    expect((await play(stream(yielding))).verdict).toBe("failed:unspecified");
    expect((await play(stream(returning))).verdict).toBe("uncertain:internal");
  });

  it("a throw of a generator is a throw, its values notwithstanding", async () => {
    async function* values() {
      yield "nearly done";
      throw new Error("lost");
    }
    async function* declared() {
      yield "nearly done";
      throw new ToolError("no");
    }
    expect((await play(stream(values))).verdict).toBe("uncertain:internal");
    expect((await play(stream(values, "readOnly"))).verdict).toBe("failed:unspecified");
    expect((await play(stream(declared))).verdict).toBe("failed:unspecified");
  });

  it("a promise of an iterable is an iterable", async () => {
    async function* values() {
      yield 1;
      return "all";
    }
    const tool = stream((async () => values()) as never);
    expect((await play(tool)).texts).toEqual(["all"]);
  });

  it.each([
    [
      "whose iterator cannot be had",
      {
        [Symbol.asyncIterator]: () => {
          throw new Error("lost");
        },
      },
    ],
    [
      "whose next throws",
      {
        [Symbol.asyncIterator]: () => ({
          next: () => {
            throw new Error("lost");
          },
        }),
      },
    ],
    ["whose next rejects", { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("lost")) }) }],
    ["whose next answers nonsense", { [Symbol.asyncIterator]: () => ({ next: () => undefined }) }],
    [
      "whose done throws",
      {
        [Symbol.asyncIterator]: () => ({
          next: () => ({
            get done() {
              throw new Error("lost");
            },
          }),
        }),
      },
    ],
  ])("one %s throws", async (_what, values) => {
    expect((await play(stream(() => values as never))).verdict).toBe("uncertain:internal");
  });
});
