import { type AfterToolCall, OutcomeUnknownError, type SessionHooks, type ToolResult, toolResult } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { HOSTILE_VALUES, NONSENSE_VALUES } from "../support/hostile-values.ts";
import { call, finish, play, recordingTool, testSession, textsOf, verdictsOf } from "../support/run-calls.ts";
import { trackedClock, trackedSignal } from "../support/tracked.ts";

const BEFORE = ["rewriteToolCall", "authorizeToolCall"] as const;
type Before = (typeof BEFORE)[number];
const PLAIN_NAME = { rewriteToolCall: "policy", authorizeToolCall: "authorization" } as const;

/** A hook that a test answers; it keeps the signals it was given. */
function heldHook() {
  const signals: AbortSignal[] = [];
  const answers: ((answer: unknown) => void)[] = [];
  const run = ({ signal }: { readonly signal: AbortSignal }): Promise<never> => {
    signals.push(signal);
    return new Promise((resolve) => {
      answers.push(resolve as (answer: unknown) => void);
    });
  };
  return { run, signals, answer: (value: unknown) => answers.shift()?.(value) };
}

/** Runs one call of a hook that a test answers, and says when the batch is done. */
function startHeld(name: keyof SessionHooks, timeoutMs?: number | null, limits = {}) {
  const simulated = trackedClock();
  const hook = heldHook();
  const { tool, runs } = recordingTool();
  const hooks = { [name]: timeoutMs === undefined ? hook.run : { run: hook.run, timeoutMs } } as SessionHooks;
  const session = testSession({ tools: [tool], hooks, limits, clock: simulated.clock });
  const state = { isDone: false };
  const played = finish(session.execute([call("read")])).then((done) => {
    state.isDone = true;
    return done;
  });
  return { simulated, hook, runs, state, played };
}

