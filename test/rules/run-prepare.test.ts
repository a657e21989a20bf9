import type { AgentHooks, Message } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { HOSTILE_VALUES } from "../support/hostile-values.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { faultIn, faultOf, play, read } from "../support/run-close-scene.ts";

function thrower(): never {
  throw new Error("hunter2");
}

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
    ["answers a system prompt that is not a string", () => ({ systemPrompt: 5 })],
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
