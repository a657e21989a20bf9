import {
  type AnyTool,
  defineTool,
  type GivenCall,
  type JsonObject,
  type JsonSchemaValidator,
  type SessionHooks,
  type StandardSchema,
} from "toolkernel";
import { describe, expect, it } from "vitest";
import { call, play, recordingTool, textsOf, verdictsOf } from "../support/run-calls.ts";

type Trace = string[];

/** A validator whose checks are seen; an object with `bad` is refused. */
function tracingValidator(trace: Trace): JsonSchemaValidator {
  return {
    compile: () => (value) => {
      trace.push(`schema ${JSON.stringify(value)}`);
      return "bad" in (value as object) ? [{ pointer: "/bad", message: "is bad" }] : [];
    },
  };
}

/** Every step of a tool that its author writes, seen. */
function tracingTool(trace: Trace, inputSchema: AnyTool["inputSchema"] = { type: "object" }) {
  const see =
    <Answer>(step: string, answer: Answer) =>
    (value: unknown): Answer => {
      trace.push(`${step} ${JSON.stringify(value)}`);
      return answer;
    };
  return defineTool({
    name: "t",
    description: "Leaves a trace.",
    inputSchema: inputSchema as JsonObject,
    inputJsonSchema: { type: "object" },
    prepareArguments: see("prepareArguments", undefined),
    validate: see("validate", undefined),
    conflictKey: see("conflictKey", "k"),
    execute: see("execute", "ok"),
  });
}

function tracingHooks(trace: Trace, answers: { rewrite?: unknown; authorize?: unknown } = {}): SessionHooks {
  return {
    rewriteToolCall: ({ arguments: given }) => {
      trace.push(`rewriteToolCall ${JSON.stringify(given)}`);
      return answers.rewrite as undefined;
    },
    authorizeToolCall: ({ arguments: given, conflictKeys }) => {
      trace.push(`authorizeToolCall ${JSON.stringify(given)} ${conflictKeys.join()}`);
      return answers.authorize as undefined;
    },
  };
}

/** A Standard Schema that adds `n + 1` as `next`, and is seen. */
function tracingStandard(trace: Trace): StandardSchema<JsonObject, JsonObject> {
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: async (value) => {
        trace.push(`standard ${JSON.stringify(value)}`);
        return { value: { ...(value as JsonObject), next: Number((value as JsonObject).n) + 1 } };
      },
    },
  };
}

async function traceOf(
  make: (trace: Trace) => AnyTool,
  calls: readonly GivenCall[],
  answers?: { rewrite?: unknown; authorize?: unknown },
): Promise<Trace> {
  const trace: Trace = [];
  await play(
    { tools: [make(trace)], hooks: tracingHooks(trace, answers), jsonSchemaValidator: tracingValidator(trace) },
    calls,
  );
  return trace;
}

