import type { AssistantPart, Message, ModelProvider, ModelRequest, ModelResponse } from "toolkernel";
import { scriptedModel } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

/** The ids of all calls of a transcript, in order. */
function idsOf(messages: readonly Message[]): string[] {
  return messages.flatMap((message) =>
    message.role === "assistant" ? message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : [])) : [],
  );
}

/** Plays responses and a last word; the transcript must be one that a provider takes. */
async function playIds(...script: readonly ModelResponse[]) {
  const { tool, runs } = recordingTool();
  const played = await openAgentBench({
    tools: [tool],
    script: [...script, say()],
    limits: { exactToolRepeatTerminationThreshold: 0 },
  }).play();
  expect(findTranscriptFaults(played.result.messages)).toEqual([]);
  expect(endOf(played)).toBe("completed by noCalls");
  return { ...played, runs, ids: idsOf(played.result.messages) };
}

/** A call with an id, or with what a provider may send in the place of one. */
const id = (value: unknown): AssistantPart => ({
  type: "toolCall",
  id: value as string,
  name: "read",
  arguments: "{}",
});

describe("call ids in the transcript", () => {
  it("RUN-5, C57: a missing, empty or written-out missing id is given, each its own", async () => {
    const { ids, runs } = await playIds(ask(id(undefined), id(null), id(""), id(" "), id("undefined"), id("kept")));
    expect(ids).toEqual(["call_1_0", "call_1_1", "call_1_2", "call_1_3", "call_1_4", "kept"]);
    expect(runs).toHaveLength(6);
  });

  it("RUN-5: an id that an earlier turn had is replaced, in the response and in its result", async () => {
    const { result, runs, events } = await playIds(
      ask(callPart("read", "a", { n: 1 })),
      ask(callPart("read", "a", { n: 2 })),
    );
    expect(linesOf(result.messages)).toEqual([
      ...["user go", "assistant read#a", "result a ok", "assistant read#call_2_0", "result call_2_0 ok"],
      "assistant done",
    ]);
    expect(runs).toEqual([{ n: 1 }, { n: 2 }]);
    expect(eventsOf(events, "toolEnded").map(({ callId }) => callId)).toEqual(["a", "call_2_0"]);
  });

  it("RUN-5: an id that the messages before the run had is replaced too", async () => {
    const earlier = (await openAgentBench({ script: [ask(id("a")), say()] }).play()).result.messages;
    const next = openAgentBench({ script: [ask(id("a"), id("b")), say()] });
    const { result } = await next.play([...earlier, { role: "user", content: "again" }]);
    expect(idsOf(result.messages)).toEqual(["a", "call_1_0", "b"]);
    expect(findTranscriptFaults(result.messages)).toEqual([]);
  });

  it("RUN-5: one id for two calls of a response refuses it whole, and the transcript still tells them apart", async () => {
    const { result, runs } = await playIds(ask(id("a"), id("a"), id("b")));
    expect(linesOf(result.messages).slice(1, 5)).toEqual([
      "assistant read#a, read#call_1_1, read#b",
      ...["a", "call_1_1", "b"].map((each) => `error ${each} not_executed: duplicate_ids`),
    ]);
    expect(runs).toEqual([]);
  });

  it("RUN-5: a given id never meets one that the model chose, whichever comes first", async () => {
    const { ids } = await playIds(
      ask(id("call_2_0"), id("call_1_2"), id("")),
      ask(id(""), id("call_2_0"), id("call_2_1")),
      ask(id("call_3_1"), id("call_2_0")),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.slice(0, 2)).toEqual(["call_2_0", "call_1_2"]);
  });

  it.each(["__proto__", "constructor", "toString", "a b", "ü\u0001"])(
    "RUN-5: %j is an id like any other",
    async (given) => {
      const { ids, runs } = await playIds(ask(id(given)), ask(id(given)));
      expect([ids, runs.length]).toEqual([[given, "call_2_0"], 2]);
    },
  );

  it("RUN-5: the parts of a response stay in their order, with what the provider wants echoed", async () => {
    const content: readonly AssistantPart[] = [
      { type: "reasoning", text: "hm", providerData: { signature: "s" } },
      { ...callPart("read", "a"), providerData: { thoughtSignature: "t" } } as AssistantPart,
      { type: "text", text: "and" },
      { ...callPart("read", ""), providerData: { thoughtSignature: "u" } } as AssistantPart,
    ];
    const { result } = await playIds({ content, stopReason: "toolUse" });
    expect(result.messages[1]).toEqual({
      role: "assistant",
      content: [...content.slice(0, 3), { ...content[3], id: "call_1_1" }],
      stopReason: "toolUse",
    });
    expect(result.messages.slice(2, 4)).toMatchObject([
      { callId: "a", callIndex: 0, providerData: { thoughtSignature: "t" } },
      { callId: "call_1_1", callIndex: 1, providerData: { thoughtSignature: "u" } },
    ]);
  });
});

