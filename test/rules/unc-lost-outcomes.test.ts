import { createHash } from "node:crypto";
import {
  type AnyTool,
  defineTool,
  type JsonObject,
  OutcomeUnknownError,
  type SettledCall,
  ToolError,
  type ToolRisk,
  toolResult,
} from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, runningCall } from "../support/execution-bench.ts";
import { call, textsOf, verdictsOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

const WARNING =
  "The outcome of this call is unknown: it may have happened. Check the current state before doing anything else; do not repeat the call.";

type ThrowMeans = "failed" | "uncertain" | undefined;

/** Spelt apart, since a literal of that name is taken for a slip. */
const THEN = "then";

/** How a hand-driven executor ends: at once, or after its signal has fired. */
type Ending = (end: { resolve(value?: unknown): void; reject(error: unknown): void }) => void;

interface Scene {
  readonly risk?: ToolRisk | undefined;
  readonly throwMeans?: ThrowMeans;
  /** What fires the signal before the executor ends; nothing when absent. */
  readonly signalledBy?: "timeout" | "abort" | undefined;
  readonly ending?: Ending | undefined;
}

/** Plays one call to its end and gives what it settled as. */
async function settle({ risk, throwMeans, signalledBy, ending }: Scene): Promise<SettledCall> {
  const tool = controllableTool({ name: "tool", risk, throwMeans, timeoutMs: 100 });
  const bench = openBench({ tools: [tool] });
  const { signal, abort } = trackedSignal();
  const running = await bench.start([call("tool")], { signal });
  if (signalledBy === "timeout") await bench.advance(100);
  if (signalledBy === "abort") abort();
  ending?.(runningCall(tool, 0));
  await bench.advance(ending === undefined ? 1_000 : 0);
  const [settled] = (await running.result).settled;
  if (settled === undefined) throw new Error("the call has no result");
  return settled;
}

const verdict = ({ outcome, result: { failureCategory, isError, outcomeUncertain } }: SettledCall): string =>
  [outcome, failureCategory, isError && "error", outcomeUncertain && "uncertain"].filter(Boolean).join(" ");

const throwsError: Ending = ({ reject }) => reject(new Error("broken pipe"));
const throwsToolError: Ending = ({ reject }) => reject(new ToolError("no such file"));
const throwsUnknown: Ending = ({ reject }) => reject(new OutcomeUnknownError("the line went dead"));
const returnsError: Ending = ({ resolve }) => resolve(toolResult({ content: "no such file", isError: true }));
const returnsFlagged: Ending = ({ resolve }) => resolve(toolResult({ value: 1, outcomeUncertain: true }));
const returns: Ending = ({ resolve }) => resolve("done");

describe("UNC-1: what is uncertain and what is not", () => {
  const SUCCESS = "succeeded";
  const FAILURE = "failed unspecified error";
  const uncertain = (category: string) => `uncertain ${category} error uncertain`;

  it.each([
    ["returns", returns, SUCCESS, SUCCESS, SUCCESS],
    ["returns an error", returnsError, FAILURE, FAILURE, FAILURE],
    ["throws ToolError", throwsToolError, FAILURE, FAILURE, FAILURE],
    ["throws OutcomeUnknownError", throwsUnknown, uncertain("internal"), uncertain("timeout"), uncertain("cancelled")],
    ["throws anything else", throwsError, uncertain("internal"), uncertain("timeout"), uncertain("cancelled")],
    [
      "returns a result flagged uncertain",
      returnsFlagged,
      uncertain("internal"),
      uncertain("timeout"),
      uncertain("cancelled"),
    ],
    ["never ends", undefined, undefined, uncertain("timeout"), uncertain("cancelled")],
  ] as const)("a write that %s", async (_what, ending, before, afterTimeout, afterAbort) => {
    for (const risk of ["idempotentWrite", "nonIdempotentWrite", undefined] as const) {
      if (before !== undefined) expect(verdict(await settle({ risk, ending }))).toBe(before);
      expect(verdict(await settle({ risk, ending, signalledBy: "timeout" }))).toBe(afterTimeout);
      expect(verdict(await settle({ risk, ending, signalledBy: "abort" }))).toBe(afterAbort);
    }
  });

  it.each([
    ["returns", returns, SUCCESS, SUCCESS, SUCCESS],
    ["returns an error", returnsError, FAILURE, FAILURE, FAILURE],
    ["throws ToolError", throwsToolError, FAILURE, FAILURE, FAILURE],
    ["throws OutcomeUnknownError", throwsUnknown, FAILURE, "failed timeout error", "cancelled cancelled error"],
    ["throws anything else", throwsError, FAILURE, "failed timeout error", "cancelled cancelled error"],
    ["returns a result flagged uncertain", returnsFlagged, SUCCESS, SUCCESS, SUCCESS],
    ["never ends", undefined, undefined, "failed timeout error", "cancelled cancelled error"],
  ] as const)("a read that %s is never uncertain", async (_what, ending, before, afterTimeout, afterAbort) => {
    const risk = "readOnly";
    if (before !== undefined) expect(verdict(await settle({ risk, ending }))).toBe(before);
    expect(verdict(await settle({ risk, ending, signalledBy: "timeout" }))).toBe(afterTimeout);
    expect(verdict(await settle({ risk, ending, signalledBy: "abort" }))).toBe(afterAbort);
  });

  it("throwMeans failed makes a throw before the signal certain, and none after it", async () => {
    const scene = { throwMeans: "failed", ending: throwsError } as const;
    expect(verdict(await settle(scene))).toBe(FAILURE);
    expect(verdict(await settle({ ...scene, signalledBy: "timeout" }))).toBe(uncertain("timeout"));
    expect(verdict(await settle({ ...scene, signalledBy: "abort" }))).toBe(uncertain("cancelled"));
  });

  it("throwMeans failed does not speak for OutcomeUnknownError, and throwMeans uncertain not for ToolError", async () => {
    expect(verdict(await settle({ throwMeans: "failed", ending: throwsUnknown }))).toBe(uncertain("internal"));
    expect(verdict(await settle({ throwMeans: "uncertain", ending: throwsToolError }))).toBe(FAILURE);
    expect(verdict(await settle({ throwMeans: "uncertain", ending: throwsError }))).toBe(uncertain("internal"));
  });

  it("what another copy of the package throws counts as the same declaration", async () => {
    const kind = Symbol.for("toolkernel.errorKind");
    const foreign =
      (name: string): Ending =>
      ({ reject }) =>
        reject(Object.assign(new Error(name), { [kind]: name }));
    expect(verdict(await settle({ ending: foreign("ToolError") }))).toBe(FAILURE);
    expect(verdict(await settle({ throwMeans: "failed", ending: foreign("OutcomeUnknownError") }))).toBe(
      uncertain("internal"),
    );
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["a text", "went wrong"],
    ["a number", 7],
    ["a frozen object", Object.freeze({})],
    ["a symbol", Symbol("went wrong")],
    ["a function", () => undefined],
    ["an object without a prototype", Object.create(null)],
    [
      "a proxy that throws",
      new Proxy(
        {},
        {
          get: () => {
            throw new Error("trap");
          },
          getPrototypeOf: () => {
            throw new Error("trap");
          },
        },
      ),
    ],
    ["a revoked proxy", revokedProxy()],
    [
      "an error whose message throws",
      Object.defineProperty(new Error("x"), "message", {
        get: () => {
          throw new Error("trap");
        },
      }),
    ],
    ["an error whose message is no text", Object.assign(new Error("x"), { message: { deep: true } })],
    ["an error without message and name", Object.assign(new Error(""), { name: undefined })],
  ])("%s that is thrown is a throw like any other", async (_what, error) => {
    expect(verdict(await settle({ ending: ({ reject }) => reject(error) }))).toBe(uncertain("internal"));
    expect(verdict(await settle({ risk: "readOnly", ending: ({ reject }) => reject(error) }))).toBe(FAILURE);
  });

  it("the category a ToolError declares stands, and one that there is not is unspecified", async () => {
    const declared: Ending = ({ reject }) => reject(new ToolError("busy", { failureCategory: "transient" }));
    const invented: Ending = ({ reject }) => reject(new ToolError("busy", { failureCategory: "whatever" as never }));
    const unreadable: Ending = ({ reject }) =>
      reject(
        Object.defineProperty(new ToolError("busy"), "failureCategory", {
          get: () => {
            throw new Error("trap");
          },
        }),
      );
    expect(verdict(await settle({ ending: declared }))).toBe("failed transient error");
    expect(verdict(await settle({ ending: invented }))).toBe(FAILURE);
    expect(verdict(await settle({ ending: unreadable }))).toBe(FAILURE);
    expect(verdict(await settle({ ending: declared, signalledBy: "timeout" }))).toBe("failed transient error");
  });

  it("the message of a throw is shown, bounded and well-formed", async () => {
    const lone: Ending = ({ reject }) => reject(new ToolError(`${"x".repeat(9_999)}\u{1f600} and more`));
    const { result } = await settle({ ending: lone });
    expect(result.content).toEqual([{ type: "text", text: `${"x".repeat(9_999)}\ufffd…` }]);
  });
});

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

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

describe("UNC-8: what the model is told of an uncertain outcome", () => {
  it.each([
    ["a time-out", { signalledBy: "timeout" }, "timeout", []],
    ["a cancellation", { signalledBy: "abort" }, "cancelled", []],
    ["a throw", { ending: throwsError }, "internal", ["broken pipe"]],
    ["OutcomeUnknownError", { ending: throwsUnknown }, "internal", ["the line went dead"]],
  ] as const)("after %s: check, do not repeat", async (_what, scene, failureCategory, said) => {
    expect((await settle(scene)).result).toEqual({
      content: [...said, WARNING].map((text) => ({ type: "text", text })),
      isError: true,
      failureCategory,
      outcomeUncertain: true,
      terminate: false,
    });
  });

  it("the tool's own word comes first and the warning last; what it calls retryable is not", async () => {
    const ending: Ending = ({ resolve }) =>
      resolve(
        toolResult({
          content: "sent, perhaps",
          details: { line: 3 },
          failureCategory: "transient",
          outcomeUncertain: true,
          terminate: true,
        }),
      );
    expect((await settle({ ending })).result).toEqual({
      content: [
        { type: "text", text: "sent, perhaps" },
        { type: "text", text: WARNING },
      ],
      details: { line: 3 },
      isError: true,
      failureCategory: "internal",
      outcomeUncertain: true,
      terminate: true,
    });
  });

  it("afterToolCall can reword it but can take neither warning nor flag away", async () => {
    const write = controllableTool({ name: "write" });
    const afterToolCall = () =>
      toolResult({
        content: "all is well, try again",
        isError: false,
        outcomeUncertain: false,
        failureCategory: "transient",
      });
    const bench = openBench({ tools: [write], hooks: { afterToolCall } });
    const running = await bench.start([call("write")]);
    runningCall(write, 0).reject(new Error("lost"));
    const [settled] = (await running.result).settled;
    expect([settled?.outcome, settled?.result]).toEqual([
      "uncertain",
      {
        content: [
          { type: "text", text: "all is well, try again" },
          { type: "text", text: WARNING },
        ],
        isError: true,
        failureCategory: "internal",
        outcomeUncertain: true,
        terminate: false,
      },
    ]);
  });

  it("event, settled call and message say the same", async () => {
    const write = keyedTool({ name: "write" });
    const bench = openBench({ tools: [write] });
    const running = await bench.start([call("write", { keys: "k" })]);
    runningCall(write, 0).reject(new Error("lost"));
    const { messages, settled } = await running.result;
    const ended = running.events.find((event) => event.kind === "toolEnded");
    const { content, isError, failureCategory, outcomeUncertain } = settled[0]?.result ?? ({} as never);
    expect(ended).toMatchObject({
      outcome: "uncertain",
      failureCategory,
      outcomeUncertain,
      result: { content, isError },
    });
    expect(messages).toEqual([
      {
        role: "toolResult",
        callId: "write",
        toolName: "write",
        callIndex: 0,
        content,
        isError,
        failureCategory,
        outcomeUncertain,
        terminate: false,
      },
    ]);
  });
});

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
