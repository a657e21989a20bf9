import { compat, defineTool, type JsonObject, type JsonSchemaValidator } from "toolkernel";
import { describe, expect, it } from "vitest";
import type { InputSchema, StandardSchema } from "../../src/domain/schema.ts";
import type { AnyTool } from "../../src/domain/tool.ts";
import { ajvValidator } from "../../src/prepare/ajv-validator.ts";
import { compileToolSchema } from "../../src/prepare/compile-schema.ts";
import { toolJsonSchema } from "../../src/prepare/tool-json-schema.ts";
import { walkJson } from "../../src/prepare/walk-json.ts";
import { objectOf, repaired, STRING, STRINGS } from "../support/compat-scene.ts";
import { call, play, verdictsOf } from "../support/run-calls.ts";

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

function schemaOf(inputSchema: unknown): unknown {
  return toolJsonSchema({ name: "edit", inputSchema: inputSchema as InputSchema, inputJsonSchema: undefined });
}

function standard(extra: object, converters: object = {}): StandardSchema {
  const own = { version: 1, vendor: "test", validate: (value: unknown) => ({ value }), ...converters };
  return { "~standard": own, ...extra } as StandardSchema;
}

describe("the schema of a tool", () => {
  it("PREP-8: a schema that gives itself in the standard way is asked first, and by the dialect", () => {
    const asked: unknown[] = [];
    const input = (...given: unknown[]) => {
      asked.push(given);
      return { type: "object", title: "standard" };
    };
    const schema = standard({ toJSONSchema: () => ({ type: "object", title: "method" }) }, { jsonSchema: { input } });
    expect(schemaOf(schema)).toEqual({ type: "object", title: "standard" });
    expect(asked).toEqual([[{ target: "draft-2020-12" }]]);
  });

  it("PREP-8: a method that takes no options is given none", () => {
    const asked: unknown[] = [];
    const toJsonSchema = (...given: unknown[]) => {
      asked.push(given);
      return { type: "object" };
    };
    expect(schemaOf(standard({ in: { toJsonSchema } }))).toEqual({ type: "object" });
    expect(asked).toEqual([[]]);
  });

  it("PREP-8: nothing is no schema, and an input form that is nothing gives none", () => {
    const fault = { code: "INVALID_TOOL_SCHEMA", subject: "edit" };
    expect(thrownBy(() => schemaOf(null))).toMatchObject(fault);
    expect(thrownBy(() => schemaOf(standard({ in: null })))).toMatchObject({
      ...fault,
      message: expect.stringContaining("provides no JSON Schema"),
    });
  });

  it("PREP-8: a schema that does not compile is refused with what the compiler said", () => {
    const compile = (schema: JsonObject) =>
      thrownBy(() => ajvValidator().compile(schema, { dialect: "2020-12", strict: true }));
    expect(compile({ type: "object", properties: { a: { $ref: "#/$defs/none" } } })).toMatchObject({
      code: "INVALID_TOOL_SCHEMA",
      cause: expect.any(Error),
    });
    // Draft-04's `id` is refused with the name that it has now.
    expect(compile({ id: "x", type: "object" })).toMatchObject({ message: expect.stringContaining("$id") });
  });

  it.each([
    ["", 5],
    [5, "is wrong"],
  ])("PREP-7: a fault without a place or a text still refuses the value (%#)", (pointer, message) => {
    const validator = { compile: () => () => [{ pointer, message }] } as unknown as JsonSchemaValidator;
    const compiled = compileToolSchema({ toolName: "edit", schema: { type: "object" }, imported: false, validator });
    expect("check" in compiled && compiled.check({})).toEqual([
      { pointer: "", message: "could not be checked against the tool's schema" },
    ]);
  });
});

describe("repairs", () => {
  it("PREP-7: arguments are an object, also by a schema that does not say so", () => {
    expect(repaired({ properties: { a: STRING } }, '{"a":"x"}')).toEqual([{ a: "x" }, "parseStringified "]);
  });

  it("PREP-7: an alternative that one of its parts rules out says nothing of the rest", () => {
    const fixed = (kind: string): JsonObject => objectOf({ kind: { const: kind } });
    const schema: JsonObject = {
      type: "object",
      anyOf: [
        { allOf: [fixed("list")], properties: { v: STRINGS } },
        { allOf: [fixed("text")], properties: { v: STRING } },
      ],
    };
    expect(repaired(schema, { kind: "list", v: "x" })).toEqual([{ kind: "list", v: ["x"] }, "wrapSingle /v"]);
    expect(repaired(schema, { kind: "text", v: "x" })).toEqual([{ kind: "text", v: "x" }]);
  });

  it.each<[string, () => unknown, string]>([
    [
      "throws",
      () => {
        throw new Error("no");
      },
      "refused:invalidArguments",
    ],
    ["gives no object", () => 5, "refused:invalidArguments"],
  ])(
    "PREP-7: they are listed also of a call that is refused, since its preparation %s",
    async (_how, prepareArguments, verdict) => {
      const tool = defineTool({
        name: "read",
        description: "Reads.",
        inputSchema: objectOf({ n: { type: "integer" } }),
        risk: "readOnly",
        prepareArguments: prepareArguments as never,
        execute: () => "never",
      }) as AnyTool;
      const { result } = await play({ tools: [tool], compat: [compat.exactScalars] }, [call("read", { n: "1" })]);
      expect(verdictsOf(result)).toEqual([verdict]);
      expect(result.settled.map(({ repairs }) => repairs)).toEqual([[{ step: "exactScalars", pointer: "/n" }]]);
    },
  );
});

describe("a walk", () => {
  it("PREP-11: copies as many values as it may, and not one more", () => {
    const walked = (length: number) => {
      const walk = walkJson(Array(length).fill(null), { containers: "fresh", freeze: false, integers: "any" });
      return walk.ok ? "copied" : walk;
    };
    expect(walked(1_999_999)).toBe("copied");
    expect(walked(2_000_000)).toEqual({ ok: false, fault: "more values than can be copied", path: [1_999_999] });
  });
});