describe.each(BEFORE)("%s", (name: Before) => {
  const refusal = (what: string): string =>
    `not_executed: the host's ${PLAIN_NAME[name]} ${what}, so the call was refused.`;

  it("PREP-13: a hook that throws refuses the call, and its siblings go on", async () => {
    const { tool, runs } = recordingTool();
    const hook = ({ callIndex }: { readonly callIndex: number }): undefined => {
      if (callIndex === 0) throw new Error("hunter2-payload");
    };
    const { result } = await play({ tools: [tool], hooks: { [name]: hook } }, [
      call("read", "{}", "a"),
      call("read", '{"x":1}', "b"),
    ]);
    expect(verdictsOf(result)).toEqual(["refused:authorization", "succeeded"]);
    expect(textsOf(result)).toEqual([refusal("failed"), "ok"]);
    expect(runs).toEqual([{ x: 1 }]);
  });

  it("PREP-13: a hook that rejects refuses the call", async () => {
    const { tool, runs } = recordingTool();
    const hooks = { [name]: () => Promise.reject(new Error("hunter2-payload")) };
    const { result } = await play({ tools: [tool], hooks }, [call("read")]);
    expect(verdictsOf(result)).toEqual(["refused:authorization"]);
    expect(textsOf(result)).toEqual([refusal("failed")]);
    expect(runs).toEqual([]);
  });

  it.each(NONSENSE_VALUES)("PREP-13: a hook that answers %s refuses the call", async (_what, answer) => {
    const { tool, runs } = recordingTool();
    const hooks = { [name]: async () => answer } as SessionHooks;
    const { result } = await play({ tools: [tool], hooks }, [call("read")]);
    expect(verdictsOf(result)).toEqual(["refused:authorization"]);
    expect(textsOf(result)).toEqual([refusal("gave no valid answer")]);
    expect(runs).toEqual([]);
  });

  it.each(HOSTILE_VALUES)(
    "PREP-13: a hook that answers %s refuses the call and breaks nothing",
    async (_what, make) => {
      const { tool, runs } = recordingTool();
      const session = testSession({ tools: [tool], hooks: { [name]: make } as SessionHooks });
      const first = await session.execute([call("read")]).result;
      const second = await session.execute([call("read")]).result;
      await session.close();
      expect([verdictsOf(first), verdictsOf(second)]).toEqual([["refused:authorization"], ["refused:authorization"]]);
      expect(runs).toEqual([]);
    },
  );

  it("PREP-13: a hook has 30,000 ms and not one more", async () => {
    const { simulated, hook, runs, state, played } = startHeld(name);
    await simulated.advance(29_999);
    expect([state.isDone, hook.signals[0]?.aborted]).toEqual([false, false]);
    await simulated.advance(1);
    const { result } = await played;
    expect(verdictsOf(result)).toEqual(["refused:authorization"]);
    expect(textsOf(result)).toEqual([refusal("did not answer in time")]);
    expect(hook.signals[0]?.aborted).toBe(true);
    hook.answer(undefined);
    await simulated.advance(0);
    expect(runs).toEqual([]);
  });

  it("PREP-13: limits.hookTimeoutMs is another bound for every hook", async () => {
    const { simulated, state, played } = startHeld(name, undefined, { hookTimeoutMs: 5 });
    await simulated.advance(4);
    expect(state.isDone).toBe(false);
    await simulated.advance(1);
    expect(verdictsOf((await played).result)).toEqual(["refused:authorization"]);
  });

  it.each([10, 100_000])("PREP-13: a hook's own timeoutMs of %i comes in place of the limit", async (timeoutMs) => {
    const { simulated, state, played } = startHeld(name, timeoutMs);
    await simulated.advance(timeoutMs - 1);
    expect(state.isDone).toBe(false);
    await simulated.advance(1);
    expect(verdictsOf((await played).result)).toEqual(["refused:authorization"]);
  });

  it("PREP-13: timeoutMs null is no limit", async () => {
    const { simulated, hook, runs, state, played } = startHeld(name, null);
    await simulated.advance(1_000_000_000);
    expect([state.isDone, simulated.pendingTimers()]).toEqual([false, 0]);
    hook.answer(undefined);
    expect(verdictsOf((await played).result)).toEqual(["succeeded"]);
    expect(runs).toEqual([{}]);
  });

  it("PREP-13: an answer in the last millisecond counts", async () => {
    const { simulated, hook, played } = startHeld(name);
    await simulated.advance(29_999);
    hook.answer(undefined);
    await simulated.advance(1);
    expect(verdictsOf((await played).result)).toEqual(["succeeded"]);
    expect(hook.signals[0]?.aborted).toBe(false);
  });

  it("PREP-13: each call's hook has its whole time", async () => {
    const simulated = trackedClock();
    const hook = heldHook();
    const { tool } = recordingTool();
    const session = testSession({ tools: [tool], hooks: { [name]: hook.run }, clock: simulated.clock });
    const batch = session.execute([call("read", "{}", "a"), call("read", '{"x":1}', "b")]);
    await simulated.advance(29_999);
    hook.answer(undefined);
    await simulated.advance(29_999);
    hook.answer(undefined);
    expect(verdictsOf(await batch.result)).toEqual(["succeeded", "succeeded"]);
  });
});

