import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { createToolSession, toolJsonSchema } from "toolkernel";
import { fromAiSdkTools } from "toolkernel/ai-sdk";
import { describe, expect, it } from "vitest";
import * as z4 from "zod";
import * as z3 from "zod/v3";
import { zodJsonSchema } from "../../src/adapters/import/zod-json-schema.ts";
import { runOne } from "./wires/run-one.ts";

// The two versions share these words, not their types.
const BOTH = [
  ["3", z3 as unknown as typeof z4],
  ["4", z4],
] as const;

/** What TypeScript compiles `enum Colour { Red, Green }` to. */
const Colour = { Red: 0, Green: 1, 0: "Red", 1: "Green" } as const;

describe.each(BOTH)("zodJsonSchema, Zod %s", (_, z) => {
  it("tells the shape: types, bounds, what may be left out, descriptions", () => {
    const schema = z.object({
      name: z.string().min(1).max(9).describe("Who"),
      age: z.number().int().min(0).max(150),
      share: z.number().gt(0).lt(1),
      tags: z.array(z.string()).min(1).max(3).optional(),
      level: z.enum(["low", "high"]).default("low"),
      colour: z.nativeEnum(Colour),
      kind: z.literal("a"),
      note: z.string().nullable(),
      either: z.union([z.string(), z.boolean()]).optional(),
      pair: z.tuple([z.string(), z.number()]),
      map: z.record(z.string(), z.number()),
      anything: z.unknown(),
    });
    expect(zodJsonSchema(schema)).toEqual({
      type: "object",
      properties: {
        name: { type: "string", minLength: 1, maxLength: 9, description: "Who" },
        age: { type: "integer", minimum: 0, maximum: 150 },
        share: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
        tags: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 3 },
        level: { enum: ["low", "high"] },
        colour: { enum: [0, 1] },
        kind: { enum: ["a"] },
        note: { anyOf: [{ type: "string" }, { type: "null" }] },
        either: { anyOf: [{ type: "string" }, { type: "boolean" }] },
        pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false },
        map: { type: "object", additionalProperties: { type: "number" } },
        anything: {},
      },
      required: ["name", "age", "share", "colour", "kind", "note", "pair", "map"],
    });
  });

  it("a strict object is closed, any other is open", () => {
    expect(zodJsonSchema(z.object({}).strict())).toEqual({
      type: "object",
      properties: {},
      additionalProperties: false,
    });
    expect(zodJsonSchema(z.object({}).passthrough())).toEqual({ type: "object", properties: {} });
    expect(zodJsonSchema(z.object({}))).toEqual({ type: "object", properties: {} });
  });

  it("takes the input's form, not the output's; what JSON Schema cannot say takes anything", () => {
    const schema = z.object({
      count: z.string().transform(Number),
      trimmed: z.preprocess(String, z.string()),
      even: z.number().refine((value) => value % 2 === 0),
      when: z.date().optional(),
      both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
      kind: z.discriminatedUnion("t", [z.object({ t: z.literal("x") }), z.object({ t: z.literal("y") })]),
    });
    expect(zodJsonSchema(schema)).toMatchObject({
      properties: {
        count: { type: "string" },
        trimmed: {},
        even: { type: "number" },
        when: {},
        both: { allOf: [{ required: ["a"] }, { required: ["b"] }] },
        kind: { anyOf: [{ properties: { t: { enum: ["x"] } } }, { properties: { t: { enum: ["y"] } } }] },
      },
    });
  });

  it("ends where a schema holds itself", () => {
    const tree: z4.ZodType = z.lazy(() => z.object({ label: z.string(), children: z.array(tree) }));
    expect(zodJsonSchema(tree)).toEqual({
      type: "object",
      properties: { label: { type: "string" }, children: { type: "array", items: {} } },
      required: ["label", "children"],
    });
    const fresh = (): z4.ZodType => z.lazy(() => z.tuple([fresh(), fresh(), fresh()]));
    expect(JSON.stringify(zodJsonSchema(fresh())).length).toBeLessThan(200_000);
  });

  it("takes every value that Zod takes", () => {
    const schema = shop(z);
    const check = new Ajv2020({ strict: false }).compile(zodJsonSchema(schema) ?? false);
    fc.assert(
      fc.property(order, (value) => {
        fc.pre(schema.safeParse(value).success);
        expect(check(value)).toBe(true);
      }),
    );
  });
});

