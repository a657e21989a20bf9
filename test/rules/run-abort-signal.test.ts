import type { KernelEvent, Run } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { type AgentBenchOptions, ask, callPart, endOf, openAgentBench, say } from "../support/agent-bench.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { eventsOf, textOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

describe("the host's signal", () => {
  const endings: readonly (readonly [string, AgentBenchOptions])[] = [
    ["completed by noCalls", { script: [say()] }],
    ["limitExceeded by maxMessages", { script: [say()], limits: { maxMessages: 5 } }],
    ["providerError by modelError", { script: [] }],
    ["kernelError", { script: [say()], hooks: { prepareNextTurn: () => 5 as never } }],
    ["awaitingApproval", { script: [ask("read")], hooks: { authorizeToolCall: () => ({ ask: {} }) } }],
  ];

  it.each(endings)("CAN-1: is let go when the run is %s", async (end, options) => {
    const { signal } = trackedSignal();
    if (end === "awaitingApproval") leaveChartsOpen();
    const played = await openAgentBench(options).play("go", { signal });
    // That nobody listens any more is checked behind every test.
    expect(endOf(played)).toBe(end);
  });

  it("CAN-1: is let go when the run could not start", async () => {
    const { signal } = trackedSignal();
    expect(endOf(await openAgentBench().play(5 as never, { signal }))).toBe("kernelError");
  });
});

describe("cancellations told apart", () => {
  const slow = () => controllableTool({ name: "slow", risk: "readOnly" });

  /** Aborts while a call runs and another waits, and tells what event and result say of it. */
  async function playStopped(stop: (run: Run, signal: (reason: unknown) => void) => void) {
    const tool = slow();
    const bench = openAgentBench({
      tools: [tool],
      toolExecution: "sequential",
      script: [ask(callPart("slow", "a"), callPart("slow", "b"))],
    });
    const { signal, abort } = trackedSignal();
    const { run, finish } = bench.start("go", { signal });
    await bench.advance();
    stop(run, abort);
    await bench.advance(1_000);
    const { result, events } = await finish();
    tool.pending[0]?.resolve();
    await bench.advance();
    return {
      status: result.status,
      reason: result.abortReason,
      ended: eventsOf(events, "runEnded").map(({ endedBy }) => endedBy),
      told: result.messages
        .flatMap((message) => (message.role === "toolResult" ? [textOf(message.content)] : []))
        .at(-1),
    };
  }

  it("C13: the host's shutdown and the user's stop by their reasons, in the result and in what the model is told", async () => {
    const base = { status: "aborted", ended: ["abort"] };
    const told = "not_executed: cancelled before dispatch. Nothing happened.";
    expect(await playStopped((run) => run.abort("the user pressed stop"))).toEqual({
      ...base,
      reason: "the user pressed stop",
      told: `${told} Reason: the user pressed stop`,
    });
    const shutdown = new Error("the host shuts down");
    expect(await playStopped((_run, abort) => abort(shutdown))).toEqual({
      ...base,
      reason: shutdown,
      told: `${told} Reason: the host shuts down`,
    });
    expect(await playStopped((run) => run.abort())).toEqual({ ...base, reason: undefined, told });
  });

  it("C13: a limit, the loop guard, a time-out and an uncertain write, none of which is an abort", async () => {
    const ends = (events: readonly KernelEvent[]) =>
      eventsOf(events, "runEnded").map(({ status, endedBy }) => [status, endedBy]);
    const limit = await openAgentBench({ script: [ask("read")], limits: { maxTurns: 1 } }).play();
    expect(ends(limit.events)).toEqual([["limitExceeded", "maxTurns"]]);
    const thresholds = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 1 };
    const guard = await openAgentBench({ script: [ask("read")], limits: thresholds }).play();
    expect(ends(guard.events)).toEqual([["stopped", "exactToolRepeat"]]);

    const send = controllableTool({ name: "send", timeoutMs: 10 });
    const bench = openAgentBench({ tools: [send], script: [ask(callPart("send", "a"), callPart("send", "b")), say()] });
    const { finish } = bench.start();
    await bench.advance(10 + 1_000);
    const played = await finish();
    const verdicts = eventsOf(played.events, "toolEnded").map(
      ({ outcome, failureCategory }) => `${outcome}:${failureCategory}`,
    );
    expect(verdicts).toEqual(["uncertain:timeout", "blocked:conflict"]);
    expect(endOf(played)).toBe("completed by noCalls");
    send.pending[0]?.resolve();
    await bench.advance();
  });
});
