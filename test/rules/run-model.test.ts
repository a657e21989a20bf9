import type { Delta, ModelContext, ModelProvider, ModelResponse } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, endOf, linesOf, loopStory, openAgentBench, say } from "../support/agent-bench.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

/** A model that does what a test says; its answer is nobody's to trust. */
function modelOf(generate: (context: ModelContext) => unknown): ModelProvider {
  return { generate: (_request, context) => generate(context) as Promise<ModelResponse> };
}

/** What a run with this model comes to, after one good turn, with something queued. */
async function playBad(generate: (context: ModelContext) => unknown) {
  let turn = 0;
  const model = modelOf((context) => {
    turn += 1;
    return turn === 1 ? Promise.resolve(ask("read")) : generate(context);
  });
  const bench = openAgentBench({ model });
  const { run, finish } = bench.start();
  run.followUp("later");
  const played = await finish();
  expect(findTranscriptFaults(played.result.messages)).toEqual([]);
  expect(linesOf(played.result.undelivered)).toEqual(["user later"]);
  expect(eventsOf(played.events, "runFaulted")).toEqual([]);
  expect(bench.pendingTimers()).toBe(0);
  return played;
}

const text = (value: string) => ({ type: "text", text: value });
const good = { content: [text("x")], stopReason: "stop" };

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("a model that fails", () => {
  const overloaded = new Error("overloaded");
  it.each<readonly [string, () => unknown]>([
    [
      "throws",
      () => {
        throw overloaded;
      },
    ],
    ["rejects", () => Promise.reject(overloaded)],
    ["rejects after a while", async () => Promise.resolve().then(() => Promise.reject(overloaded))],
  ])("RUN-1: and %s ends the run providerError with its error", async (_what, generate) => {
    const played = await playBad(generate);
    expect(endOf(played)).toBe("providerError by modelError");
    expect(played.result.error).toBe(overloaded);
    expect(played.events.at(-1)).toMatchObject({ kind: "runEnded", status: "providerError", endedBy: "modelError" });
  });

  it.each<readonly [string, unknown]>([
    ["a text", "overloaded"],
    ["undefined", undefined],
    ["null", null],
    ["an object", { status: 529 }],
    ["a revoked proxy", revoked()],
    ["an object without a prototype", Object.create(null)],
  ])("RUN-1: and throws %s ends it with an error that holds what was thrown", async (_what, thrown) => {
    const played = await playBad(() => Promise.reject(thrown));
    expect(endOf(played)).toBe("providerError by modelError");
    expect(played.result.error).toBeInstanceOf(Error);
    expect(played.result.error?.message).toBe("The model provider threw a value that is no Error.");
    expect(Object.is(played.result.error?.cause, thrown)).toBe(true);
  });

  it("RUN-1: and answers a thenable that throws ends it likewise", async () => {
    // biome-ignore lint/suspicious/noThenProperty: a promise that misbehaves is what is tested
    const played = await playBad(() => ({ then: () => thrower(overloaded) }));
    expect([endOf(played), played.result.error]).toEqual(["providerError by modelError", overloaded]);
  });

  it("RUN-1: keeps what the run did before", async () => {
    const played = await playBad(() => Promise.reject(overloaded));
    expect(linesOf(played.result.messages)).toEqual(["user go", "assistant read#read", "result read ok"]);
    expect([played.result.turns, played.result.toolCalls]).toEqual([2, 1]);
  });
});

function thrower(error: Error): never {
  throw error;
}

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

