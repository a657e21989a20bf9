import { type AgentHooks, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import {
  type AgentBench,
  ask,
  callPart,
  endOf,
  linesOf,
  loopStory,
  openAgentBench,
  say,
} from "../support/agent-bench.ts";
import { expectAborted } from "../support/run-abort-scene.ts";
import { recordingTool } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

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
