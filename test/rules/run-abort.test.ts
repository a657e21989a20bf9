import { type AgentHooks, type KernelEvent, type ModelProvider, type Run, toolResult } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import {
  type AgentBench,
  type AgentBenchOptions,
  ask,
  callPart,
  endOf,
  linesOf,
  loopStory,
  openAgentBench,
  type PlayedRun,
  say,
} from "../support/agent-bench.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { eventsOf, recordingTool, textOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

/** What holds after every abort, whenever it came. */
function expectAborted({ result, events }: PlayedRun, reason: unknown): void {
  expect([result.status, result.endedBy, result.abortReason]).toEqual(["aborted", "abort", reason]);
  expect(result).not.toHaveProperty("error");
  expect(findTranscriptFaults(result.messages)).toEqual([]);
  expect(eventsOf(events, "runStarted")).toHaveLength(1);
  expect(eventsOf(events, "runEnded")).toMatchObject([{ status: "aborted", endedBy: "abort" }]);
  expect(events.at(-1)?.kind).toBe("runEnded");
  const dispatched = eventsOf(events, "toolDispatched").map(({ callId }) => callId);
  expect(eventsOf(events, "toolEnded").map(({ callId }) => callId)).toEqual(expect.arrayContaining(dispatched));
}

/** A model that never answers, and the signals it was given. */
function hangingModel(): { model: ModelProvider; signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  const model: ModelProvider = {
    generate: (_request, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    },
  };
  return { model, signals };
}

describe("an abort before the run has begun", () => {
  it("CAN-1, RUN-4: asks no model and no hook; the prompt stays, the events are whole", async () => {
    const asked: string[] = [];
    const hooks: AgentHooks = {
      prepareNextTurn: () => {
        asked.push("hook");
        return undefined;
      },
    };
    const bench = openAgentBench({ script: [say()], hooks });
    const { run, events, finish } = bench.start();
    run.abort("never mind");
    const played = await finish();
    expectAborted(played, "never mind");
    expect(loopStory(events)).toEqual(["runStarted", "messageEnded user", "runEnded"]);
    expect(linesOf(played.result.messages)).toEqual(["user go"]);
    expect([asked, bench.requests, played.result.turns]).toEqual([[], [], 0]);
  });

  it.each([
    ["has fired before run is called", true],
    ["fires before the run has begun", false],
  ])("CAN-1, RUN-4: by a signal that %s does the same", async (_what, isEarly) => {
    const bench = openAgentBench({ script: [say()] });
    const { signal, abort } = trackedSignal();
    if (isEarly) abort("never mind");
    const { run, finish } = bench.start("go", { signal });
    expect(run.steer("s")).toEqual({ accepted: true });
    if (!isEarly) abort("never mind");
    const played = await finish();
    expectAborted(played, "never mind");
    expect([bench.requests, linesOf(played.result.undelivered)]).toEqual([[], ["user s"]]);
  });

  it("CAN-1: by a signal without a reason has the platform's", async () => {
    const bench = openAgentBench({ script: [say()] });
    const { signal, abort } = trackedSignal();
    const { finish } = bench.start("go", { signal });
    abort();
    const { result } = await finish();
    expect([result.status, result.abortReason]).toEqual(["aborted", expect.objectContaining({ name: "AbortError" })]);
  });
});

/** A rich run: two calls that overlap, a barrier, a refusal, progress, an advisory, two turns and a last word. */
function richBench(): AgentBench {
  const { tool: read } = recordingTool();
  const write = {
    ...recordingTool({ name: "write", risk: "nonIdempotentWrite" }).tool,
    execute: (_args: never, context: { progress(update: unknown): void }) => {
      context.progress("half");
      return toolResult({ value: "written" });
    },
  };
  const hooks: AgentHooks = {
    prepareNextTurn: async () => undefined,
    shouldStopAfterTurn: async () => false,
    afterToolCall: async () => undefined,
    authorizeToolCall: async () => undefined,
  };
  const calls = [callPart("read", "a"), callPart("read", "b"), callPart("write", "c"), callPart("nope", "d")];
  return openAgentBench({
    tools: [read, write],
    hooks,
    script: [ask(...calls), ask(callPart("write", "e"), callPart("read", "f"), callPart("read", "g")), say("done")],
    limits: { exactToolRepeatAdvisoryThreshold: 2 },
  });
}

const RICH_EVENTS = 67;

