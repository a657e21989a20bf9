import { KernelError, type KernelEvent, type TraceRecord, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import {
  type AgentBenchOptions,
  ask,
  callPart,
  endOf,
  openAgentBench,
  say,
  toldMessages,
} from "../support/agent-bench.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

const { tool: read } = recordingTool();

const stop = { ...recordingTool({ name: "stop" }).tool, execute: () => toolResult({ terminate: true }) };

const thresholds = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 1 };

type Ending = readonly [end: string, options: AgentBenchOptions, abortAt?: KernelEvent["kind"] | undefined];

/** Every way a run can end, without a run store, by its status and what ended it. */
const ENDINGS: readonly Ending[] = [
  ["completed by noCalls", { script: [ask("read"), say()] }],
  ["completed by noCalls", { script: [ask("read"), { content: [], stopReason: "stop" }] }],
  ["completed by allTerminate", { script: [ask("read"), ask("stop")] }],
  ["stopped by shouldStop", { script: [ask("read")], hooks: { shouldStopAfterTurn: () => true } }],
  ["stopped by exactToolRepeat", { script: [ask("read", callPart("nope", "n"))], limits: thresholds }],
  ["limitExceeded by maxTurns", { script: [ask("read")], limits: { maxTurns: 1 } }],
  ["limitExceeded by maxToolCalls", { script: [ask("read"), ask("read")], limits: { maxToolCalls: 1 } }],
  ["limitExceeded by maxMessages", { script: [ask("read")], limits: { maxMessages: 35 } }],
  [
    "limitExceeded by maxTotalTokens",
    {
      script: [{ ...ask("read"), usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }],
      limits: { maxTotalTokens: 1 },
    },
  ],
  ["providerError by modelError", { script: [ask("read")] }],
  ["providerError by modelError", { script: [{ ...ask("read", "stop"), stopReason: "error" }] }],
  ["providerError by modelError", { script: [{ ...ask("read", "stop"), stopReason: "aborted" }] }],
  ["providerError by invalidResponse", { script: [ask("read"), { content: [], stopReason: "end_turn" as never }] }],
  [
    "kernelError",
    { script: [ask("read")], hooks: { prepareNextTurn: ({ turn }) => (turn === 2 ? (5 as never) : {}) } },
  ],
  ["kernelError", { script: [ask("read")], hooks: { shouldStopAfterTurn: () => 5 as never } }],
  ["aborted by abort", { script: [ask("read", "stop")] }, "toolStarted"],
  ["aborted by abort", { script: [ask("read", "stop")] }, "toolDispatched"],
  ["aborted by abort", { script: [ask("read"), say()] }, "turnEnded"],
  ["awaitingApproval", { script: [ask("read")], hooks: { authorizeToolCall: () => ({ ask: {} }) } }],
];

async function playEnding([end, options, abortAt]: Ending) {
  if (end === "awaitingApproval") leaveChartsOpen();
  const bench = openAgentBench({ tools: [read, stop], ...options });
  const { run, finish } = bench.start();
  run.subscribe(({ kind }) => {
    if (kind === abortAt) run.abort("enough");
  });
  const played = await finish();
  await bench.advance();
  return { ...played, bench };
}

