import { type AuthorizeToolCall, type JsonObject, type SessionHooks, ToolError } from "toolkernel";
import { describe, expect, it } from "vitest";
import {
  call,
  eventsOf,
  finish,
  outcomesOf,
  play,
  recordingTool,
  storyOf,
  testSession,
  textsOf,
  verdictsOf,
} from "../support/run-calls.ts";

const NO_VALID_ANSWER = "not_executed: the host's authorization gave no valid answer, so the call was refused.";

async function authorize(answer: unknown) {
  const { tool, runs } = recordingTool();
  const session = testSession({ tools: [tool], hooks: { authorizeToolCall: (() => answer) as AuthorizeToolCall } });
  const result = await session.execute([call("read", '{"n":1}')]).result;
  await session.close();
  return { result, runs };
}

describe("the authorizer", () => {
  it("PREP-4: sees the final arguments, all conflict keys and everything about the call", async () => {
    const seen: unknown[] = [];
    const { tool } = recordingTool({ conflictKey: () => ["k2", "k1"] });
    const hooks: SessionHooks = {
      rewriteToolCall: ({ signal, tool: found, ...facts }) => {
        seen.push({ ...facts, tool: found.name, hasSignal: signal instanceof AbortSignal });
        return { arguments: { final: true } };
      },
      authorizeToolCall: ({ signal, tool: found, ...facts }) => {
        seen.push({ ...facts, tool: found.name, hasSignal: signal instanceof AbortSignal });
        return undefined;
      },
    };
    const draft = { ...call("read", '{"n":1}', "id"), providerData: { opaque: 1 } };
    const { result } = await play({ tools: [tool], hooks, host: "host" }, [call("nope"), draft], { turn: 7 });
    const facts = {
      call: draft,
      callIndex: 1,
      operationId: result.settled[1]?.operationId,
      tool: "read",
      runId: "run",
      turn: 7,
      host: "host",
      hasSignal: true,
    };
    expect(seen).toEqual([
      { ...facts, arguments: { n: 1 } },
      { ...facts, arguments: { final: true }, conflictKeys: ["k2", "k1"] },
    ]);
  });

  it("PREP-4: has the last word: keys are resolved before it and it is called once", async () => {
    const order: string[] = [];
    const { tool } = recordingTool({
      conflictKey: () => {
        order.push("keys");
        return "k";
      },
    });
    const hooks = { authorizeToolCall: () => void order.push("authorize") };
    await play({ tools: [tool], hooks }, [call("read")]);
    expect(order).toEqual(["keys", "authorize"]);
  });

  it.each([[undefined], [true]])("PREP-4: allows by %s", async (answer) => {
    for (const given of [answer, Promise.resolve(answer)]) {
      const { result, runs } = await authorize(given);
      expect(outcomesOf(result)).toEqual(["succeeded"]);
      expect(runs).toEqual([{ n: 1 }]);
    }
  });

  it.each<[string, unknown]>([
    ["an identical rewrite", { arguments: { n: 1 } }],
    ["another rewrite", { arguments: { n: 2 } }],
    ["the arguments themselves", { n: 1 }],
    ["a rewrite beside a block", { block: "no", arguments: { n: 1 } }],
    ["a rewrite beside a question", { ask: {}, arguments: { n: 1 } }],
    ["false", false],
    ["null", null],
    ["1", 1],
    ["a text", "true"],
    ["a Boolean object", Object(true)],
    ["a question that is a text", { ask: "may I?" }],
    ["a question that is a list", { ask: [] }],
    ["a question that is null", { ask: null }],
    ["a question that is no JSON", { ask: { at: new Date(0) } }],
    ["a question beside a block", { ask: {}, block: "no" }],
    ["a question that also ends the loop", { ask: {}, terminate: true }],
  ])("PREP-4: does not allow by %s: the call is an error and does not run", async (_what, answer) => {
    const { result, runs } = await authorize(answer);
    expect(verdictsOf(result)).toEqual(["refused:authorization"]);
    expect(textsOf(result)).toEqual([NO_VALID_ANSWER]);
    expect(Object.hasOwn(result, "approvals")).toBe(false);
    expect(runs).toEqual([]);
  });

  it.each<[string, unknown]>([
    ["a rewrite that also ends the loop", { arguments: {}, terminate: true }],
    ["a rewrite to a list", { arguments: [] }],
    ["a rewrite to text", { arguments: "{}" }],
    ["a question", { ask: {} }],
    ["true", true],
  ])("PREP-4: neither may policy answer %s", async (_what, answer) => {
    const { tool, runs } = recordingTool();
    const { result } = await play({ tools: [tool], hooks: { rewriteToolCall: (() => answer) as never } }, [
      call("read"),
    ]);
    expect(verdictsOf(result)).toEqual(["refused:authorization"]);
    expect(textsOf(result)).toEqual(["not_executed: the host's policy gave no valid answer, so the call was refused."]);
    expect(runs).toEqual([]);
  });

  it.each([
    [{ block: "No." }, "No.", false],
    [{ block: "No.", terminate: false }, "No.", false],
    [{ block: "No.", terminate: true }, "No.", true],
    [{ block: "No.", terminate: undefined, ask: undefined }, "No.", false],
    [{ block: "" }, "refused by the host's authorization", false],
  ])("PREP-4: blocks by %j", async (answer, text, terminate) => {
    const { result, runs } = await authorize(answer);
    expect(verdictsOf(result)).toEqual(["refused:authorization"]);
    expect(textsOf(result)).toEqual([text]);
    expect(result.settled[0]?.result.terminate).toBe(terminate);
    expect(result.closed).toBe(terminate);
    expect(runs).toEqual([]);
  });
});