describe("results in the transcript", () => {
  it("RUN-5, C60: every call has one, in source order, whatever became of it", async () => {
    const { tool: read } = recordingTool();
    const broken = {
      ...recordingTool({ name: "broken" }).tool,
      execute: () => {
        throw new Error("boom");
      },
    };
    const bench = openAgentBench({
      tools: [read, broken],
      toolExecution: "parallel",
      script: [
        ask(callPart("broken", "a"), callPart("read", "b"), callPart("nope", "c"), callPart("read", "d", "[")),
        say(),
      ],
    });
    const { result } = await bench.play();
    expect(linesOf(result.messages).slice(2, 6)).toEqual([
      ...["error a boom", "result b ok", "error c unknown_tool", "error d invalid_arguments"],
    ]);
    expect(findTranscriptFaults(result.messages)).toEqual([]);
  });

  it("RUN-5: an advisory stands behind the results of its batch", async () => {
    const { result } = await playIds(ask(id("a"), id("b"), id("c"), id("d")));
    expect(result.messages.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "toolResult", "toolResult", "toolResult", "toolResult", "policy", "assistant"],
    ]);
  });

  it("RUN-5: an empty response leaves no message", async () => {
    const bench = openAgentBench({ script: [{ content: [], stopReason: "length" }, say()] });
    const { run, finish } = bench.start();
    run.followUp("go on");
    const { result } = await finish();
    expect(linesOf(result.messages)).toEqual(["user go", "user go on", "assistant done"]);
  });
});

describe("the transcript that a host holds", () => {
  it("RUN-5: is its own: changing the lists of a result changes no run that goes on", async () => {
    const hooks = { authorizeToolCall: () => ({ ask: {} }) };
    const bench = openAgentBench({ script: [ask("read"), say()], hooks });
    const { result } = await bench.play();
    (result.messages as Message[]).length = 0;
    (result.newMessages as Message[]).push({ role: "user", content: "forged" });
    const done = await bench.resume("run", { blockOthers: true }).finish();
    expect(linesOf(done.result.messages)).toEqual([
      ...["user go", "assistant read#read", "error read not_executed: no", "assistant done"],
    ]);
    expect(done.result.newMessages).toEqual(done.result.messages);
  });

  it("RUN-1: a request holds the messages of its turn, whenever they are read, and keeps them when it is copied", async () => {
    const requests: ModelRequest[] = [];
    const script = scriptedModel([ask("read"), say()]);
    const model: ModelProvider = {
      generate: (request, context) => {
        requests.push(request, { ...request });
        return script.generate(request, context);
      },
    };
    const { result } = await openAgentBench({ model }).play();
    const first = ["user go"];
    const second = [...first, "assistant read#read", "result read ok"];
    expect(requests.map(({ messages }) => linesOf(messages))).toEqual([first, first, second, second]);
    (requests[2]?.messages as Message[]).length = 0;
    expect(linesOf(result.messages)).toEqual([...second, "assistant done"]);
  });

  it("RUN-5: is not the list that the run was given", async () => {
    const given: Message[] = [{ role: "user", content: "go" }];
    const { finish } = openAgentBench({ script: [say()] }).start(given);
    given.push({ role: "user", content: "more" });
    const { result } = await finish();
    expect([linesOf(result.messages), given.length]).toEqual([["user go", "assistant done"], 2]);
  });
});
