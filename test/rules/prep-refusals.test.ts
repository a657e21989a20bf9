import { type JsonObject, type SessionHooks, ToolError } from "toolkernel";
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
      { callId: "b", failureCategory: "invalidArguments", reason: "unknown_tool: there is no tool with this name." },
    ]);
  });
});
