import { Agent, KernelError, type Message, type Run, type ToolResultMessage } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, followRun, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { recordingTool } from "../support/run-calls.ts";

/** How a misuse ends: its code and subject, with the one event that tells of it. */
async function misuseOf(run: Run): Promise<unknown> {
  const { result, events } = await followRun(run).finish();
  const { error, performance: _figures, ...rest } = result;
  expect(rest).toEqual({
    runId: run.runId,
    status: "kernelError",
    messages: [],
    newMessages: [],
    undelivered: [],
    turns: 0,
    toolCalls: 0,
  });
  const code = error instanceof KernelError ? error.code : "none";
  expect(events).toMatchObject([
    { kind: "runFaulted", seq: 0, turn: 0, runId: run.runId, code },
    { kind: "runEnded", seq: 1, turn: 0, runId: run.runId, status: "kernelError" },
  ]);
  return `${code} ${error instanceof KernelError ? error.subject : String(error)}`;
}

const user: Message = { role: "user", content: "go" };
const called: Message = { role: "assistant", content: [callPart("read", "a")], stopReason: "toolUse" };
const answered = (callId: string): ToolResultMessage => ({
  role: "toolResult",
  callId,
  toolName: "read",
  callIndex: 0,
  content: [{ type: "text", text: "ok" }],
  isError: false,
  outcomeUncertain: false,
  terminate: false,
});
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const throwing = (name: string): object =>
  Object.defineProperty({}, name, {
    enumerable: true,
    get: () => {
      throw new Error("hunter2");
    },
  });

describe("a prompt of another shape", () => {
  it.each<readonly [string, unknown, string]>([
    ["undefined", undefined, "messages"],
    ["null", null, "messages"],
    ["a number", 5, "messages"],
    ["a message instead of a list", user, "messages"],
    ["an array of strings", ["go"], "messages[0]"],
    ["a null among messages", [user, null], "messages[1]"],
    ["a hole among messages", Object.assign(new Array(2), { 1: user }), "messages[0]"],
    ["a list in a list", [[user]], "messages[0]"],
    ["an unknown role", [{ role: "system", content: "x" }], "messages[0]"],
    ["no role", [{ content: "x" }], "messages[0]"],
    ["a role of the prototype", [{ role: "constructor", content: "x" }], "messages[0]"],
    ["no content", [{ role: "user" }], "messages[0]"],
    ["content that is a number", [{ role: "user", content: 5 }], "messages[0]"],
    ["a part that is null", [{ role: "user", content: [null] }], "messages[0]"],
    ["a part that is a text", [{ role: "user", content: ["go"] }], "messages[0]"],
    ["a part without its field", [{ role: "user", content: [{ type: "text" }] }], "messages[0]"],
    ["a part of an unknown type", [{ role: "user", content: [{ type: "__proto__" }] }], "messages[0]"],
    ["an image without data", [{ role: "user", content: [{ type: "image", mediaType: "image/png" }] }], "messages[0]"],
    ["an assistant that says a text", [{ role: "assistant", content: "hi" }], "messages[0]"],
    ["an assistant's part that is null", [{ role: "assistant", content: [null] }], "messages[0]"],
    [
      "a call without an id",
      [{ role: "assistant", content: [{ type: "toolCall", name: "a", arguments: "{}" }] }],
      "messages[0]",
    ],
    [
      "a call without arguments",
      [{ role: "assistant", content: [{ type: "toolCall", id: "a", name: "a" }] }],
      "messages[0]",
    ],
    [
      "an image of an assistant",
      [{ role: "assistant", content: [{ type: "image", mediaType: "a", data: "" }] }],
      "messages[0]",
    ],
    ["a result without an id", [user, called, { ...answered("a"), callId: undefined }], "messages[2]"],
    ["a result that is a text", [user, called, { ...answered("a"), content: "ok" }], "messages[2]"],
    ["a policy with parts", [{ role: "policy", content: [] }], "messages[0]"],
    ["a call without a result", [user, called], "messages"],
    ["a message between call and result", [user, called, user, answered("a")], "messages[2]"],
    ["a result without a call", [user, answered("a")], "messages[1]"],
    ["a result twice", [user, called, answered("a"), answered("a")], "messages[3]"],
    ["the result of another call", [user, called, answered("b")], "messages[2]"],
    ["a result before its call", [answered("a"), called], "messages[0]"],
    [
      "results in another order",
      [user, { ...called, content: [callPart("read", "a"), callPart("read", "b")] }, answered("b"), answered("a")],
      "messages[2]",
    ],
  ])("RUN-5: %s starts nothing and is named", async (_what, prompt, subject) => {
    const bench = openAgentBench({ script: [say()] });
    expect(await misuseOf(bench.agent.run(prompt as never))).toBe(`INVALID_OPTIONS ${subject}`);
    expect(bench.requests).toEqual([]);
  });

  it.each<readonly [string, () => unknown]>([
    ["a revoked proxy", revoked],
    ["messages that are one", () => [revoked()]],
    ["a message that throws when it is read", () => [throwing("role")]],
    ["a part that throws when it is read", () => [{ role: "user", content: [throwing("type")] }]],
  ])("RUN-5: %s starts nothing, throws nothing and shows nothing of it", async (_what, make) => {
    const bench = openAgentBench({ script: [say()] });
    const { result } = await followRun(bench.agent.run(make() as never)).finish();
    expect([result.status, result.error]).toMatchObject(["kernelError", { code: "INVALID_OPTIONS" }]);
    expect(result.error?.message).not.toContain("hunter2");
  });

  it("RUN-1: every kind of part and message that there is, is taken", async () => {
    const content = [
      { type: "text", text: "see" },
      { type: "json", value: null },
      { type: "image", mediaType: "image/png", data: "" },
      { type: "audio", mediaType: "audio/wav", data: "", name: "a.wav" },
      { type: "file", mediaType: "text/plain", data: "aGk=" },
      { type: "resource", uri: "file:a", text: "a", mediaType: "text/plain" },
    ] as const;
    const transcript: Message[] = [
      { role: "user", content },
      {
        role: "assistant",
        content: [{ type: "reasoning", text: "" }, { type: "text", text: "" }, callPart("read", "a", { n: 1 })],
        stopReason: "toolUse",
      },
      { ...answered("a"), content },
      { role: "policy", policy: "agent_policy", content: "mind", audience: "internal" },
      { role: "user", content: "go" },
    ];
    const bench = openAgentBench({ script: [say()] });
    expect(endOf(await bench.play(transcript))).toBe("completed by noCalls");
    expect(bench.requests[0]?.messages).toEqual(transcript);
  });

  it("RUN-1: an empty list asks the model about nothing", async () => {
    const bench = openAgentBench({ script: [say()] });
    expect(linesOf((await bench.play([])).result.messages)).toEqual(["assistant done"]);
  });
});