describe("an abort from inside a listener", () => {
  it("CAN-1: the run that is aborted below has these many events", async () => {
    const { events } = await richBench().play();
    expect(events).toHaveLength(RICH_EVENTS);
  });

  it.each(Array.from({ length: RICH_EVENTS - 1 }, (_none, place) => place))(
    "CAN-1, RUN-4, RUN-5: at event %i ends the run with a transcript that is whole",
    async (place) => {
      const bench = richBench();
      const { run, finish } = bench.start();
      let requestsThen = -1;
      let dispatchedThen = -1;
      let dispatched = 0;
      let accepted = false;
      run.subscribe((event) => {
        if (event.kind === "toolDispatched") dispatched += 1;
        if (event.seq !== place) return;
        run.abort({ at: place });
        // An abort may end the run before it returns; then nothing more is accepted.
        accepted = run.followUp("later").accepted;
        requestsThen = bench.requests.length;
        dispatchedThen = dispatched;
      });
      const played = await finish();
      expectAborted(played, { at: place });
      expect(linesOf(played.result.undelivered)).toEqual(accepted ? ["user later"] : []);
      // Nothing more is started: no request, no executor.
      expect([bench.requests.length, dispatched]).toEqual([requestsThen, dispatchedThen]);
    },
  );

  it("CAN-1: at the last event comes too late to change anything", async () => {
    const { run, finish } = richBench().start();
    run.subscribe((event) => {
      if (event.kind === "runEnded") run.abort("late");
    });
    const played = await finish();
    expect(endOf(played)).toBe("completed by noCalls");
    expect(played.result).not.toHaveProperty("abortReason");
  });
});