describe("the steps of a call", () => {
  it("PREP-1: of a plain JSON Schema tool come in their order", async () => {
    expect(await traceOf((trace) => tracingTool(trace), [call("t", '{"n":1}')])).toEqual([
      'prepareArguments {"n":1}',
      'schema {"n":1}',
      'validate {"n":1}',
      'rewriteToolCall {"n":1}',
      'conflictKey {"n":1}',
      'authorizeToolCall {"n":1} k',
      'execute {"n":1}',
    ]);
  });

  it("PREP-1: replaced arguments pass JSON Schema and the tool's validation again", async () => {
    const answers = { rewrite: { arguments: { n: 2 } } };
    expect(await traceOf((trace) => tracingTool(trace), [call("t", '{"n":1}')], answers)).toEqual([
      'prepareArguments {"n":1}',
      'schema {"n":1}',
      'validate {"n":1}',
      'rewriteToolCall {"n":1}',
      'schema {"n":2}',
      'validate {"n":2}',
      'conflictKey {"n":2}',
      'authorizeToolCall {"n":2} k',
      'execute {"n":2}',
    ]);
  });

  it("PREP-1: of a Standard Schema tool come in their order, its own validation once", async () => {
    const make = (trace: Trace) => tracingTool(trace, tracingStandard(trace));
    expect(await traceOf(make, [call("t", '{"n":1}')])).toEqual([
      'prepareArguments {"n":1}',
      'schema {"n":1}',
      'rewriteToolCall {"n":1}',
      'standard {"n":1}',
      'validate {"n":1,"next":2}',
      'conflictKey {"n":1,"next":2}',
      'authorizeToolCall {"n":1,"next":2} k',
      'execute {"n":1,"next":2}',
    ]);
  });

  it("PREP-1: a Standard Schema is run once on the replaced input form, never on what it was before", async () => {
    const make = (trace: Trace) => tracingTool(trace, tracingStandard(trace));
    expect(await traceOf(make, [call("t", '{"n":1}')], { rewrite: { arguments: { n: 5 } } })).toEqual([
      'prepareArguments {"n":1}',
      'schema {"n":1}',
      'rewriteToolCall {"n":1}',
      'schema {"n":5}',
      'standard {"n":5}',
      'validate {"n":5,"next":6}',
      'conflictKey {"n":5,"next":6}',
      'authorizeToolCall {"n":5,"next":6} k',
      'execute {"n":5,"next":6}',
    ]);
  });

  it("PREP-1: every call of a batch is prepared before any call of it is dispatched", async () => {
    const trace = await traceOf((each) => tracingTool(each), [call("t", '{"n":1}', "a"), call("t", '{"n":2}', "b")]);
    expect(trace.map((line) => line.split(" ")[0])).toEqual([
      ...["prepareArguments", "schema", "validate", "rewriteToolCall", "conflictKey", "authorizeToolCall"],
      ...["prepareArguments", "schema", "validate", "rewriteToolCall", "conflictKey", "authorizeToolCall"],
      ...["execute", "execute"],
    ]);
  });

  it.each([
    ["the draft is not JSON", '{"n":', undefined, []],
    ["JSON Schema refuses", '{"bad":1}', undefined, ["prepareArguments", "schema"]],
    [
      "policy blocks",
      "{}",
      { rewrite: { block: "no" } },
      ["prepareArguments", "schema", "validate", "rewriteToolCall"],
    ],
    [
      "JSON Schema refuses what policy wrote",
      "{}",
      { rewrite: { arguments: { bad: 1 } } },
      ["prepareArguments", "schema", "validate", "rewriteToolCall", "schema"],
    ],
    [
      "authorization blocks",
      "{}",
      { authorize: { block: "no" } },
      ["prepareArguments", "schema", "validate", "rewriteToolCall", "conflictKey", "authorizeToolCall"],
    ],
  ] as const)("PREP-1: nothing more of a call is run once %s", async (_what, draft, answers, steps) => {
    const trace = await traceOf((each) => tracingTool(each), [call("t", draft)], answers);
    expect(trace.map((line) => line.split(" ")[0])).toEqual(steps);
  });

  it("PREP-1: policy only sees arguments that the tool's own validation has accepted", async () => {
    const policy: unknown[] = [];
    const { tool } = recordingTool({
      validate: ((given: JsonObject) => (given.x === 1 ? "x is 1" : undefined)) as never,
    });
    const { result } = await play(
      { tools: [tool], hooks: { rewriteToolCall: ({ arguments: given }) => void policy.push(given) } },
      [call("read", '{"x":1}', "a"), call("read", '{"x":2}', "b")],
    );
    expect(policy).toEqual([{ x: 2 }]);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments", "succeeded"]);
    expect(textsOf(result)).toEqual(["invalid_arguments: x is 1", "ok"]);
  });

  it("PREP-1: arguments that policy wrote are refused where the tool's validation refuses them", async () => {
    const { tool, runs } = recordingTool({
      validate: ((given: JsonObject) => (given.x === 1 ? "x is 1" : undefined)) as never,
    });
    const { result } = await play({ tools: [tool], hooks: { rewriteToolCall: () => ({ arguments: { x: 1 } }) } }, [
      call("read"),
    ]);
    expect(textsOf(result)).toEqual(["invalid_arguments: x is 1"]);
    expect(runs).toEqual([]);
  });

  it.each(["Read", "read ", "read\u0000", "reаd"])(
    "PREP-1: a tool is found by its exact name; %j is another",
    async (name) => {
      const { tool, runs } = recordingTool();
      const { result } = await play({ tools: [tool] }, [call(name)]);
      expect(verdictsOf(result)).toEqual(["refused:invalidArguments"]);
      expect(textsOf(result)[0]).toContain("unknown_tool");
      expect(runs).toEqual([]);
    },
  );

  it("PREP-1: a block of policy tells the model the host's reason, and ends the loop where it says so", async () => {
    const { tool } = recordingTool();
    const hooks: SessionHooks = { rewriteToolCall: () => ({ block: "Not on Sundays.", terminate: true }) };
    const { result } = await play({ tools: [tool], hooks }, [call("read")]);
    expect(result).toMatchObject({ closed: true, closedBy: "allTerminate" });
    expect(result.messages).toEqual([
      {
        role: "toolResult",
        callId: "read",
        toolName: "read",
        callIndex: 0,
        content: [{ type: "text", text: "Not on Sundays." }],
        isError: true,
        failureCategory: "authorization",
        outcomeUncertain: false,
        terminate: true,
      },
    ]);
  });
});
