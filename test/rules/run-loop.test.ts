import { defineTool, type JsonObject } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, linesOf, loopStory, openAgentBench, say } from "../support/agent-bench.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";

describe("the loop", () => {
  it("RUN-1: asks the model, runs the batch, gives it the results, until it answers without calls", async () => {
    const { play, requests } = openAgentBench({ script: [ask("read"), say("done")] });
    const played = await play("go");
    expect(endOf(played)).toBe("completed by noCalls");
    expect(linesOf(played.result.messages)).toEqual([
      "user go",
      "assistant read#read",
      "result read ok",
      "assistant done",
    ]);
    expect(requests.map(({ messages }) => linesOf(messages))).toEqual([
      ["user go"],
      ["user go", "assistant read#read", "result read ok"],
    ]);
    expect([played.result.turns, played.result.toolCalls, played.result.runId]).toEqual([2, 1, "run"]);
  });

  it("RUN-1: tells its whole story in events, in order", async () => {
    const played = await openAgentBench({ script: [ask("read"), say()] }).play();
    expect(loopStory(played.events)).toEqual([
      ...["runStarted", "messageEnded user"],
      ...["turnStarted", "modelRequestStarted", "messageStarted", "messageEnded assistant"],
      ...["messageEnded toolResult", "turnEnded"],
      ...["turnStarted", "modelRequestStarted", "messageStarted", "messageUpdated", "messageEnded assistant"],
      ...["turnEnded", "runEnded"],
    ]);
    expect(played.events.map(({ seq }) => seq)).toEqual(played.events.map((_event, place) => place));
    expect(eventsOf(played.events, "turnStarted").map(({ turn }) => turn)).toEqual([1, 2]);
    expect(eventsOf(played.events, "turnEnded").map(({ toolCalls }) => toolCalls)).toEqual([1, 0]);
    expect(new Set(played.events.map(({ runId }) => runId))).toEqual(new Set(["run"]));
  });

  it("RUN-1: the model is sent the system prompt, the tools as JSON Schema and the turn, first 1", async () => {
    const inputSchema: JsonObject = { type: "object", properties: { path: { type: "string" } } };
    const tool = defineTool({ name: "look", description: "Looks.", inputSchema, execute: () => "seen" });
    const { play, requests } = openAgentBench({
      tools: [tool],
      systemPrompt: "Be kind.",
      script: [ask("look"), say()],
    });
    await play();
    const tools = [{ name: "look", description: "Looks.", inputSchema }];
    expect(requests.map(({ messages: _messages, ...request }) => request)).toEqual([
      { systemPrompt: "Be kind.", tools, turn: 1 },
      { systemPrompt: "Be kind.", tools, turn: 2 },
    ]);
  });

  it("RUN-1: a request keeps the messages it was sent with, whatever is said later", async () => {
    const kept: (readonly unknown[])[] = [];
    const script = [ask("read"), say()].map((response) => ({ messages }: { messages: readonly unknown[] }) => {
      kept.push(messages);
      return response;
    });
    await openAgentBench({ script }).play();
    expect(kept.map(({ length }) => length)).toEqual([1, 3]);
  });

  it("RUN-1: the first request comes in a microtask after run has returned", async () => {
    const bench = openAgentBench({ script: [say()] });
    const { run, events, finish } = bench.start();
    expect([events, bench.requests]).toEqual([[], []]);
    expect(run.runId).toBe("run");
    await finish();
  });

  it("RUN-1: what a run is given before its prompt is sent too, and is not among its new messages", async () => {
    const earlier = (await openAgentBench({ script: [ask("read"), say("one")] }).play("first")).result.messages;
    const { play, requests } = openAgentBench({ script: [say("two")] });
    const prompt = [
      { role: "user", content: "second" },
      { role: "user", content: [{ type: "text", text: "third" }] },
    ] as const;
    const { result } = await play([...earlier, ...prompt]);
    expect(requests[0]?.messages).toEqual([...earlier, ...prompt]);
    expect(linesOf(result.newMessages)).toEqual(["user second", "user third", "assistant two"]);
    expect(result.messages).toEqual([...earlier, ...result.newMessages]);
  });

  it("RUN-1: goes on from results alone, as after a limit", async () => {
    const { play } = openAgentBench({ script: [ask("read")], limits: { maxTurns: 1 } });
    const { result } = await play();
    const next = openAgentBench({ script: [say()] });
    const played = await next.play(result.messages);
    expect(linesOf(next.requests[0]?.messages ?? [])).toEqual(["user go", "assistant read#read", "result read ok"]);
    expect(linesOf(played.result.newMessages)).toEqual(["assistant done"]);
  });

  it.each([
    ["an empty response", { content: [], stopReason: "stop" }, ["user go"]],
    [
      "reasoning alone",
      { content: [{ type: "reasoning", text: "hm" }], stopReason: "stop" },
      ["user go", "assistant hm"],
    ],
    ["toolUse without a call", { content: [], stopReason: "toolUse" }, ["user go"]],
    [
      "a text that was cut off",
      { content: [{ type: "text", text: "half" }], stopReason: "length" },
      ["user go", "assistant half"],
    ],
  ] as const)("RUN-1: %s is an answer without calls", async (_what, response, lines) => {
    const played = await openAgentBench({ script: [response] }).play();
    expect([endOf(played), linesOf(played.result.messages)]).toEqual(["completed by noCalls", lines]);
  });

  it("RUN-1: calls run whether the model calls its stop toolUse or stop", async () => {
    const { tool, runs } = recordingTool();
    const script = [{ ...ask("read"), stopReason: "stop" as const }, say()];
    const played = await openAgentBench({ tools: [tool], script }).play();
    expect([endOf(played), runs.length]).toEqual(["completed by noCalls", 1]);
  });
});

describe("a response that did not end as it should", () => {
  it("RUN-1: after one cut off at its length the loop goes on, every call answered and none run", async () => {
    const { tool, runs } = recordingTool();
    const cut = { ...ask(callPart("read", "a"), callPart("read", "b")), stopReason: "length" as const };
    const played = await openAgentBench({ tools: [tool], script: [cut, say()] }).play();
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant read#a, read#b"],
      ...["error a not_executed: response_truncated", "error b not_executed: response_truncated", "assistant done"],
    ]);
    expect([endOf(played), runs.length, played.result.toolCalls]).toEqual(["completed by noCalls", 0, 0]);
  });

  it.each([
    ["error", "response_failed"],
    ["aborted", "response_aborted"],
  ] as const)(
    "RUN-1: after one that ended %s the run ends, every call answered and none run",
    async (stopReason, why) => {
      const { tool, runs } = recordingTool();
      const { play, requests } = openAgentBench({
        tools: [tool],
        script: [{ ...ask("read"), stopReason, errorMessage: "overloaded" }, say()],
      });
      const played = await play();
      expect(linesOf(played.result.messages)).toEqual([
        "user go",
        "assistant read#read",
        `error read not_executed: ${why}`,
      ]);
      expect(endOf(played)).toBe("providerError by modelError");
      expect(played.result.error?.message).toBe("overloaded");
      expect([runs.length, requests.length]).toEqual([0, 1]);
    },
  );

  it("RUN-1: one that ended in an error without words still has an error", async () => {
    const played = await openAgentBench({ script: [{ content: [], stopReason: "error" }] }).play();
    expect(endOf(played)).toBe("providerError by modelError");
    expect(played.result.error?.message).toBe('The model\'s response ended with "error".');
  });
});
