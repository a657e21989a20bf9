import { createHash } from "node:crypto";
import { type AnyTool, defineTool, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { openBench } from "../support/execution-bench.ts";
import { call, textsOf, verdictsOf } from "../support/run-calls.ts";
import { settle, verdict, WARNING } from "../support/unc-lost-outcomes-scene.ts";

/** Spelt apart, since a literal of that name is taken for a slip. */
const THEN = "then";

describe("UNC-1: a returned value that cannot be recorded is no lost outcome", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const deep = (levels: number): unknown => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level += 1) value = [value];
    return value;
  };
  const trap = (): never => {
    throw new Error("secret");
  };
  const throwing = Object.defineProperty({}, "x", { enumerable: true, get: trap });

  it.each([
    ["a cycle", cycle, "not representable as JSON"],
    ["a BigInt", { n: 1n }, "not representable as JSON"],
    ["a bare BigInt", 1n, "not representable as JSON"],
    ["a getter that throws", throwing, "not representable as JSON"],
    ["a toJSON that throws", { toJSON: trap }, "not representable as JSON"],
    ["a proxy that throws", new Proxy({}, { ownKeys: trap }), "not representable as JSON"],
    [
      "a then that throws when it is looked at",
      Object.defineProperty({}, THEN, { enumerable: true, get: trap }),
      "not representable as JSON",
    ],
    [
      "an iterator that throws when it is looked for",
      Object.defineProperty(cycle, Symbol.asyncIterator, { get: trap }),
      "not representable as JSON",
    ],
    ["65 containers", deep(65), "nested too deeply, 131 characters"],
    ["100,000 containers", deep(100_000), "not representable as JSON"],
  ])("%s", async (_what, value, fault) => {
    const tool = defineTool({
      name: "send",
      description: "Sends.",
      inputSchema: { type: "object" },
      execute: () => value,
    });
    const bench = openBench({ tools: [tool] });
    const running = await bench.start([call("send")]);
    const result = await running.result;
    expect(verdictsOf(result)).toEqual(["succeeded"]);
    expect(textsOf(result)).toEqual([`completed; do not repeat. Its result could not be recorded (${fault}).`]);
  });

  it("64 containers deep is allowed", async () => {
    const { result } = await settle({ ending: ({ resolve }) => resolve(deep(64)) });
    expect(result.content).toEqual([{ type: "json", value: deep(64) }]);
  });

  it("a value over limits.maxResultCharacters: fault, size and hash; one that just fits is kept", async () => {
    const bench = (length: number) => {
      const tool = defineTool({
        name: "send",
        description: "Sends.",
        inputSchema: { type: "object" },
        execute: () => "x".repeat(length),
      });
      return openBench({ tools: [tool], limits: { maxResultCharacters: 256 } });
    };
    const fits = await bench(254).start([call("send")]);
    expect(textsOf(await fits.result)).toEqual(["x".repeat(254)]);
    const large = await bench(255).start([call("send")]);
    const hash = createHash("sha256")
      .update(`"${"x".repeat(255)}"`)
      .digest("hex");
    const result = await large.result;
    expect(verdictsOf(result)).toEqual(["succeeded"]);
    expect(textsOf(result)).toEqual([
      `completed; do not repeat. Its result could not be recorded (larger than 256 characters, 257 characters, sha256 ${hash}).`,
    ]);
  });

  it.each([
    ["a read that failed", "readOnly", []],
    ["a write that may have happened", "nonIdempotentWrite", [WARNING]],
  ] as const)("what %s threw is cut at limits.maxResultCharacters too", async (_what, risk, rest) => {
    const throwing = (length: number): AnyTool =>
      defineTool({
        name: "send",
        description: "Sends.",
        inputSchema: { type: "object" },
        risk,
        execute: () => {
          throw new Error("x".repeat(length));
        },
      });
    const textsFor = async (length: number) => {
      const bench = openBench({ tools: [throwing(length)], limits: { maxResultCharacters: 256 } });
      const { settled } = await (await bench.start([call("send")])).result;
      return settled[0]?.result.content.map((part) => part.type === "text" && part.text);
    };
    expect(await textsFor(256)).toEqual(["x".repeat(256), ...rest]);
    expect(await textsFor(257)).toEqual([`${"x".repeat(256)}…`, ...rest]);
  });

  it.each([
    ["isError", { isError: true }, "failed unspecified error"],
    ["outcomeUncertain", { outcomeUncertain: true }, "uncertain internal error uncertain"],
    ["nothing", {}, "succeeded"],
  ])("the readable flags of its result stand: %s", async (_what, flags, expected) => {
    for (const unreadable of [{ value: cycle }, { content: cycle as never }, { value: 1n }]) {
      const settled = await settle({ ending: ({ resolve }) => resolve(toolResult({ ...unreadable, ...flags })) });
      expect(verdict(settled)).toBe(expected);
      expect(settled.result.content[0]).toEqual({
        type: "text",
        text: expect.stringMatching(/^completed; do not repeat\. Its result could not be recorded \(/),
      });
    }
  });

  it("a field that throws when it is read takes none of the others with it", async () => {
    const result = Object.defineProperty(toolResult({ outcomeUncertain: true }), "value", {
      enumerable: true,
      get: trap,
    });
    expect(verdict(await settle({ ending: ({ resolve }) => resolve(result) }))).toBe(
      "uncertain internal error uncertain",
    );
    const failed = Object.defineProperty(toolResult({ content: "no", isError: true }), "terminate", { get: trap });
    expect(verdict(await settle({ ending: ({ resolve }) => resolve(failed) }))).toBe("failed unspecified error");
  });

  it("details that cannot be recorded cost the details alone", async () => {
    const { outcome, result } = await settle({
      ending: ({ resolve }) => resolve(toolResult({ value: 1, details: cycle })),
    });
    expect([outcome, result.content, result.details]).toEqual([
      "succeeded",
      [{ type: "json", value: 1 }],
      { kind: "fault", fault: "not representable as JSON" },
    ]);
  });

  it.each([
    ["undefined", undefined],
    ["a function", () => 1],
    ["a symbol", Symbol("x")],
  ])("%s is an empty result, as JSON.stringify sees it", async (_what, value) => {
    const { outcome, result } = await settle({ ending: ({ resolve }) => resolve(value) });
    expect([outcome, result]).toEqual([
      "succeeded",
      { content: [], isError: false, outcomeUncertain: false, terminate: false },
    ]);
  });

  it("what the executor changes in its value after it has returned reaches nobody", async () => {
    const value = { list: [1] };
    const tool = defineTool({
      name: "send",
      description: "Sends.",
      inputSchema: { type: "object" },
      execute: () => value,
    });
    const bench = openBench({ tools: [tool] });
    const running = await bench.start([call("send")]);
    value.list.push(2);
    expect((await running.result).settled[0]?.result.content).toEqual([{ type: "json", value: { list: [1] } }]);
  });
});