describe("afterToolCall", () => {
  const WITHHELD = "completed; result withheld; do not repeat";
  const answered = toolResult({ content: "secret", details: { d: 1 }, terminate: true });

  async function playAfter(hook: unknown, value: unknown = answered) {
    const tool = recordingTool({ name: "write", risk: "nonIdempotentWrite" }).tool;
    const writes = { ...tool, execute: () => value };
    const { result } = await play({ tools: [writes], hooks: { afterToolCall: hook } as SessionHooks }, [call("write")]);
    return result;
  }

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

  const UNCERTAIN =
    "The outcome of this call is unknown: it may have happened. Check the current state before doing anything else; do not repeat the call.";

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

  it("PREP-13: a hook that changes the result it is given changes nothing", async () => {
    const seen: ToolResult[] = [];
    const spoil: AfterToolCall = ({ result }) => {
      seen.push(structuredClone(result));
      const open = result as { -readonly [Field in keyof ToolResult]: unknown };
      Object.assign(open, { outcomeUncertain: false, isError: false, content: [], terminate: true });
      (open.details as { list: number[] }).list.push(4);
      return undefined;
    };
    const { tool } = recordingTool({ name: "write", risk: "nonIdempotentWrite" });
    const lost = {
      ...tool,
      execute: () => toolResult({ content: "x", details: { list: [3] }, outcomeUncertain: true }),
    };
    const { result } = await play({ tools: [lost], hooks: { afterToolCall: spoil } }, [call("write")]);
    expect(result.settled[0]?.result).toEqual(seen[0]);
    expect(seen[0]).toMatchObject({ outcomeUncertain: true, isError: true, details: { list: [3] } });
  });

  it("PREP-13: it is told of every call whose executor was called, and of no other", async () => {
    const told: unknown[] = [];
    const afterToolCall: AfterToolCall = (input) => {
      const { signal, tool, ...facts } = input;
      told.push({ ...facts, tool: tool.name, isOpen: !signal.aborted });
      return undefined;
    };
    const { tool } = recordingTool();
    const { result } = await play({ tools: [tool], hooks: { afterToolCall }, host: { h: 1 } }, [
      call("read", '{"x":1}', "a"),
      call("nope", "{}", "b"),
    ]);
    expect(told).toEqual([
      {
        call: { id: "a", name: "read", arguments: '{"x":1}' },
        callIndex: 0,
        operationId: result.settled[0]?.operationId,
        arguments: { x: 1 },
        tool: "read",
        result: { content: [{ type: "text", text: "ok" }], isError: false, outcomeUncertain: false, terminate: false },
        runId: "run",
        turn: 1,
        host: { h: 1 },
        isOpen: true,
      },
    ]);
  });

  describe("after a cancellation", () => {
    async function startCancelled(timeoutMs: number | null, cancelAtMs: number) {
      const simulated = trackedClock();
      const signal = trackedSignal();
      const hook = heldHook();
      const { tool } = recordingTool();
      const session = testSession({
        tools: [tool],
        hooks: { afterToolCall: { run: hook.run, timeoutMs } },
        clock: simulated.clock,
      });
      const state = { isDone: false };
      const played = finish(session.execute([call("read")], { signal: signal.signal })).finally(() => {
        state.isDone = true;
      });
      await simulated.advance(cancelAtMs);
      signal.abort("enough");
      return { simulated, hook, state, played };
    }

    it.each([null, 30_000])("PREP-13: it has only the grace (own timeoutMs %s)", async (timeoutMs) => {
      const { simulated, hook, state, played } = await startCancelled(timeoutMs, 0);
      expect(hook.signals[0]?.reason).toBe("enough");
      await simulated.advance(999);
      expect(state.isDone).toBe(false);
      await simulated.advance(1);
      expect(verdictsOf((await played).result)).toEqual(["succeeded:internal"]);
      expect(textsOf((await played).result)).toEqual([WITHHELD]);
    });

    it("PREP-13: the grace never lengthens the hook's own time", async () => {
      const { simulated, state, played } = await startCancelled(100, 60);
      await simulated.advance(39);
      expect(state.isDone).toBe(false);
      await simulated.advance(1);
      expect(textsOf((await played).result)).toEqual([WITHHELD]);
    });

    it("PREP-13: what it answers within the grace counts", async () => {
      const { simulated, hook, played } = await startCancelled(null, 0);
      await simulated.advance(999);
      hook.answer({ content: "shaped" });
      expect(textsOf((await played).result)).toEqual(["shaped"]);
      expect(verdictsOf((await played).result)).toEqual(["succeeded"]);
    });

    it("PREP-13: one that begins within the executor's grace has the grace as well", async () => {
      const simulated = trackedClock();
      const signal = trackedSignal();
      const hook = heldHook();
      const read = controllableTool({ name: "read", risk: "readOnly" });
      const session = testSession({ tools: [read], hooks: { afterToolCall: hook.run }, clock: simulated.clock });
      const played = finish(session.execute([call("read")], { signal: signal.signal }));
      await simulated.advance(0);
      signal.abort();
      await simulated.advance(900);
      read.pending[0]?.resolve("late");
      await simulated.advance(999);
      expect(hook.signals.map(({ aborted }) => aborted)).toEqual([true]);
      expect(simulated.pendingTimers()).toBe(1);
      await simulated.advance(1);
      expect(textsOf((await played).result)).toEqual([WITHHELD]);
    });
  });
});