describe("an abort from outside", () => {
  it("CAN-1: during a model request fires its signal with the reason and waits for nothing", async () => {
    const { model, signals } = hangingModel();
    const bench = openAgentBench({ model });
    const { run, finish } = bench.start();
    await bench.advance(5);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    run.abort("enough");
    const played = await finish();
    expectAborted(played, "enough");
    expect(signals.map(({ reason }) => reason)).toEqual(["enough"]);
    expect(bench.pendingTimers()).toBe(0);
  });

  it("CAN-1: drops what a model answers or streams after it", async () => {
    let emit: (delta: { type: "text"; text: string }) => void = () => undefined;
    let answer: (response: ReturnType<typeof ask>) => void = () => undefined;
    const model: ModelProvider = {
      generate: (_request, context) => {
        emit = context.emit;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    };
    const bench = openAgentBench({ model });
    const { run, events, finish } = bench.start();
    await bench.advance();
    emit({ type: "text", text: "I will" });
    run.abort("enough");
    emit({ type: "text", text: "read" });
    answer(ask("read"));
    const played = await finish();
    await bench.advance();
    expectAborted(played, "enough");
    expect(eventsOf(events, "messageUpdated").map(({ delta }) => delta)).toEqual([{ type: "text", text: "I will" }]);
    expect(linesOf(played.result.messages)).toEqual(["user go"]);
    expect(played.events).toEqual(events);
  });

  it("CAN-1: in the same tick in which the model answers takes none of the answer", async () => {
    let answer: (response: ReturnType<typeof ask>) => void = () => undefined;
    const model: ModelProvider = {
      generate: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    };
    const { tool, runs } = recordingTool();
    const bench = openAgentBench({ model, tools: [tool] });
    const { run, finish } = bench.start();
    await bench.advance();
    answer(ask("read"));
    run.abort("enough");
    const played = await finish();
    expectAborted(played, "enough");
    expect([linesOf(played.result.messages), runs]).toEqual([["user go"], []]);
  });

  it.each(["prepareNextTurn", "shouldStopAfterTurn"] as const)(
    "CAN-1: during %s fires its signal, and its answer is dropped",
    async (name) => {
      const signals: AbortSignal[] = [];
      let answer: (said: never) => void = () => undefined;
      const hooks: AgentHooks = {
        [name]: ({ signal }: { signal: AbortSignal }) => {
          signals.push(signal);
          return new Promise<never>((resolve) => {
            answer = resolve;
          });
        },
      };
      const bench = openAgentBench({ hooks, script: [say(), say()] });
      const { run, finish } = bench.start();
      await bench.advance();
      run.abort("enough");
      answer(true as never);
      const played = await finish();
      expectAborted(played, "enough");
      expect(signals.map(({ reason }) => reason)).toEqual(["enough"]);
      expect(bench.requests).toHaveLength(name === "prepareNextTurn" ? 0 : 1);
    },
  );

  it("CAN-1: during preparation settles every call as cancelled before dispatch", async () => {
    const { tool, runs } = recordingTool();
    const hooks: AgentHooks = { authorizeToolCall: () => new Promise(() => undefined) };
    const bench = openAgentBench({ tools: [tool], hooks, script: [ask(callPart("read", "a"), callPart("read", "b"))] });
    const { run, finish } = bench.start();
    await bench.advance();
    run.abort("enough");
    const played = await finish();
    expectAborted(played, "enough");
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant read#a, read#b", "error a not_executed: cancelled", "error b not_executed: cancelled"],
    ]);
    expect(runs).toEqual([]);
  });

  it("CAN-1, CAN-2: during an epoch gives running calls the grace; no later epoch and no request follow", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly" });
    const write = controllableTool({ name: "write" });
    const script = [ask(callPart("read", "a"), callPart("read", "b"), callPart("write", "c")), say()];
    const bench = openAgentBench({ tools: [read, write], script });
    const { run, finish } = bench.start();
    await bench.advance();
    run.abort("enough");
    expect(read.pending.map(({ signal }) => signal.reason)).toEqual(["enough", "enough"]);
    read.pending[0]?.resolve("in time");
    await bench.advance(1_000);
    const played = await finish();
    expectAborted(played, "enough");
    expect(eventsOf(played.events, "toolEnded").map(({ callId, outcome }) => `${callId} ${outcome}`)).toEqual([
      ...["a succeeded", "b cancelled", "c cancelled"],
    ]);
    expect([write.pending.length, bench.requests.length]).toEqual([0, 1]);
    read.pending[0]?.resolve("late");
    await bench.advance();
  });

  it("CAN-1: by a tool of its own run is an abort like any other", async () => {
    let run: Run | undefined;
    const tool = {
      ...recordingTool().tool,
      execute: () => {
        run?.abort("the tool says so");
        return "done";
      },
    };
    const bench = openAgentBench({ tools: [tool], script: [ask(callPart("read", "a"), callPart("read", "b"))] });
    const followed = bench.start();
    run = followed.run;
    const played = await followed.finish();
    expectAborted(played, "the tool says so");
    expect(eventsOf(played.events, "toolEnded").map(({ callId, outcome }) => `${callId} ${outcome}`)).toEqual([
      ...["b cancelled", "a succeeded"],
    ]);
  });

  it("CAN-1: by the model of its own run, or by a hook of it, is one as well", async () => {
    const open = (place: "model" | "hook"): AgentBenchOptions => ({
      model: {
        generate: async () => {
          if (place === "model") run?.abort(place);
          return say();
        },
      },
      hooks: {
        prepareNextTurn: () => {
          if (place === "hook") run?.abort(place);
          return undefined;
        },
      },
    });
    let run: Run | undefined;
    for (const place of ["model", "hook"] as const) {
      const followed = openAgentBench(open(place)).start();
      run = followed.run;
      const played = await followed.finish();
      expectAborted(played, place);
      expect(linesOf(played.result.messages)).toEqual(["user go"]);
    }
  });

  it("CAN-1: the first reason counts, whoever gave it", async () => {
    const { model } = hangingModel();
    const bench = openAgentBench({ model });
    const { signal, abort } = trackedSignal();
    const { run, finish } = bench.start("go", { signal });
    await bench.advance();
    run.abort("first");
    run.abort("second");
    abort("third");
    expectAborted(await finish(), "first");
  });

  it("CAN-1: after the end changes nothing", async () => {
    const bench = openAgentBench({ script: [say()] });
    const { signal, abort } = trackedSignal();
    const { run, events, finish } = bench.start("go", { signal });
    const { result } = await finish();
    run.abort("late");
    abort("late");
    await bench.advance();
    expect([endOf({ result: await run.result }), events.at(-1)?.kind]).toEqual(["completed by noCalls", "runEnded"]);
    expect(result).not.toHaveProperty("abortReason");
  });

  it("CAN-1: without a reason has none, and is an abort", async () => {
    const { model } = hangingModel();
    const { run, finish } = openAgentBench({ model }).start();
    run.abort();
    const { result } = await finish();
    expect([result.status, Object.hasOwn(result, "abortReason"), result.abortReason]).toEqual([
      ...["aborted", true, undefined],
    ]);
  });
});

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