/** A schema with wrappers in wrappers, for values that are often right. */
function shop(z: typeof z4) {
  return z.object({
    item: z.string().min(2).optional().nullable(),
    count: z.number().int().min(1).default(1).catch(1),
    price: z.union([z.number(), z.string().transform(Number)]).optional(),
    tags: z.array(z.enum(["a", "b"])).readonly(),
    extra: z.record(z.string(), z.boolean().nullable()).optional(),
  });
}

const order = fc.record(
  {
    item: fc.oneof(fc.string(), fc.constant(null)),
    count: fc.oneof(fc.integer(), fc.string()),
    price: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string()),
    tags: fc.array(fc.constantFrom("a", "b"), { maxLength: 3 }),
    extra: fc.dictionary(fc.string(), fc.oneof(fc.boolean(), fc.constant(null))),
    other: fc.integer(),
  },
  { requiredKeys: ["tags"] },
);

describe("imported Zod schemas", () => {
  it("Zod 3 has its shape shown to the model and validates by itself", async () => {
    const inputSchema = z3.object({
      cents: z3
        .number()
        .int()
        .refine((cents) => cents % 100 === 0, "whole euros only"),
    });
    const tools = fromAiSdkTools({ pay: { inputSchema, execute: (input: unknown) => input } });
    expect(tools.map(toolJsonSchema)).toEqual([
      { type: "object", properties: { cents: { type: "integer" } }, required: ["cents"] },
    ]);
    expect(await runOne(tools, "pay", { cents: 500 })).toMatchObject({ outcome: "succeeded" });
    const refused = await runOne(tools, "pay", { cents: 501 });
    expect(refused).toMatchObject({ outcome: "refused", result: { failureCategory: "invalidArguments" } });
    expect(JSON.stringify(refused.result.content)).toContain("whole euros only");
  });

  it("Zod 4 gives its own JSON Schema; where it cannot, its shape is shown", () => {
    const plain = fromAiSdkTools({ at: { inputSchema: z4.object({ n: z4.int() }), execute: () => "" } });
    expect(plain.map(toolJsonSchema)).toMatchObject([{ properties: { n: { type: "integer" } }, required: ["n"] }]);
    const dated = fromAiSdkTools({ at: { inputSchema: z4.object({ n: z4.int(), on: z4.date() }), execute: () => "" } });
    expect(dated.map(toolJsonSchema)).toMatchObject([{ properties: { n: { type: "integer" }, on: {} } }]);
  });

  it("PREP-8: an imported schema that does not compile makes its own tool unavailable, not the session", async () => {
    const bad = { inputSchema: { type: "dict" }, execute: () => "" };
    const good = { inputSchema: { type: "object", "x-note": 1 }, execute: () => "ran" };
    const tools = fromAiSdkTools({ bad, good });
    expect(() => createToolSession({ tools })).not.toThrow();
    expect(await runOne(tools, "good", {})).toMatchObject({ outcome: "succeeded" });
    expect(await runOne(tools, "bad", {})).toMatchObject({ outcome: "refused" });
  });

  it("a Standard Schema of a library that gives no JSON Schema is refused by name", () => {
    const inputSchema = { "~standard": { version: 1, vendor: "other", validate: (value: unknown) => ({ value }) } };
    const set = { odd: { inputSchema, execute: () => "" } };
    expect(() => fromAiSdkTools(set)).toThrow(expect.objectContaining({ code: "INVALID_TOOL_SCHEMA", subject: "odd" }));
  });
});