describe.each(ENDINGS.map((ending) => ({ end: ending[0], ending })))("a run that is $end", ({ ending }) => {
  const [end, options, abortAt] = ending;

  it("RUN-4: ends with one runEnded, behind everything else, which says the same as its result", async () => {
    const { result, events } = await playEnding(ending);
    expect(endOf({ result })).toBe(end);
    const [status, endedBy] = end.split(" by ");
    expect(eventsOf(events, "runEnded")).toMatchObject([{ status, ...(endedBy !== undefined && { endedBy }) }]);
    expect(events.at(-1)).toMatchObject({ kind: "runEnded", status });
    expect(Object.hasOwn(events.at(-1) ?? {}, "endedBy")).toBe(endedBy !== undefined);
    expect(events[0]?.kind).toBe("runStarted");
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, place) => place));
  });

  it("RUN-4: has a result with an error if it failed, approvals if it waits, a reason if it was aborted", async () => {
    const { result, run } = await playEnding(ending);
    const [status] = end.split(" ");
    expect({
      error: result.error instanceof Error,
      isKernels: result.error instanceof KernelError,
      approvals: result.approvals?.length,
      abortReason: result.abortReason,
      undelivered: result.undelivered,
      runId: result.runId,
    }).toEqual({
      error: status === "providerError" || status === "kernelError",
      isKernels: status === "kernelError",
      approvals: status === "awaitingApproval" ? 1 : undefined,
      abortReason: status === "aborted" ? "enough" : undefined,
      undelivered: [],
      runId: "run",
    });
    expect(result.performance).toEqual(run.performance());
    expect(result.performance.turns).toBe(result.turns);
  });

  it("RUN-5: has a transcript that a provider takes, and that the next run takes as its input", async () => {
    const { result } = await playEnding(ending);
    expect(findTranscriptFaults(result.messages)).toEqual([]);
    expect(result.newMessages).toEqual(result.messages);
    const next = openAgentBench({ script: [ask("read"), say("next")] });
    const played = await next.play([...result.messages, { role: "user", content: "and now?" }], { runId: "next" });
    expect(endOf(played)).toBe("completed by noCalls");
    expect(next.requests[0]?.messages.slice(0, -1)).toEqual(result.messages);
    expect(findTranscriptFaults(played.result.messages)).toEqual([]);
    expect(played.result.messages.slice(0, result.messages.length)).toEqual(result.messages);
  });

  it("RUN-5: has every message once in its events and once in its transcript, in the same order", async () => {
    const { result, events } = await playEnding(ending);
    const told = toldMessages(events);
    // The response that waits for approvals comes with its results, when the run goes on.
    expect(end === "awaitingApproval" ? told.slice(0, -1) : told).toEqual(result.newMessages);
    expect(new Set(told).size).toBe(told.length);
  });

  it("RUN-4: leaves no timer, and nothing that goes on", async () => {
    const { bench, events } = await playEnding(ending);
    const count = events.length;
    expect(bench.pendingTimers()).toBe(0);
    await bench.advance(10_000_000);
    expect(events).toHaveLength(count);
  });

  it("RUN-4: is the same under the other interpreter", async () => {
    const stories: unknown[] = [];
    for (const interpreter of ["compiled", "xstate"] as const) {
      const { result, events, bench } = await playEnding([end, { ...options, interpreter }, abortAt]);
      const { performance: _figures, approvals, ...facts } = result;
      const shown = (approvals ?? []).map(({ approvalId: _id, ...approval }) => approval);
      if (approvals !== undefined) await bench.resume("run", { signal: AbortSignal.abort() }).finish();
      stories.push({ facts, shown, events: events.map(({ kind, seq, turn }) => `${seq} ${turn} ${kind}`) });
    }
    expect(stories[0]).toEqual(stories[1]);
  });
});

describe("whoever listens to a run", () => {
  it("RUN-4: gets every event from the first on, however late it starts, also after the end", async () => {
    const { run, events, finish } = openAgentBench({ script: [ask("read"), say()] }).start();
    await finish();
    const late: KernelEvent[] = [];
    for await (const event of run) late.push(event);
    expect(late).toEqual(events);
    const observed: KernelEvent[] = [];
    let isComplete = false;
    run.events$.subscribe({
      next: (event) => observed.push(event),
      complete: () => {
        isComplete = true;
      },
    });
    expect([observed, isComplete]).toEqual([events, true]);
  });

  it("RUN-4: may leave the loop, and cancels nothing with it", async () => {
    const { run, finish } = openAgentBench({ script: [ask("read"), say()] }).start();
    for await (const event of run) if (event.kind === "turnStarted") break;
    expect(endOf(await finish())).toBe("completed by noCalls");
  });

  it("RUN-4: may never look at the result, and ends nobody's process", async () => {
    const bench = openAgentBench({ script: [] });
    const { events } = bench.start();
    bench.agent.run(5 as never);
    await bench.advance();
    expect(events.at(-1)).toMatchObject({ kind: "runEnded", status: "providerError" });
  });

  it("RUN-4: is dropped when it throws, reported once, and the run goes on", async () => {
    const records: TraceRecord[] = [];
    const bench = openAgentBench({
      script: [ask("read"), say()],
      telemetry: { record: (record) => records.push(record) },
    });
    const { run, finish } = bench.start();
    const heard = { thrown: 0, rejected: 0, observed: 0 };
    const fail = (name: keyof typeof heard): never => {
      heard[name] += 1;
      throw new Error("hunter2");
    };
    run.subscribe(() => fail("thrown"));
    run.subscribe(async () => fail("rejected"));
    run.events$.subscribe(() => fail("observed"));
    expect(endOf(await finish())).toBe("completed by noCalls");
    expect(heard).toEqual({ thrown: 1, rejected: 1, observed: 1 });
    expect(records.filter(({ name }) => name === "kernel.listenerdropped")).toHaveLength(3);
  });

  it("RUN-4: that is slow stalls nothing, and still hears everything in order", async () => {
    const bench = openAgentBench({ script: [ask("read"), say()] });
    const { run, events, finish } = bench.start();
    const releases: (() => void)[] = [];
    const slow: number[] = [];
    run.subscribe((event) => {
      slow.push(event.seq);
      return new Promise<void>((resolve) => releases.push(resolve));
    });
    await finish();
    expect(slow).toEqual([0]);
    for (let place = 0; place < events.length; place++) {
      releases[place]?.();
      await bench.advance();
    }
    expect(slow).toEqual(events.map(({ seq }) => seq));
  });
});
