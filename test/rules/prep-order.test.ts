import {
  type AnyTool,
  createToolSession,
  defineTool,
  type GivenCall,
  type JsonObject,
  type JsonSchemaValidator,
  type SessionHooks,
  type StandardSchema,
} from "toolkernel";
import { describe, expect, it } from "vitest";
import {
  call,
  finish,
  outcomesOf,
  play,
  recordingTool,
  testSession,
  textsOf,
  verdictsOf,
} from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

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
    ["the draft is no JSON", '{"n":', undefined, []],
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

describe("a Standard Schema's own validation", () => {
  function standardTool(validate: (value: unknown) => unknown) {
    const runs: unknown[] = [];
    const inputSchema = { "~standard": { version: 1, vendor: "test", validate } } as unknown as StandardSchema;
    const tool = defineTool({
      name: "s",
      description: "Has a schema of its own.",
      inputSchema,
      inputJsonSchema: { type: "object" },
      execute: (given) => {
        runs.push(given);
        return "ok";
      },
    });
    return { tool, runs };
  }

  it.each<[string, (value: unknown) => unknown]>([
    ["at once", (value) => ({ value: { ...(value as object), added: true } })],
    ["by a promise", async (value) => ({ value: { ...(value as object), added: true } })],
  ])("PREP-1: may answer %s, and its output is the prepared arguments", async (_how, validate) => {
    const { tool, runs } = standardTool(validate);
    const { result } = await play({ tools: [tool] }, [call("s", '{"n":1}')]);
    expect(outcomesOf(result)).toEqual(["succeeded"]);
    expect(runs).toEqual([{ n: 1, added: true }]);
  });

  it.each<[string, unknown, string]>([
    ["a date", { when: new Date(0) }, 'an object that is not plain JSON at "/when"'],
    ["a BigInt", { n: 1n }, 'a bigint at "/n"'],
    ["NaN", { n: Number.NaN }, 'a number that is not finite at "/n"'],
    ["a function", { f: () => 1 }, 'a function at "/f"'],
    ["a map", { m: new Map() }, 'an object that is not plain JSON at "/m"'],
    ["undefined", undefined, "undefined"],
  ])("PREP-1: an output that holds %s is no JSON and refuses the call", async (_what, value, fault) => {
    const { tool, runs } = standardTool(() => ({ value }));
    const { result } = await play({ tools: [tool] }, [call("s")]);
    expect(verdictsOf(result)).toEqual(["refused:internal"]);
    expect(textsOf(result)[0]).toContain(fault);
    expect(runs).toEqual([]);
  });

  it("PREP-1: an optional property that it leaves undefined is absent", async () => {
    const { tool, runs } = standardTool(() => ({ value: { a: 1, b: undefined } }));
    await play({ tools: [tool] }, [call("s")]);
    expect(runs).toEqual([{ a: 1 }]);
    expect(Object.keys(runs[0] as object)).toEqual(["a"]);
  });

  it("PREP-1: what it keeps of its output cannot change the arguments", async () => {
    const kept = { list: [1] };
    const { tool, runs } = standardTool(() => ({ value: kept }));
    const hooks: SessionHooks = { authorizeToolCall: () => void kept.list.push(2) };
    await play({ tools: [tool], hooks }, [call("s")]);
    expect(runs).toEqual([{ list: [1] }]);
    expect(kept).toEqual({ list: [1, 2] });
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("hunter2-payload");
      },
    ],
    ["rejects", () => Promise.reject(new Error("hunter2-payload"))],
    ["answers nothing", () => undefined],
    ["answers neither value nor issues", () => ({})],
  ])("PREP-1: one that %s refuses the call as internal, and its siblings go on", async (_what, validate) => {
    const { tool } = standardTool(validate);
    const { result } = await play({ tools: [tool, recordingTool().tool] }, [call("s"), call("read")]);
    expect(verdictsOf(result)).toEqual(["refused:internal", "succeeded"]);
    expect(textsOf(result)[0]).not.toContain("hunter2");
  });

  it("PREP-1: issues refuse the call with place and complaint, without the value", async () => {
    const { tool } = standardTool(() => ({
      issues: [{ message: 'too short: "hunter2"', path: ["user", { key: "name" }] }],
    }));
    const { result } = await play({ tools: [tool] }, [call("s", '{"user":{"name":"hunter2"}}')]);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments"]);
    expect(textsOf(result)).toEqual(["invalid_arguments: at /user/name: too short: (the value)"]);
  });

  it("PREP-1: its JSON Schema is asked first, on the input form", async () => {
    let validations = 0;
    const inputSchema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value: unknown) => {
          validations += 1;
          return { value: { n: Number((value as { n: string }).n) } };
        },
      },
    } as unknown as StandardSchema;
    const tool = defineTool({
      name: "s",
      description: "Takes text, gives a number.",
      inputSchema,
      inputJsonSchema: { type: "object", properties: { n: { type: "string" } }, required: ["n"] },
      execute: (given) => given,
    });
    const { result } = await play({ tools: [tool] }, [call("s", '{"n":3}', "a"), call("s", '{"n":"3"}', "b")]);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments", "succeeded"]);
    expect(result.settled[1]?.result.content).toEqual([{ type: "json", value: { n: 3 } }]);
    expect(validations).toBe(1);
  });
});

describe("the order of calls", () => {
  it("PREP-2: a call is prepared when the one before it is, in source order", async () => {
    const simulated = trackedClock();
    const trace: string[] = [];
    const open: (() => void)[] = [];
    const { tool } = recordingTool({ prepareArguments: (draft) => void trace.push(`begin ${JSON.stringify(draft)}`) });
    const session = createToolSession({
      tools: [tool],
      clock: simulated.clock,
      hooks: {
        authorizeToolCall: ({ callIndex }) => {
          trace.push(`ask ${callIndex}`);
          return new Promise((resolve) => {
            open.push(() => {
              trace.push(`answer ${callIndex}`);
              resolve(undefined);
            });
          });
        },
      },
    });
    const batch = session.execute([call("read", "{}", "a"), call("read", "{}", "b"), call("read", "{}", "c")]);
    for (let index = 0; index < 3; index += 1) {
      await simulated.advance(10);
      expect(open).toHaveLength(index + 1);
      open[index]?.();
    }
    expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(trace).toEqual([0, 1, 2].flatMap((index) => ["begin {}", `ask ${index}`, `answer ${index}`]));
  });

  it("PREP-2: an authorizer that asks does not hold up the calls after it", async () => {
    const { tool } = recordingTool();
    const prepared: number[] = [];
    const session = testSession({
      tools: [tool],
      hooks: {
        authorizeToolCall: ({ callIndex }) => {
          prepared.push(callIndex);
          return callIndex === 0 ? { ask: { q: 1 } } : undefined;
        },
      },
    });
    const { result, events } = await finish(session.execute([call("read", "{}", "a"), call("read", "{}", "b")]));
    await session.close();
    expect(prepared).toEqual([0, 1]);
    expect(result.approvals?.map(({ callId }) => callId)).toEqual(["a"]);
    expect(events.filter(({ kind }) => kind === "toolPrepared")).toHaveLength(2);
  });
});