describe("a model that answers nonsense", () => {
  it.each<readonly [string, unknown, string]>([
    ["undefined", undefined, "it is no object"],
    ["null", null, "it is no object"],
    ["a text", "hello", "it is no object"],
    ["a list", [good], "it is no object"],
    ["an empty object", {}, "content is no list"],
    ["content that is a text", { ...good, content: "hello" }, "content is no list"],
    [
      "a part that is null",
      { ...good, content: [text("a"), null] },
      "content[1] is no text, reasoning or toolCall part",
    ],
    ["a hole for a part", { ...good, content: new Array(1) }, "content[0] is no text, reasoning or toolCall part"],
    [
      "a part of another type",
      { ...good, content: [{ type: "image" }] },
      "content[0] is no text, reasoning or toolCall part",
    ],
    [
      "a text without text",
      { ...good, content: [{ type: "text" }] },
      "content[0] is no text, reasoning or toolCall part",
    ],
    [
      "a call without a name",
      { ...good, content: [{ type: "toolCall", id: "a" }] },
      "content[0] is no text, reasoning or toolCall part",
    ],
    [
      "a call with a number for an id",
      { ...good, content: [{ type: "toolCall", id: 7, name: "read" }] },
      "content[0] is no text, reasoning or toolCall part",
    ],
    [
      "arguments that are a function",
      { ...good, content: [{ type: "toolCall", id: "a", name: "read", arguments: () => 1 }] },
      "content[0] is no text, reasoning or toolCall part",
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
    ["no stop reason", { content: [] }, "stopReason is none of stop, toolUse, length, error, aborted"],
    [
      "a provider's own stop reason",
      { ...good, stopReason: "end_turn" },
      "stopReason is none of stop, toolUse, length, error, aborted",
    ],
    ["usage that is a number", { ...good, usage: 5 }, "usage holds no token counts"],
    ["usage without a total", { ...good, usage: { inputTokens: 1, outputTokens: 1 } }, "usage holds no token counts"],
    [
      "usage that is not a number",
      { ...good, usage: { inputTokens: 1, outputTokens: 1, totalTokens: Number.NaN } },
      "usage holds no token counts",
    ],
    ...["5", null, true, [5], Number.POSITIVE_INFINITY].map(
      (totalTokens) =>
        [
          `usage with a total of ${JSON.stringify(totalTokens)}`,
          { ...good, usage: { inputTokens: 1, outputTokens: 1, totalTokens } },
          "usage holds no token counts",
        ] as const,
    ),
    [
      "usage below nothing",
      { ...good, usage: { inputTokens: 1, outputTokens: 1, totalTokens: -5 } },
      "usage holds no token counts",
    ],
    [
      "content that throws when it is read",
      Object.defineProperty({ stopReason: "stop" }, "content", { get: () => thrower(new Error("hunter2")) }),
      "it cannot be read",
    ],
  ])("RUN-1: %s ends the run providerError, invalidResponse, and says where", async (_what, answer, fault) => {
    const played = await playBad(async () => answer);
    expect(endOf(played)).toBe("providerError by invalidResponse");
    expect(played.result.error?.message).toBe(`The model provider gave a response of an unknown form: ${fault}.`);
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

  it.each<readonly [string, unknown, unknown, string]>([
    ["undefined", undefined, "", "result a ok"],
    ["null", null, "", "result a ok"],
    ["blank text", " \n", " \n", "result a ok"],
    ["an object", { path: "a" }, { path: "a" }, "result a ok"],
    ["a number", 5, "5", "error a invalid_arguments"],
    ["a list", [1], "[1]", "error a invalid_arguments"],
    ["true", true, "true", "error a invalid_arguments"],
    ["a number that is none", Number.NaN, "null", "error a invalid_arguments"],
    ["text that is no JSON", "{path", "{path", "error a invalid_arguments"],
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

describe("what a model streams", () => {
  it("RUN-1: is told of as it comes, behind one messageStarted, before the message", async () => {
    const deltas: Delta[] = [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "I " },
      { type: "text", text: "read" },
      { type: "toolCall", id: "a", name: "read" },
      { type: "toolCall", id: "a", argumentsText: "{}" },
    ];
    let turn = 0;
    const model = modelOf(async ({ emit }) => {
      turn += 1;
      if (turn > 1) return say();
      for (const delta of deltas) {
        emit(delta);
        await Promise.resolve();
      }
      return ask("read");
    });
    const { events } = await openAgentBench({ model }).play();
    expect(eventsOf(events, "messageUpdated").map(({ delta }) => delta)).toEqual(deltas);
    expect(loopStory(events).slice(3, 11)).toEqual([
      ...["modelRequestStarted", "messageStarted", ...deltas.map(() => "messageUpdated"), "messageEnded assistant"],
    ]);
  });

  it("RUN-1: is not told of where it is no delta, and still shows that the model lives", async () => {
    const nonsense: unknown[] = [
      ...[
        undefined,
        null,
        "text",
        5,
        [],
        {},
        { type: "text" },
        { type: "text", text: 5 },
        { type: "image", text: "x" },
      ],
      ...[
        { type: "toolCall" },
        { type: "toolCall", id: 5 },
        revoked(),
        {
          get type() {
            return thrower(new Error("x"));
          },
        },
      ],
    ];
    let context: ModelContext | undefined;
    let answer: (response: ModelResponse) => void = () => undefined;
    const model = modelOf((given) => {
      context = given;
      return new Promise<ModelResponse>((resolve) => {
        answer = resolve;
      });
    });
    const bench = openAgentBench({ model, limits: { modelTimeoutMs: 100 } });
    const { events, finish } = bench.start();
    await bench.advance();
    for (const delta of nonsense) {
      await bench.advance(99);
      context?.emit(delta as Delta);
    }
    context?.emit({ type: "text", text: "x", extra: 1 } as never);
    context?.emit({ type: "toolCall", id: "a", name: 5, argumentsText: "{" } as never);
    answer(say());
    expect(endOf(await finish())).toBe("completed by noCalls");
    expect(eventsOf(events, "messageUpdated").map(({ delta }) => delta)).toEqual([
      { type: "text", text: "x" },
      { type: "toolCall", id: "a", argumentsText: "{" },
    ]);
  });

  it("RUN-4: after its response, or after the run, is dropped", async () => {
    const contexts: ModelContext[] = [];
    const model = modelOf(async (context) => {
      contexts[0]?.emit({ type: "text", text: "late" });
      contexts.push(context);
      return contexts.length === 1 ? ask("read") : say();
    });
    const bench = openAgentBench({ model });
    const { events, finish } = bench.start();
    await finish();
    for (const { emit } of contexts) emit({ type: "text", text: "later" });
    await bench.advance();
    expect(eventsOf(events, "messageUpdated")).toEqual([]);
    expect(events.at(-1)?.kind).toBe("runEnded");
  });

  it("RUN-1: by a model that then fails leaves no message", async () => {
    const played = await playBad(async ({ emit }) => {
      emit({ type: "text", text: "I was about" });
      throw new Error("connection lost");
    });
    expect(endOf(played)).toBe("providerError by modelError");
    expect(played.result.messages.at(-1)?.role).toBe("toolResult");
    expect(eventsOf(played.events, "messageUpdated")).toHaveLength(1);
  });
});

describe("the time of a model", () => {
  const hanging = () => {
    const contexts: ModelContext[] = [];
    const model = modelOf((context) => {
      contexts.push(context);
      return new Promise(() => undefined);
    });
    return { model, contexts };
  };

  it.each([
    ["limits.modelTimeoutMs", {}, 120_000],
    ["the host's own", { modelTimeoutMs: 1 }, 1],
  ])("RUN-1: is bounded by %s; past it the run ends providerError, modelTimeout", async (_what, limits, timeoutMs) => {
    const { model, contexts } = hanging();
    const bench = openAgentBench({ model, limits });
    const { run, finish } = bench.start();
    await bench.advance(timeoutMs - 1);
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([false]);
    run.steer("s");
    await bench.advance(1);
    const played = await finish();
    expect(endOf(played)).toBe("providerError by modelTimeout");
    expect(played.result.error?.message).toBe(`The model sent nothing for ${timeoutMs} ms (limits.modelTimeoutMs).`);
    expect(contexts[0]?.signal.reason).toMatchObject({ name: "TimeoutError" });
    expect(linesOf(played.result.undelivered)).toEqual(["user s"]);
    expect(bench.pendingTimers()).toBe(0);
  });

  it("RUN-1: begins anew with every streamed part", async () => {
    const { model, contexts } = hanging();
    const bench = openAgentBench({ model, limits: { modelTimeoutMs: 100 } });
    const { events, finish } = bench.start();
    for (const waited of [99, 99, 50, 99]) {
      await bench.advance(waited);
      contexts[0]?.emit({ type: "text", text: "." });
    }
    await bench.advance(99);
    expect(events.at(-1)?.kind).toBe("messageUpdated");
    await bench.advance(1);
    expect(endOf(await finish())).toBe("providerError by modelTimeout");
  });

  it("RUN-1: is each request's own", async () => {
    let turn = 0;
    const simulatedWait: (() => void)[] = [];
    const model = modelOf(
      () =>
        new Promise<ModelResponse>((resolve) => {
          turn += 1;
          simulatedWait.push(() => resolve(turn === 3 ? say() : ask("read")));
        }),
    );
    const bench = openAgentBench({ model, limits: { modelTimeoutMs: 100 } });
    const { finish } = bench.start();
    for (const request of [0, 1, 2]) {
      await bench.advance(99);
      simulatedWait[request]?.();
      await bench.advance();
    }
    expect(endOf(await finish())).toBe("completed by noCalls");
  });

  it("RUN-1: over, an answer and a failure that come late change nothing", async () => {
    for (const isFailure of [true, false]) {
      let settle: () => void = () => undefined;
      const { tool, runs } = recordingTool();
      const model = modelOf(
        () =>
          new Promise((resolve, reject) => {
            settle = () => (isFailure ? reject(new Error("late")) : resolve(ask("read")));
          }),
      );
      const bench = openAgentBench({ model, tools: [tool], limits: { modelTimeoutMs: 10 } });
      const { events, finish } = bench.start();
      await bench.advance(10);
      settle();
      await bench.advance(10);
      const played = await finish();
      expect([endOf(played), linesOf(played.result.messages), runs]).toEqual([
        ...["providerError by modelTimeout", ["user go"], []],
      ]);
      expect(events.at(-1)?.kind).toBe("runEnded");
    }
  });

  it("RUN-1: does not run while a batch does", async () => {
    const bench = openAgentBench({
      script: [ask("read"), say()],
      limits: { modelTimeoutMs: 10 },
      hooks: {
        afterToolCall: {
          run: () => new Promise<undefined>((resolve) => releases.push(() => resolve(undefined))),
          timeoutMs: null,
        },
      },
    });
    const releases: (() => void)[] = [];
    const { finish } = bench.start();
    await bench.advance(1_000);
    releases[0]?.();
    expect(endOf(await finish())).toBe("completed by noCalls");
  });
});
