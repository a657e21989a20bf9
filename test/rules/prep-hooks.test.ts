import type { SessionHooks } from "toolkernel";
import { describe, expect, it } from "vitest";
import { HOSTILE_VALUES, NONSENSE_VALUES } from "../support/hostile-values.ts";
import { heldHook, startHeld } from "../support/prep-hooks-scene.ts";
import { call, play, recordingTool, testSession, textsOf, verdictsOf } from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

const BEFORE = ["rewriteToolCall", "authorizeToolCall"] as const;

type Before = (typeof BEFORE)[number];

const PLAIN_NAME = { rewriteToolCall: "policy", authorizeToolCall: "authorization" } as const;

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
