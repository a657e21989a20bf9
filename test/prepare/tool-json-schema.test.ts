import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { z as zod3 } from "zod/v3";
import { KernelError } from "../../src/domain/errors.ts";
import type { InputSchema, StandardSchema } from "../../src/domain/schema.ts";
import { isGeneratedSchema, toolJsonSchema } from "../../src/prepare/tool-json-schema.ts";

function schemaOf(inputSchema: InputSchema, inputJsonSchema?: Readonly<Record<string, unknown>>): unknown {
  return toolJsonSchema({ name: "edit", inputSchema, inputJsonSchema });
}

function standard(extra: object): StandardSchema {
  return { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) }, ...extra };
}

describe("toolJsonSchema", () => {
  it("PREP-8: a plain schema is taken as it is, as a frozen copy", () => {
    const schema = {
      type: "object",
      properties: { b: { type: "string" }, a: { type: "number" } },
      description: undefined,
    };
    const taken = schemaOf(schema);
    expect(JSON.stringify(taken)).toBe(JSON.stringify(schema));
    expect(Object.isFrozen(taken)).toBe(true);
    expect(Object.isFrozen(schema)).toBe(false);
  });

  it("PREP-8: TypeBox schemas are plain schemas", () => {
    const schema: object = Type.Object({ path: Type.String(), limit: Type.Optional(Type.Integer()) });
    expect(schemaOf(schema as InputSchema)).toEqual({
      type: "object",
      required: ["path"],
      properties: { path: { type: "string" }, limit: { type: "integer" } },
    });
  });

  it("PREP-1: Zod 4 gives the schema of its input, where defaults are optional and transforms have not happened", () => {
    const schema = z.object({ path: z.string().default("."), count: z.string().transform(Number) });
    expect(schemaOf(schema)).toEqual({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { path: { type: "string", default: "." }, count: { type: "string" } },
      required: ["count"],
    });
    expect(isGeneratedSchema({ inputSchema: schema, inputJsonSchema: undefined })).toBe(true);
  });

  it("PREP-8: inputJsonSchema wins over what a Standard Schema gives itself", () => {
    expect(schemaOf(z.object({}), { type: "object", title: "mine" })).toEqual({ type: "object", title: "mine" });
  });

  it("PREP-8: libraries that offer only a method are asked by it", () => {
    const asked: unknown[] = [];
    const method = standard({
      toJSONSchema: (options: unknown) => {
        asked.push(options);
        return { type: "object", title: "zod" };
      },
    });
    const function_ = Object.assign(
      () => undefined,
      standard({ in: { toJsonSchema: () => ({ type: "object", title: "arktype" }) } }),
    );
    expect([schemaOf(method), schemaOf(function_)]).toEqual([
      { type: "object", title: "zod" },
      { type: "object", title: "arktype" },
    ]);
    expect(asked).toEqual([{ io: "input", target: "draft-2020-12" }]);
  });

  it.each<[string, InputSchema, string]>([
    [
      "gives none (Zod 3)",
      zod3.object({ a: zod3.string() }) as StandardSchema,
      "provides no JSON Schema. Pass inputJsonSchema",
    ],
    [
      "cannot give one",
      z.object({ when: z.date() }),
      "cannot be converted to JSON Schema (Date cannot be represented in JSON Schema). Pass inputJsonSchema",
    ],
    ["gives nonsense", standard({ toJSONSchema: () => 5 }), "is not an object"],
    [
      "is not plain JSON",
      { type: "object", pattern: /x/ },
      'must be plain JSON, but holds an object that is not plain JSON at "/pattern"',
    ],
  ])("PREP-8: a schema that %s is refused with the tool's name and what to do", (_name, schema, problem) => {
    let caught: unknown;
    try {
      schemaOf(schema);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(KernelError);
    expect(caught).toMatchObject({ code: "INVALID_TOOL_SCHEMA", subject: "edit" });
    expect((caught as Error).message).toContain(`The input schema of tool "edit" ${problem}`);
  });
});
