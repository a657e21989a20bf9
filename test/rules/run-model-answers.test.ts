import { describe, expect, it } from "vitest";
import { endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { modelOf, playBad, text, thrower } from "../support/run-model-scene.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

const good = { content: [text("x")], stopReason: "stop" };

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

describe("a model that answers nonsense", () => {
  it.each<readonly [string, unknown, string]>([
    ["undefined", undefined, "it is not an object"],
    ["null", null, "it is not an object"],
    ["a text", "hello", "it is not an object"],
    ["a list", [good], "it is not an object"],
    ["an empty object", {}, "content is not an array"],
    ["content that is a text", { ...good, content: "hello" }, "content is not an array"],
    [
      "a part that is null",
      { ...good, content: [text("a"), null] },
      "content[1] is not a text, reasoning or toolCall part",
    ],
    ["a hole for a part", { ...good, content: new Array(1) }, "content[0] is not a text, reasoning or toolCall part"],
    [
      "a part of another type",
      { ...good, content: [{ type: "image" }] },
      "content[0] is not a text, reasoning or toolCall part",
    ],
    [
      "a text without text",
      { ...good, content: [{ type: "text" }] },
      "content[0] is not a text, reasoning or toolCall part",
    ],
    [
      "a call without a name",
      { ...good, content: [{ type: "toolCall", id: "a" }] },
      "content[0] is not a text, reasoning or toolCall part",
    ],
    [
      "a call with a number for an id",
      { ...good, content: [{ type: "toolCall", id: 7, name: "read" }] },
      "content[0] is not a text, reasoning or toolCall part",
    ],
    [
      "arguments that are a function",
      { ...good, content: [{ type: "toolCall", id: "a", name: "read", arguments: () => 1 }] },
      "content[0] is not a text, reasoning or toolCall part",
    ],
    [
      "arguments that hold themselves",
      { ...good, content: [{ type: "toolCall", id: "a", name: "read", arguments: cyclic }] },
      "it cannot be read",
    ],
    [
      "arguments that hold a BigInt",
      { ...good, content: [{ type: "toolCall", id: "a", name: "read", arguments: { n: 1n } }] },
      "it cannot be read",
    ],
    ["no stop reason", { content: [] }, "stopReason is not one of stop, toolUse, length, error, aborted"],
    [
      "a provider's own stop reason",
      { ...good, stopReason: "end_turn" },
      "stopReason is not one of stop, toolUse, length, error, aborted",
    ],
    ["usage that is a number", { ...good, usage: 5 }, "usage has no token counts"],
    ["usage without a total", { ...good, usage: { inputTokens: 1, outputTokens: 1 } }, "usage has no token counts"],
    [
      "usage that is not a number",
      { ...good, usage: { inputTokens: 1, outputTokens: 1, totalTokens: Number.NaN } },
      "usage has no token counts",
    ],
    ...["5", null, true, [5], Number.POSITIVE_INFINITY].map(
      (totalTokens) =>
        [
          `usage with a total of ${JSON.stringify(totalTokens)}`,
          { ...good, usage: { inputTokens: 1, outputTokens: 1, totalTokens } },
          "usage has no token counts",
        ] as const,
    ),
    [
      "usage below nothing",
      { ...good, usage: { inputTokens: 1, outputTokens: 1, totalTokens: -5 } },
      "usage has no token counts",
    ],
    [
      "content that throws when it is read",
      Object.defineProperty({ stopReason: "stop" }, "content", { get: () => thrower(new Error("hunter2")) }),
      "it cannot be read",
    ],
  ])("RUN-1: %s ends the run providerError, invalidResponse, and says where", async (_what, answer, fault) => {
    const played = await playBad(async () => answer);
    expect(endOf(played)).toBe("providerError by invalidResponse");
    expect(played.result.error?.message).toBe(`The model provider returned a response of an unknown form: ${fault}.`);
    expect(linesOf(played.result.messages)).toEqual(["user go", "assistant read#read", "result read ok"]);
  });

  it("RUN-1: what is no promise but an answer is an answer", async () => {
    expect(endOf(await openAgentBench({ model: modelOf(() => say()) }).play())).toBe("completed by noCalls");
  });

  it("RUN-1: fields that nobody knows are dropped, and an undefined usage is none", async () => {
    const answer = { content: [{ ...text("x"), mood: "good" }], stopReason: "stop", usage: undefined, extra: 1 };
    const { result } = await openAgentBench({ model: modelOf(() => answer) }).play();
    expect(result.messages.at(-1)).toEqual({ role: "assistant", content: [text("x")], stopReason: "stop" });
  });

  it("RUN-1: what a provider wants echoed is kept: reasoning and calls with their providerData, usage", async () => {
    const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
    const content = [
      { type: "reasoning", text: "hm", providerData: { signature: "s" } },
      text("x"),
      { type: "toolCall", id: "a", name: "read", arguments: { path: "a" }, providerData: { thoughtSignature: "t" } },
    ];
    const answers: unknown[] = [{ content, stopReason: "toolUse", usage }, say()];
    const { result } = await openAgentBench({ model: modelOf(() => answers.shift()) }).play();
    expect(result.messages[1]).toEqual({ role: "assistant", content, stopReason: "toolUse", usage });
    expect(result.messages[2]).toMatchObject({ callId: "a", providerData: { thoughtSignature: "t" } });
  });

  it.each<readonly [string, object]>([
    ["a cycle", cyclic],
    ["a BigInt", { n: 1n }],
    [
      "what throws when it is read",
      {
        get n() {
          return thrower(new Error("hunter2"));
        },
      },
    ],
  ])("RUN-5: opaque data with %s is left out, since no transcript could hold it", async (_what, providerData) => {
    const content = [
      { type: "reasoning", text: "hm", providerData },
      { type: "toolCall", id: "a", name: "read", arguments: {}, providerData },
    ];
    const answers: unknown[] = [{ content, stopReason: "toolUse" }, say()];
    const { result } = await openAgentBench({ model: modelOf(() => answers.shift()) }).play();
    expect(JSON.parse(JSON.stringify(result.messages[1]))).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "toolCall", id: "a", name: "read", arguments: {} },
      ],
      stopReason: "toolUse",
    });
    expect(result.messages[2]).not.toHaveProperty("providerData");
  });

  it.each<readonly [string, unknown, unknown, string]>([
    ["undefined", undefined, "", "result a ok"],
    ["null", null, "", "result a ok"],
    ["blank text", " \n", " \n", "result a ok"],
    ["an object", { path: "a" }, { path: "a" }, "result a ok"],
    ["a number", 5, "5", "error a invalid_arguments"],
    ["a list", [1], "[1]", "error a invalid_arguments"],
    ["true", true, "true", "error a invalid_arguments"],
    ["a number that is none", Number.NaN, "null", "error a invalid_arguments"],
    ["text that is not JSON", "{path", "{path", "error a invalid_arguments"],
  ])(
    "RUN-5: arguments that are %s leave the transcript fit to be sent, and concern their call alone",
    async (_what, given, kept, line) => {
      const call = (id: string, draft: unknown) => ({ type: "toolCall", id, name: "read", arguments: draft });
      const answers: unknown[] = [{ content: [call("a", given), call("b", "{}")], stopReason: "toolUse" }, say()];
      const { result } = await openAgentBench({ model: modelOf(() => answers.shift()) }).play();
      expect(findTranscriptFaults(result.messages)).toEqual([]);
      expect(result.messages[1]).toMatchObject({ content: [{ arguments: kept }, { arguments: "{}" }] });
      expect(linesOf(result.messages).slice(2)).toEqual([line, "result b ok", "assistant done"]);
    },
  );
});