describe("misuse of run", () => {
  it.each<readonly [string, unknown, string]>([
    ["options that are null", null, "options"],
    ["options that are a list", [], "options"],
    ["an unknown option", { singal: undefined }, "singal"],
    ["a signal that is none", { signal: {} }, "signal"],
    ["an empty id", { runId: "" }, "runId"],
    ["an id that is a number", { runId: 5 }, "runId"],
    ["an id that is too long", { runId: "x".repeat(513) }, "runId"],
    ["an id with a lone surrogate", { runId: "\ud800" }, "runId"],
    ["an id with NUL", { runId: "a\u0000b" }, "runId"],
  ])("RUN-4: %s is named in the result, and starts nothing", async (_what, options, subject) => {
    const bench = openAgentBench({ script: [say()] });
    expect(await misuseOf(bench.agent.run("go", options as never))).toBe(`INVALID_OPTIONS ${subject}`);
    expect(bench.requests).toEqual([]);
  });

  it.each<readonly [string, () => unknown]>([
    ["a revoked proxy", revoked],
    ["an id that throws when it is read", () => throwing("runId")],
    ["a signal that throws when it is read", () => throwing("signal")],
  ])("RUN-4: options that are %s throw nothing", async (_what, make) => {
    const { result } = await followRun(openAgentBench().agent.run("go", make() as never)).finish();
    expect([result.status, result.error]).toMatchObject(["kernelError", { code: "INVALID_OPTIONS" }]);
  });

  it("RUN-4: of two runs with one id the first goes on, and the second is RUN_CLAIMED", async () => {
    const bench = openAgentBench({ script: [ask("read"), say()] });
    const first = bench.start();
    expect(await misuseOf(bench.agent.run("go", { runId: "run" }))).toBe("RUN_CLAIMED runId");
    expect(endOf(await first.finish())).toBe("completed by noCalls");
  });

  it("RUN-4: the id of a run that waits for approvals is taken as well", async () => {
    const bench = openAgentBench({ script: [ask("read"), say()], hooks: { authorizeToolCall: () => ({ ask: {} }) } });
    await bench.play();
    expect(await misuseOf(bench.agent.run("go", { runId: "run" }))).toBe("RUN_CLAIMED runId");
    expect(endOf(await bench.resume("run", { blockOthers: true }).finish())).toBe("completed by noCalls");
  });

  it("RUN-4: a run that did not start can be resolved, aborted and asked for its figures like any other", async () => {
    const run = openAgentBench().agent.run(5 as never);
    run.abort("x");
    await expect(run.resolveUncertain("a", { status: "failed" })).rejects.toMatchObject({ code: "OPERATION_UNKNOWN" });
    expect(run.performance().turns).toBe(0);
    expect((await run.result).status).toBe("kernelError");
  });
});

describe("misuse of the Agent", () => {
  const model = { generate: async () => say() };
  const { tool } = recordingTool();
  it.each<readonly [string, unknown, string]>([
    ["nothing", undefined, "options"],
    ["no model", { tools: [] }, "model"],
    ["a model without generate", { model: {}, tools: [] }, "model"],
    ["no tools", { model }, "tools"],
    ["a system prompt that is not a string", { model, tools: [], systemPrompt: 5 }, "systemPrompt"],
    ["an unknown option", { model, tools: [], maxTurns: 5 }, "maxTurns"],
    ["a run id, which is the run's", { model, tools: [], runId: "x" }, "runId"],
    ["an unknown hook", { model, tools: [], hooks: { prepareTurn: () => undefined } }, "hooks.prepareTurn"],
    ["a hook that is none", { model, tools: [], hooks: { shouldStopAfterTurn: true } }, "hooks.shouldStopAfterTurn"],
    [
      "a hook without time",
      { model, tools: [], hooks: { prepareNextTurn: { run: () => undefined, timeoutMs: 0 } } },
      "hooks.prepareNextTurn",
    ],
    ["an unknown limit", { model, tools: [], limits: { maxTurn: 5 } }, "limits.maxTurn"],
    ["a limit of nothing", { model, tools: [], limits: { maxTurns: 0 } }, "limits.maxTurns"],
    ["a limit that is no whole number", { model, tools: [], limits: { maxTotalTokens: 1.5 } }, "limits.maxTotalTokens"],
    ["two tools of one name", { model, tools: [tool, tool] }, "tools"],
  ])("RUN-1: %s throws where it is made", (_what, options, subject) => {
    let thrown: unknown;
    try {
      new Agent(options as never);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(KernelError);
    expect(thrown).toMatchObject({ subject });
  });
});
