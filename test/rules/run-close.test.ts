import { type AgentHooks, KernelError, type Message, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import {
  type AgentBenchOptions,
  ask,
  callPart,
  endOf,
  linesOf,
  openAgentBench,
  type PlayedRun,
  say,
} from "../support/agent-bench.ts";
import { HOSTILE_VALUES } from "../support/hostile-values.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

/** A read whose result ends the loop, as far as it goes. */
const last = { ...recordingTool({ name: "last" }).tool, execute: () => toolResult({ value: "ok", terminate: true }) };
const { tool: read } = recordingTool();

/** So many equal calls of `read`, one a response. */
const equalCalls = (count: number) => Array.from({ length: count }, () => ask("read"));

async function play(options: AgentBenchOptions, queued: { steer?: string[]; followUp?: string[] } = {}) {
  const bench = openAgentBench({ tools: [read, last], ...options });
  const { run, finish } = bench.start();
  for (const message of queued.steer ?? []) run.steer(message);
  for (const message of queued.followUp ?? []) run.followUp(message);
  return { ...(await finish()), requests: bench.requests };
}

/** The faults and the queue of a run that ended by a hook's fault. */
function faultOf({ result, events }: PlayedRun) {
  const { error } = result;
  return {
    status: result.status,
    code: error instanceof KernelError ? error.code : error,
    subject: error instanceof KernelError ? error.subject : undefined,
    undelivered: linesOf(result.undelivered),
    told: eventsOf(events, "runFaulted").map(({ code }) => code),
    transcript: findTranscriptFaults(result.messages),
  };
}

const faultIn = (hook: string, undelivered: readonly string[]) => ({
  status: "kernelError",
  code: "INVALID_OPTIONS",
  subject: `hooks.${hook}`,
  undelivered,
  told: ["INVALID_OPTIONS"],
  transcript: [],
});

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

describe("prepareNextTurn", () => {
  it("RUN-2: is asked before every request, the first too, with turn, transcript, host and signal", async () => {
    const seen: unknown[] = [];
    const hooks: AgentHooks = {
      prepareNextTurn: ({ turn, messages, host, signal, ...rest }) => {
        seen.push({ turn, lines: linesOf(messages), host, signal, rest });
        return undefined;
      },
    };
    await play({ script: [ask("read"), say()], hooks, host: 7 });
    const shared = { host: 7, signal: expect.any(AbortSignal), rest: {} };
    expect(seen).toEqual([
      { turn: 1, lines: ["user go"], ...shared },
      { turn: 2, lines: ["user go", "assistant read#read", "result read ok"], ...shared },
    ]);
  });

  it("RUN-2: changes its turn alone: model, tools, system prompt and what the request shows", async () => {
    const { tool: extra, runs } = recordingTool({ name: "extra" });
    const shown: readonly Message[] = [{ role: "user", content: "in short: go" }];
    const asked: unknown[] = [];
    const other = {
      generate: async (request: { turn: number }) => {
        asked.push(request);
        return ask("extra", "read");
      },
    };
    const hooks: AgentHooks = {
      prepareNextTurn: async ({ turn }) =>
        turn === 1 ? { model: other, tools: [extra], systemPrompt: "Be quick.", messages: shown } : {},
    };
    const played = await play({ script: [say()], hooks, systemPrompt: "Be kind." });
    expect(asked).toMatchObject([{ systemPrompt: "Be quick.", messages: shown, tools: [{ name: "extra" }], turn: 1 }]);
    expect(played.requests).toMatchObject([
      { systemPrompt: "Be kind.", tools: [{ name: "read" }, { name: "last" }], turn: 2 },
    ]);
    // The tools of the turn are those its batch runs with, and the transcript stays whole.
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant extra#extra, read#read", "result extra ok", "error read unknown_tool"],
      "assistant done",
    ]);
    expect(runs).toHaveLength(1);
  });

  it("RUN-2: an empty system prompt is one", async () => {
    const hooks: AgentHooks = { prepareNextTurn: () => ({ systemPrompt: "" }) };
    const played = await play({ script: [say()], hooks, systemPrompt: "Be kind." });
    expect(played.requests[0]?.systemPrompt).toBe("");
  });

  it("RUN-2, RUN-5: that changes the messages it was shown changes the transcript of nobody", async () => {
    const wreck = ({ messages }: { messages: readonly Message[] }) => {
      (messages as Message[]).reverse();
      (messages as Message[]).splice(0, 1);
    };
    const hooks: AgentHooks = {
      prepareNextTurn: (input) => {
        wreck(input);
        return undefined;
      },
      shouldStopAfterTurn: (input) => {
        wreck(input);
        return false;
      },
    };
    const played = await play({ script: [ask("read"), say()], hooks });
    const lines = ["user go", "assistant read#read", "result read ok", "assistant done"];
    expect(linesOf(played.result.messages)).toEqual(lines);
    expect(linesOf(played.requests[1]?.messages ?? [])).toEqual(lines.slice(0, 3));
  });

  const model = { generate: async () => say() };
  it.each<readonly [string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("hunter2");
      },
    ],
    ["rejects", async () => Promise.reject(new Error("hunter2"))],
    ["answers a text", () => "go on"],
    ["answers false", () => false],
    ["answers a list", () => [{ systemPrompt: "x" }]],
    ["answers a model that is null", () => ({ model: null })],
    ["answers a promise of a model that is null", async () => ({ model: null })],
    ["answers a model without generate", () => ({ model: {} })],
    ["answers tools that are a text", () => ({ tools: "read" })],
    ["answers tools that are null", () => ({ tools: null })],
    ["answers a tool that is none", () => ({ tools: [{}] })],
    ["answers a system prompt that is no text", () => ({ systemPrompt: 5 })],
    ["answers messages that are no list", () => ({ messages: "go" })],
    ["answers messages that are none", () => ({ model, messages: [null] })],
    ["answers a message of an unknown role", () => ({ model, messages: [{ role: "system", content: "x" }] })],
    ["answers a message without content", async () => ({ model, messages: [{ role: "user" }] })],
    ["answers a model that throws when it is looked at", () => ({ model: new Proxy({}, { get: thrower }) })],
  ])("RUN-2: that %s ends the run kernelError; nothing queued is lost", async (_what, answer) => {
    const hooks: AgentHooks = {
      prepareNextTurn: ((input: { turn: number }) => (input.turn === 1 ? {} : answer())) as never,
    };
    const played = await play({ script: [ask("read"), say()], hooks }, { followUp: ["f"] });
    expect(faultOf(played)).toMatchObject({ ...faultIn("prepareNextTurn", ["user f"]), subject: expect.any(String) });
    expect([played.requests.length, played.result.endedBy]).toEqual([1, undefined]);
    expect(String(played.result.error)).not.toContain("hunter2");
  });

  it.each(HOSTILE_VALUES)(
    "RUN-2: that answers %s ends the run or prepares nothing, and never more",
    async (_what, make) => {
      const hooks: AgentHooks = { prepareNextTurn: make as never };
      const played = await play({ script: [say()], hooks });
      expect(["completed by noCalls", "kernelError"]).toContain(endOf(played));
    },
  );

  it("RUN-2: that gives two tools of one name ends the run, and says which", async () => {
    const hooks: AgentHooks = { prepareNextTurn: () => ({ tools: [read, read] }) };
    const played = await play({ script: [say()], hooks });
    expect(played.result.error).toMatchObject({ code: "DUPLICATE_TOOL" });
    expect(eventsOf(played.events, "runFaulted").map(({ code }) => code)).toEqual(["DUPLICATE_TOOL"]);
  });
});

