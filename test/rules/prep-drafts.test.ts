import { compat, type JsonObject, type JsonValue, type SessionHooks, type StandardSchema } from "toolkernel";
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

describe("a draft", () => {
  const SCHEMA = {
    type: "object",
    properties: {
      n: { type: "integer", default: 7 },
      s: { type: "string" },
      b: { type: "boolean" },
      l: { type: "array" },
    },
    additionalProperties: false,
  };

  it.each([
    ['{"n":"1"}', "at /n: must be integer"],
    ['{"n":true}', "at /n: must be integer"],
    ['{"n":null}', "at /n: must be integer"],
    ['{"n":""}', "at /n: must be integer"],
    ['{"s":1}', "at /s: must be string"],
    ['{"s":null}', "at /s: must be string"],
    ['{"b":0}', "at /b: must be boolean"],
    ['{"b":"false"}', "at /b: must be boolean"],
    ['{"l":"a"}', "at /l: must be array"],
    ['{"extra":1}', "property 'extra' is not allowed"],
  ])("PREP-7: is never coerced, filled or trimmed: %s is refused", async (draft, fault) => {
    const { tool, runs } = recordingTool({ inputSchema: SCHEMA });
    const { result } = await play({ tools: [tool] }, [call("read", draft)]);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments"]);
    expect(textsOf(result)).toEqual([`invalid_arguments: ${fault}`]);
    expect(runs).toEqual([]);
  });

  it("PREP-7: that is valid is run as it is: no default is filled in, and nothing is reported as repaired", async () => {
    const { tool, runs } = recordingTool({ inputSchema: SCHEMA });
    const { result } = await play({ tools: [tool] }, [call("read", '{"s":"x"}')]);
    expect(runs).toEqual([{ s: "x" }]);
    expect(Object.hasOwn(result.settled[0] ?? {}, "repairs")).toBe(false);
  });

  it("PREP-7: changes shape in prepareArguments, before the schema sees it", async () => {
    const { tool, runs } = recordingTool({
      inputSchema: SCHEMA,
      prepareArguments: (draft) => ({ n: Number((draft as JsonObject).n) }),
    });
    await play({ tools: [tool] }, [call("read", '{"n":"1"}')]);
    expect(runs).toEqual([{ n: 1 }]);
  });

  it("PREP-7: is repaired on request by the session, before the tool's own prepareArguments, and each repair is told", async () => {
    const drafts: unknown[] = [];
    const { tool, runs } = recordingTool({
      inputSchema: SCHEMA,
      prepareArguments: (draft) => void drafts.push(structuredClone(draft)),
    });
    const { result } = await play({ tools: [tool], compat: [compat.exactScalars, compat.dropUnknownKeys] }, [
      call("read", '{"n":"1","extra":2}'),
    ]);
    expect(drafts).toEqual([{ n: 1 }]);
    expect(runs).toEqual([{ n: 1 }]);
    expect(result.settled[0]?.repairs).toEqual([
      { step: "exactScalars", pointer: "/n" },
      { step: "dropUnknownKeys", pointer: "/extra" },
    ]);
  });

  it("PREP-7: is repaired on request of one tool, and repairs of a refused call are told as well", async () => {
    const schema = { ...SCHEMA, required: ["s"] };
    const { tool } = recordingTool({ inputSchema: schema, prepareArguments: compat.exactScalars(schema) });
    const { result } = await play({ tools: [tool] }, [call("read", '{"n":"1"}')]);
    expect(textsOf(result)).toEqual(["invalid_arguments: missing required property 's'"]);
    expect(result.settled[0]?.repairs).toEqual([{ step: "exactScalars", pointer: "/n" }]);
  });

  it("PREP-7: that prepareArguments throws at refuses the call; undefined leaves it as it is", async () => {
    const answers = [
      () => {
        throw new Error("hunter2-payload");
      },
      () => undefined,
    ];
    const { tool, runs } = recordingTool({ prepareArguments: () => answers.shift()?.() });
    const { result } = await play({ tools: [tool] }, [call("read", '{"n":1}', "a"), call("read", '{"n":2}', "b")]);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments", "succeeded"]);
    expect(textsOf(result)[0]).toBe("not_executed: the tool's prepareArguments failed.");
    expect(runs).toEqual([{ n: 2 }]);
  });

  it.each([
    ['{"__proto__":{"isAdmin":true},"path":"a"}', "the forbidden key __proto__"],
    ['{"a":{"__proto__":1}}', "the forbidden key __proto__"],
    ['{"\\u005f_proto__":1}', "the forbidden key __proto__"],
    ['{"constructor":{"prototype":{"x":1}}}', "the forbidden key prototype under constructor"],
    ['{"path":"safe","path":"evil"}', "a duplicate key"],
    ['{"a":{"x":1,"\\u0078":2}}', "a duplicate key"],
    [`{"a":${"[".repeat(64)}${"]".repeat(64)}}`, "containers nested deeper than 64"],
    ['{"id":9007199254740993}', "a whole number too large to be held exactly"],
    ['{"id":-9007199254740993}', "a whole number too large to be held exactly"],
    ['{"x":1e400}', "a number too large to be held"],
    ['{"path":"hunter2', "the text ends inside a string"],
    ["hunter2", "a value was expected"],
    ["[1]", "arguments must be a JSON object, not an array"],
    ["null", "arguments must be a JSON object, not null"],
    ["5", "arguments must be a JSON object, not a number"],
    ["true", "arguments must be a JSON object, not a boolean"],
    ['"hunter2"', "arguments must be a JSON object, not a string"],
  ])("PREP-11: %s is refused by its fault, without its payload", async (draft, fault) => {
    const { tool, runs } = recordingTool();
    const { result } = await play({ tools: [tool] }, [call("read", draft)]);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments"]);
    expect(textsOf(result)[0]).toContain(fault);
    expect(textsOf(result)[0]).not.toContain("hunter2");
    expect(runs).toEqual([]);
    expect("isAdmin" in {}).toBe(false);
  });

  it.each<[string, unknown, string]>([
    ["an own key __proto__", JSON.parse('{"__proto__":{"isAdmin":true}}'), "the forbidden key __proto__"],
    ["prototype under constructor", { constructor: { prototype: 1 } }, "the forbidden key prototype under constructor"],
    ["a rounded whole number", { id: 9007199254740994 }, "may have been rounded"],
    ["an array", [1], "not an array"],
    ["a number", 5, "not a number"],
    ["a function", () => 1, "a function"],
    ["a date", { at: new Date(0) }, "an object that is not plain JSON"],
    [
      "a property that throws",
      Object.defineProperty({}, "x", {
        enumerable: true,
        get: () => {
          throw new Error("hunter2");
        },
      }),
      "a value that threw when it was read",
    ],
    ["a toJSON of its own", { toJSON: () => ({ path: "evil" }) }, "a function"],
    ["a toJSON of its prototype", Object.create({ toJSON: () => ({}) }), "not plain JSON"],
  ])("PREP-11: an object that holds %s is refused by its fault", async (_what, draft, fault) => {
    const { tool, runs } = recordingTool();
    const { result } = await play({ tools: [tool] }, [call("read", draft as JsonObject)]);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments"]);
    expect(textsOf(result)[0]).toContain(fault);
    expect(textsOf(result)[0]).not.toContain("hunter2");
    expect(runs).toEqual([]);
    expect("isAdmin" in {}).toBe(false);
  });

  it.each<[string, unknown, unknown]>([
    ["nothing", undefined, {}],
    ["null", null, {}],
    ["empty text", "", {}],
    ["blank text", "  \n\t", {}],
    [
      "64 containers",
      `{"a":${"[".repeat(63)}${"]".repeat(63)}}`,
      JSON.parse(`{"a":${"[".repeat(63)}${"]".repeat(63)}}`),
    ],
    ["the largest safe number", '{"id":9007199254740991}', { id: 9007199254740991 }],
    ["a larger number that a double holds", '{"id":9007199254740992}', { id: 9007199254740992 }],
    ["fractions and exponents", '{"a":0.1,"b":1e21,"c":1.0,"d":1E2}', { a: 0.1, b: 1e21, c: 1, d: 100 }],
    ["constructor without prototype", '{"constructor":{"x":1},"prototype":2}', { constructor: { x: 1 }, prototype: 2 }],
    ["names of Object.prototype", '{"toString":1,"hasOwnProperty":2}', { toString: 1, hasOwnProperty: 2 }],
    ["the same key in two objects", '{"a":{"x":1},"b":{"x":2}}', { a: { x: 1 }, b: { x: 2 } }],
    ["an object without a prototype", Object.assign(Object.create(null), { x: 1 }), { x: 1 }],
  ])("PREP-11: %s is taken", async (_what, draft, prepared) => {
    const { tool, runs } = recordingTool();
    const { result } = await play({ tools: [tool] }, [call("read", draft as string)]);
    expect(outcomesOf(result)).toEqual(["succeeded"]);
    expect(JSON.stringify(runs)).toEqual(JSON.stringify([prepared]));
  });

  it("PREP-11: needs to be an object only once prepareArguments has had it", async () => {
    const prepareArguments = (draft: unknown) => (draft === null ? 5 : { items: draft as JsonValue });
    const { tool, runs } = recordingTool({ prepareArguments });
    const { result } = await play({ tools: [tool] }, [call("read", "[1]", "a"), call("read", "null", "b")]);
    expect(runs).toEqual([{ items: [1] }]);
    expect(textsOf(result)).toEqual(["ok", "invalid_arguments: arguments must be a JSON object, not a number"]);
  });

  it.each<[string, unknown]>([
    ["a key __proto__", JSON.parse('{"__proto__":1}')],
    ["a class instance", { at: new Date(0) }],
    [
      "a cycle",
      (() => {
        const cycle: Record<string, unknown> = {};
        cycle.self = cycle;
        return cycle;
      })(),
    ],
  ])(
    "PREP-11: what prepareArguments, policy and the schema give must be JSON too: %s is refused",
    async (_what, given) => {
      const prepared = recordingTool({ name: "prepared", prepareArguments: () => given as JsonObject });
      const refined = recordingTool({
        name: "refined",
        inputSchema: {
          "~standard": { version: 1, vendor: "test", validate: () => ({ value: given }) },
        } as StandardSchema,
        inputJsonSchema: { type: "object" },
      });
      const rewritten = recordingTool({ name: "rewritten" });
      const hooks: SessionHooks = {
        rewriteToolCall: ({ tool }) => (tool.name === "rewritten" ? { arguments: given as JsonObject } : undefined),
      };
      const { result } = await play({ tools: [prepared.tool, refined.tool, rewritten.tool], hooks }, [
        ...[call("prepared"), call("refined"), call("rewritten")],
      ]);
      expect(verdictsOf(result)).toEqual(["refused:invalidArguments", "refused:internal", "refused:authorization"]);
      expect([prepared.runs, refined.runs, rewritten.runs]).toEqual([[], [], []]);
    },
  );

  it("PREP-11: that is refused keeps nothing of its payload in any event", async () => {
    const { tool } = recordingTool();
    const session = testSession({ tools: [tool] });
    const { events } = await finish(session.execute([call("read", '{"a":"hunter2","a":"hunter2"}')]));
    expect(events.map(({ kind }) => kind)).toEqual(["toolStarted", "toolRefused", "toolEnded"]);
    expect(JSON.stringify(events)).not.toContain("hunter2");
  });
});
