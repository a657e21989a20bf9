import { type AfterToolCall, OutcomeUnknownError, type SessionHooks, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { HOSTILE_VALUES, NONSENSE_VALUES } from "../support/hostile-values.ts";
import { startHeld } from "../support/prep-hooks-scene.ts";
import { call, play, recordingTool, textsOf, verdictsOf } from "../support/run-calls.ts";

describe("afterToolCall", () => {
  const WITHHELD = "completed; result withheld; do not repeat";

  const answered = toolResult({ content: "secret", details: { d: 1 }, terminate: true });

  async function playAfter(hook: unknown, value: unknown = answered) {
    const tool = recordingTool({ name: "write", risk: "nonIdempotentWrite" }).tool;
    const writes = { ...tool, execute: () => value };
    const { result } = await play({ tools: [writes], hooks: { afterToolCall: hook } as SessionHooks }, [call("write")]);
    return result;
  }

  const UNCERTAIN =
    "The outcome of this call is unknown: it may have happened. Check the current state before doing anything else; do not repeat the call.";

  it.each<[string, AfterToolCall]>([
    [
      "throws",
      () => {
        throw new Error("hunter2-payload");
      },
    ],
    ["rejects", () => Promise.reject(new Error("hunter2-payload"))],
  ])("PREP-13: one that %s withholds the content and nothing else", async (_what, hook) => {
    const result = await playAfter(hook);
    expect(result.messages).toEqual([
      {
        role: "toolResult",
        callId: "write",
        toolName: "write",
        callIndex: 0,
        content: [{ type: "text", text: WITHHELD }],
        details: { d: 1 },
        isError: true,
        failureCategory: "internal",
        outcomeUncertain: false,
        terminate: true,
      },
    ]);
    expect(verdictsOf(result)).toEqual(["succeeded:internal"]);
  });

  it.each([
    ...NONSENSE_VALUES.filter(([what]) => what !== "an empty object" && !what.startsWith("terminate")),
    ["a promise of nonsense", Promise.resolve(7)],
  ] as const)("PREP-13: one that answers %s withholds the content", async (_what, answer) => {
    const result = await playAfter(() => answer);
    expect(textsOf(result)).toEqual([WITHHELD]);
    expect(verdictsOf(result)).toEqual(["succeeded:internal"]);
  });

  it.each(HOSTILE_VALUES)(
    "PREP-13: one that answers %s withholds the content and breaks nothing",
    async (_what, make) => {
      const result = await playAfter(make);
      expect(textsOf(result)).toEqual([WITHHELD]);
      expect(verdictsOf(result)).toEqual(["succeeded:internal"]);
    },
  );

  it("PREP-13: one that times out after 30,000 ms withholds the content; a late answer changes nothing", async () => {
    const { simulated, hook, state, played } = startHeld("afterToolCall");
    await simulated.advance(29_999);
    expect([state.isDone, hook.signals[0]?.aborted]).toEqual([false, false]);
    await simulated.advance(1);
    const { result } = await played;
    hook.answer({ content: "late" });
    await simulated.advance(0);
    expect(textsOf(result)).toEqual([WITHHELD]);
    expect(verdictsOf(result)).toEqual(["succeeded:internal"]);
    expect(hook.signals[0]?.aborted).toBe(true);
  });

  it.each([
    [50, 50],
    [100_000, 100_000],
  ])("PREP-13: its own timeoutMs of %i comes in place of the limit", async (timeoutMs, atMs) => {
    const { simulated, state, played } = startHeld("afterToolCall", timeoutMs);
    await simulated.advance(atMs - 1);
    expect(state.isDone).toBe(false);
    await simulated.advance(1);
    expect(textsOf((await played).result)).toEqual([WITHHELD]);
  });

  it("PREP-13: timeoutMs null is no limit", async () => {
    const { simulated, hook, state, played } = startHeld("afterToolCall", null);
    await simulated.advance(1_000_000_000);
    expect(state.isDone).toBe(false);
    hook.answer({ content: "late, and right" });
    expect(textsOf((await played).result)).toEqual(["late, and right"]);
  });

  it("PREP-13: undefined keeps the result as it is", async () => {
    const result = await playAfter(() => undefined);
    expect(result.settled[0]?.result).toEqual({
      content: [{ type: "text", text: "secret" }],
      details: { d: 1 },
      isError: false,
      outcomeUncertain: false,
      terminate: true,
    });
  });

  it("PREP-13: fields that the answer does not name stay", async () => {
    const result = await playAfter(() => ({ content: "shown" }));
    expect(result.settled[0]?.result).toEqual({
      content: [{ type: "text", text: "shown" }],
      details: { d: 1 },
      isError: false,
      outcomeUncertain: false,
      terminate: true,
    });
  });

  it("PREP-13: the outcome stays the executor's, whatever the answer calls it", async () => {
    const failed = await playAfter(() => ({ isError: false, content: "fine" }), toolResult({ isError: true }));
    const succeeded = await playAfter(() => toolResult({ isError: true, outcomeUncertain: true }));
    expect([failed.settled[0]?.outcome, succeeded.settled[0]?.outcome]).toEqual(["failed", "succeeded"]);
    expect(succeeded.settled[0]?.result.outcomeUncertain).toBe(false);
  });

  it.each<[string, AfterToolCall, string[]]>([
    [
      "an answer",
      () => toolResult({ content: "all is well", outcomeUncertain: false, isError: false }),
      ["all is well"],
    ],
    ["a throw", () => Promise.reject(new Error("x")), [WITHHELD]],
    ["content that repeats the warning", ({ result }) => toolResult({ content: result.content }), ["lost"]],
  ])("PREP-13: %s cannot clear the uncertainty of a write, and the model is told of it", async (_what, hook, texts) => {
    const { tool } = recordingTool({ name: "write", risk: "nonIdempotentWrite" });
    const lost = {
      ...tool,
      execute: () => {
        throw new OutcomeUnknownError("lost");
      },
    };
    const { result } = await play({ tools: [lost], hooks: { afterToolCall: hook } }, [call("write")]);
    expect(
      result.settled.map(({ outcome, result: { isError, outcomeUncertain } }) => ({
        outcome,
        isError,
        outcomeUncertain,
      })),
    ).toEqual([{ outcome: "uncertain", isError: true, outcomeUncertain: true }]);
    expect(textsOf(result)).toEqual([[...texts, UNCERTAIN].join("\n")]);
  });
});