function thrower(): never {
  throw new Error("hunter2");
}

describe.each(["prepareNextTurn", "shouldStopAfterTurn"] as const)("the time of %s", (name) => {
  const hanging = (timeoutMs?: number | null) => {
    const signals: AbortSignal[] = [];
    const run = ({ signal }: { signal: AbortSignal }): Promise<never> => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    const hooks: AgentHooks = { [name]: timeoutMs === undefined ? run : { run, timeoutMs } };
    return { hooks, signals };
  };

  it.each([
    ["limits.hookTimeoutMs", undefined, {}, 30_000],
    ["limits.hookTimeoutMs of the host", undefined, { hookTimeoutMs: 50 }, 50],
    ["its own timeoutMs", 70, { hookTimeoutMs: 50 }, 70],
  ])("RUN-2: is bounded by %s; past it the run ends kernelError", async (_what, own, limits, timeoutMs) => {
    const { hooks, signals } = hanging(own);
    const bench = openAgentBench({ hooks, limits, script: [say()] });
    const { run, finish } = bench.start();
    run.steer("s");
    await bench.advance(timeoutMs - 1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await bench.advance(1);
    const played = await finish();
    expect(faultOf(played)).toEqual(faultIn(name, ["user s"]));
    expect(played.result.error?.message).toBe(`hooks.${name} did not answer in time, so the run ended.`);
    expect(signals[0]?.reason).toMatchObject({ name: "TimeoutError" });
  });

  it("RUN-2: that throws or rejects is told as failed; what it threw is the cause, and in no text", async () => {
    const thrown = new Error("secret");
    const thrower = (): never => {
      throw thrown;
    };
    for (const hook of [thrower, async () => thrower()]) {
      const played = await play({ script: [say()], hooks: { [name]: hook } });
      expect(played.result.error?.message).toBe(`hooks.${name} failed, so the run ended.`);
      expect(played.result.error?.cause).toBe(thrown);
    }
  });

  it("RUN-2: that does not answer in time has no cause to tell of", async () => {
    const bench = openAgentBench({ hooks: hanging(50).hooks, script: [say()] });
    const { finish } = bench.start();
    await bench.advance(50);
    expect((await finish()).result.error).not.toHaveProperty("cause");
  });

  it("RUN-2: has no bound where the host says null; an abort still ends it", async () => {
    const { hooks, signals } = hanging(null);
    const bench = openAgentBench({ hooks, script: [say()] });
    const { run, finish } = bench.start();
    await bench.advance(10_000_000);
    expect([signals.map(({ aborted }) => aborted), bench.pendingTimers()]).toEqual([[false], 0]);
    run.abort("enough");
    const played = await finish();
    expect([endOf(played), signals[0]?.reason]).toEqual(["aborted by abort", "enough"]);
    expect(played.result).not.toHaveProperty("error");
  });
});
