import { type AgentHooks, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { HOSTILE_VALUES } from "../support/hostile-values.ts";
import { recordingTool } from "../support/run-calls.ts";
import { faultIn, faultOf, play, read } from "../support/run-close-scene.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

/** So many equal calls of `read`, one a response. */
const equalCalls = (count: number) => Array.from({ length: count }, () => ask("read"));

describe("a batch closes the loop", () => {
  it("RUN-2: when every result says terminate", async () => {
    const played = await play({ script: [ask("last", callPart("last", "two"))] });
    expect([endOf(played), played.requests.length]).toEqual(["completed by allTerminate", 1]);
    expect(linesOf(played.result.messages)).toEqual([
      "user go",
      "assistant last#last, last#two",
      "result last ok",
      "result two ok",
    ]);
  });

  it("RUN-2: and not when one of them does not", async () => {
    const played = await play({ script: [ask("last", "read"), ask("read", callPart("last", "two")), say()] });
    expect([endOf(played), played.requests.length]).toEqual(["completed by noCalls", 3]);
  });

  it("RUN-2: by refusals and failures that say terminate as well", async () => {
    const stop = { ...read, name: "stop", execute: () => toolResult({ isError: true, terminate: true }) };
    const hooks: AgentHooks = {
      authorizeToolCall: ({ tool }) => (tool.name === "read" ? { block: "enough", terminate: true } : undefined),
    };
    const played = await play({ tools: [read, stop], hooks, script: [ask("read", "stop")] });
    expect(endOf(played)).toBe("completed by allTerminate");
  });

  it("RUN-2: by what afterToolCall makes of a result", async () => {
    const hooks: AgentHooks = { afterToolCall: () => toolResult({ terminate: true }) };
    expect(endOf(await play({ hooks, script: [ask("read")] }))).toBe("completed by allTerminate");
  });

  it("RUN-2: steering that is queued then continues the run, and after it follow-ups, each in its turn", async () => {
    const played = await play(
      { script: [ask("last"), ask(callPart("last", "two")), say()] },
      { steer: ["s1", "s2"], followUp: ["f1", "f2"] },
    );
    expect(endOf(played)).toBe("completed by noCalls");
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant last#last", "result last ok"],
      ...["user s1", "user s2", "assistant last#two", "result two ok"],
      ...["user f1", "user f2", "assistant done"],
    ]);
    expect(played.result.undelivered).toEqual([]);
  });

  it("RUN-2, REP-5: by an exact repeat too many, whose siblings still run", async () => {
    const { tool, runs } = recordingTool();
    const script = [...equalCalls(7), ask(callPart("read", "r8"), callPart("read", "b", { path: "b" })), say()];
    const played = await play({ tools: [tool], script });
    expect([endOf(played), played.requests.length]).toEqual(["stopped by exactToolRepeat", 8]);
    expect(linesOf(played.result.messages).slice(-2)).toEqual(['error r8 not_executed: "read"', "result b ok"]);
    expect(runs.at(-1)).toEqual({ path: "b" });
    expect(runs).toHaveLength(8);
  });

  it.each([
    ["steering", { steer: ["try another way"] }],
    ["a follow-up", { followUp: ["try another way"] }],
  ])("RUN-2, REP-5, REP-7: %s continues the run after it, and the count begins anew", async (_what, queued) => {
    const { tool, runs } = recordingTool();
    const counts: number[] = [];
    const bench = openAgentBench({ tools: [tool], script: [...equalCalls(8), ...equalCalls(3), say()] });
    const { run, finish } = bench.start();
    run.subscribe((event) => {
      if (event.kind === "toolRepeatDetected") counts.push(event.count);
      if (event.kind === "toolRepeatDetected" && event.count === 8) {
        for (const message of "steer" in queued ? queued.steer : []) run.steer(message);
        for (const message of "followUp" in queued ? queued.followUp : []) run.followUp(message);
      }
    });
    const played = await finish();
    expect(endOf(played)).toBe("completed by noCalls");
    expect(counts).toEqual([3, 8, 3]);
    expect(runs).toHaveLength(10);
    expect(findTranscriptFaults(played.result.messages)).toEqual([]);
  });

  it("RUN-2: an exact repeat too many is named before the terminating results that come with it", async () => {
    const limits = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 1 };
    expect(endOf(await play({ script: [ask("last")], limits }))).toBe("stopped by exactToolRepeat");
  });
});

describe("shouldStopAfterTurn", () => {
  it("RUN-2: ends the run stopped and gives queued messages back, steering first", async () => {
    const hooks: AgentHooks = { shouldStopAfterTurn: () => true };
    const played = await play({ script: [ask("read"), say()], hooks }, { followUp: ["f"], steer: ["s1", "s2"] });
    expect([endOf(played), played.requests.length]).toEqual(["stopped by shouldStop", 1]);
    expect(linesOf(played.result.undelivered)).toEqual(["user s1", "user s2", "user f"]);
    expect(linesOf(played.result.messages)).toEqual(["user go", "assistant read#read", "result read ok"]);
  });

  it.each([
    ["one without calls", [say()]],
    ["one that closed", [ask("last")]],
  ])("RUN-2: is asked after every turn, %s too, and true is stopped", async (_what, script) => {
    const hooks: AgentHooks = { shouldStopAfterTurn: async () => true };
    expect(endOf(await play({ script, hooks }))).toBe("stopped by shouldStop");
  });

  it("RUN-2: is given the turn, the transcript with its results, the batch if there was one, host and signal", async () => {
    const seen: unknown[] = [];
    const hooks: AgentHooks = {
      shouldStopAfterTurn: ({ turn, messages, batch, host, signal, ...rest }) => {
        seen.push({ turn, lines: linesOf(messages), batch: batch?.settled.length, host, signal, rest });
        return turn === 2 ? undefined : false;
      },
    };
    await play({ script: [ask("read"), say()], hooks, host: { name: "host" } });
    const shared = { host: { name: "host" }, signal: expect.any(AbortSignal), rest: {} };
    expect(seen).toEqual([
      { turn: 1, lines: ["user go", "assistant read#read", "result read ok"], batch: 1, ...shared },
      {
        turn: 2,
        lines: ["user go", "assistant read#read", "result read ok", "assistant done"],
        batch: undefined,
        ...shared,
      },
    ]);
  });

  it.each<readonly [string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("hunter2");
      },
    ],
    ["rejects", async () => Promise.reject(new Error("hunter2"))],
    ["answers a text", () => "yes"],
    ["answers 1", () => 1],
    ["answers an object", () => ({ stop: true })],
    ["answers a promise of nonsense", async () => "no"],
    ...HOSTILE_VALUES.map(([what, make]) => [`answers ${what}`, make] as const),
  ])("RUN-2: that %s ends the run kernelError; nothing queued is lost", async (_what, answer) => {
    const hooks: AgentHooks = { shouldStopAfterTurn: answer as never };
    const played = await play({ script: [ask("read"), say()], hooks }, { steer: ["s"] });
    expect(faultOf(played)).toEqual(faultIn("shouldStopAfterTurn", ["user s"]));
    expect([played.requests.length, played.result.endedBy]).toEqual([1, undefined]);
    expect(String(played.result.error)).not.toContain("hunter2");
  });
});
