import { type AfterToolCall, type ToolResult, toolResult } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { heldHook } from "../support/prep-hooks-scene.ts";
import { call, finish, play, recordingTool, testSession, textsOf, verdictsOf } from "../support/run-calls.ts";
import { trackedClock, trackedSignal } from "../support/tracked.ts";

describe("afterToolCall", () => {
  const WITHHELD = "completed; result withheld; do not repeat";

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