describe("a call that fails preparation", () => {
  it("PREP-6: runs nothing, and settles before the first dispatch of its batch", async () => {
    const refuseMe = recordingTool({ name: "refuse-me", validate: () => "not today" });
    const read = recordingTool();
    const { events, result } = await play({ tools: [read.tool, refuseMe.tool] }, [
      call("read", "{}", "a"),
      call("refuse-me", "{}", "b"),
      call("read", "{}", "c"),
    ]);
    expect(storyOf(events)).toEqual([
      ...["toolStarted a", "toolPrepared a", "toolStarted b", "toolRefused b", "toolStarted c", "toolPrepared c"],
      "toolEnded b",
      ...["epochStarted", "toolDispatched a", "toolDispatched c", "toolEnded a", "toolEnded c", "epochSettled"],
    ]);
    expect(refuseMe.runs).toEqual([]);
    expect(result.settled[1]).toEqual({
      call: { id: "b", name: "refuse-me", arguments: "{}" },
      index: 1,
      operationId: expect.stringMatching(/^[0-9a-f]{64}$/),
      conflictKeys: [],
      outcome: "refused",
      result: {
        content: [{ type: "text", text: "invalid_arguments: not today" }],
        isError: true,
        failureCategory: "invalidArguments",
        outcomeUncertain: false,
        terminate: false,
      },
      endedAtMs: expect.any(Number),
    });
  });

  it("PREP-6: settles after the repeat check", async () => {
    const { tool } = recordingTool();
    const limits = { exactToolRepeatAdvisoryThreshold: 1, exactToolRepeatTerminationThreshold: 0 };
    const { events } = await play({ tools: [tool], limits }, [call("nope", "{}", "a"), call("read", "{}", "b")]);
    expect(storyOf(events).slice(-7)).toEqual([
      ...["toolRepeatDetected a", "toolRepeatDetected b", "toolEnded a"],
      ...["epochStarted", "toolDispatched b", "toolEnded b", "epochSettled"],
    ]);
  });

  it("PREP-6: is no barrier: calls around a refused sequential write share an epoch", async () => {
    const read = recordingTool();
    const write = recordingTool({ name: "write", risk: "nonIdempotentWrite", executionMode: "sequential" });
    const hooks: SessionHooks = {
      authorizeToolCall: ({ tool }) => (tool.name === "write" ? { block: "no" } : undefined),
    };
    const { events, result } = await play({ tools: [read.tool, write.tool], hooks }, [
      call("read", "{}", "a"),
      call("write", "{}", "b"),
      call("read", "{}", "c"),
    ]);
    expect(eventsOf(events, "epochStarted").map(({ callIds }) => callIds)).toEqual([["a", "c"]]);
    expect(outcomesOf(result)).toEqual(["succeeded", "refused", "succeeded"]);
    expect(result.settled.map(({ epoch }) => epoch)).toEqual([0, undefined, 0]);
  });

  it("PREP-6: leaves a batch that has nothing else without an epoch, and every call with its message", async () => {
    const { events, result } = await play({ tools: [] }, [call("a"), call("b")]);
    expect(storyOf(events)).toEqual([
      ...["toolStarted a", "toolRefused a", "toolStarted b", "toolRefused b", "toolEnded a", "toolEnded b"],
    ]);
    expect(result.messages).toMatchObject([
      { callId: "a", isError: true },
      { callId: "b", isError: true },
    ]);
    expect([result.closed, Object.hasOwn(result, "closedBy")]).toEqual([false, false]);
  });

  const thrower = (): never => {
    throw new Error("hunter2-payload");
  };

  it.each<[string, Parameters<typeof recordingTool>[0], SessionHooks, string, string]>([
    [
      "its arguments",
      { inputSchema: { type: "object", required: ["p"] } },
      {},
      "invalidArguments",
      "missing required property 'p'",
    ],
    ["prepareArguments throwing", { prepareArguments: thrower }, {}, "invalidArguments", "prepareArguments failed"],
    ["validate", { validate: () => "bad" }, {}, "invalidArguments", "bad"],
    ["validate throwing", { validate: thrower }, {}, "internal", "validate failed"],
    ["validate answering nonsense", { validate: (() => 5) as never }, {}, "invalidArguments", "no valid answer"],
    ["conflictKey throwing", { conflictKey: thrower }, {}, "internal", "conflictKey failed"],
    ["policy", {}, { rewriteToolCall: () => ({ block: "policy" }) }, "authorization", "policy"],
    ["authorization", {}, { authorizeToolCall: () => ({ block: "authorized?" }) }, "authorization", "authorized?"],
  ])("PREP-6: for %s has its category, and its siblings go on", async (_why, tool, hooks, category, text) => {
    const bad = recordingTool({ ...tool, name: "bad" });
    const good = recordingTool();
    const only = Object.fromEntries(
      Object.entries(hooks).map(([name, hook]) => [
        name,
        (input: { tool: { name: string } }) => (input.tool.name === "bad" ? (hook as () => unknown)() : undefined),
      ]),
    ) as SessionHooks;
    const { result } = await play({ tools: [bad.tool, good.tool], hooks: only }, [call("bad"), call("read")]);
    expect(verdictsOf(result)).toEqual([`refused:${category}`, "succeeded"]);
    expect(textsOf(result)[0]).toContain(text);
    expect(textsOf(result)[0]).not.toContain("hunter2");
    expect([bad.runs.length, good.runs.length]).toEqual([0, 1]);
  });

  it("PREP-6: says by ToolError what the tool itself says of it", async () => {
    const { tool } = recordingTool({
      validate: () => {
        throw new ToolError("The account is closed.", { failureCategory: "ruleRejected" });
      },
    });
    const { result } = await play({ tools: [tool] }, [call("read")]);
    expect(verdictsOf(result)).toEqual(["refused:ruleRejected"]);
    expect(textsOf(result)).toEqual(["The account is closed."]);
  });

  it.each(["prepareArguments", "validate", "conflictKey"] as const)(
    "PREP-6: is refused where %s, which must answer at once, gives a promise; its rejection escapes nobody",
    async (step) => {
      const { tool, runs } = recordingTool({ [step]: () => Promise.reject(new Error("hunter2-payload")) as never });
      const { result } = await play({ tools: [tool] }, [call("read")]);
      expect(outcomesOf(result)).toEqual(["refused"]);
      expect(textsOf(result)[0]).not.toContain("hunter2");
      expect(runs).toEqual([]);
    },
  );
});

describe("events", () => {
  it("PREP-6: a refusal is told with its category and reason, an accepted call with its keys", async () => {
    const { tool } = recordingTool({ conflictKey: (({ k }: JsonObject) => k) as never });
    const session = testSession({ tools: [tool] });
    const { events } = await finish(session.execute([call("read", '{"k":"x"}', "a"), call("nope", "{}", "b")]));
    expect(eventsOf(events, "toolPrepared")).toMatchObject([{ callId: "a", conflictKeys: ["x"] }]);
    expect(eventsOf(events, "toolRefused")).toMatchObject([
      { callId: "b", failureCategory: "invalidArguments", reason: "unknown_tool: there is no tool of this name." },
    ]);
  });
});
