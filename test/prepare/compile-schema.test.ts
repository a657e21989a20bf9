import { afterEach, describe, expect, it, vi } from "vitest";
import { KernelError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { JsonSchemaValidator } from "../../src/domain/schema.ts";
import { compileToolSchema, dialectOf } from "../../src/prepare/compile-schema.ts";
import { compile, compileImported, faultsOf, validator } from "../support/compile-schema-scene.ts";

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("compileToolSchema: schemas defined in code", () => {
  it.each<[JsonObject, string]>([
    [{ type: "object", properties: { a: { type: "strin" } } }, "/properties/a/type"],
    [{ type: "object", properties: { a: { type: "string", optional: true } } }, "/properties/a/optional"],
    [
      { type: "object", properties: { optional: { type: "string" }, b: { type: "array", items: { optional: true } } } },
      "/properties/b/items/optional",
    ],
    [{ type: "object", properties: { a: { type: ["string", "number"] } } }, "/properties/a"],
    [{ type: "object", properties: { a: { $ref: "#/$defs/none" } } }, "/properties/a/$ref"],
    [{ type: "object", properties: { a: { type: "string", pattern: "(" } } }, "/properties/a/pattern"],
    [{ type: "object", properties: { a: { maxItems: 2 } } }, "/properties/a"],
    [{ type: "object", properties: { a: 5 } }, "/properties/a"],
    [{ $async: true, type: "object" }, "/$async"],
  ])("PREP-8: a fault is thrown with the tool and the JSON pointer (%#)", (schema, pointer) => {
    const error = thrownBy(() => compile(schema));
    expect(error).toBeInstanceOf(KernelError);
    expect(error).toMatchObject({ code: "INVALID_TOOL_SCHEMA", subject: "edit" });
    expect((error as Error).message).toContain('The input schema of tool "edit" does not compile: ');
    expect((error as Error).message).toContain(`"${pointer}"`);
  });

  it("PREP-8: nullable types and alternatives of required names are strict enough", () => {
    const schema: JsonObject = {
      type: "object",
      properties: { a: { type: ["string", "null"] } },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    };
    expect(faultsOf(compile(schema), { a: null })).toBe("");
  });

  it("PREP-8: a generated schema is not held to strict mode, but must compile", () => {
    const options = { toolName: "edit", imported: false, generated: true, validator };
    const loose = compileToolSchema({ ...options, schema: { type: "object", "x-order": 1 } });
    expect(faultsOf(loose, {})).toBe("");
    expect(() => compileToolSchema({ ...options, schema: { type: "dict" } })).toThrow(KernelError);
  });
});

describe("compileToolSchema: imported schemas", () => {
  it("PREP-8: unknown keywords, union types and draft-04's id are tolerated", () => {
    const schema: JsonObject = {
      id: "x",
      type: "object",
      "x-google": 1,
      properties: { a: { type: ["string", "number"], optional: true } },
    };
    expect(faultsOf(compileImported(schema), { a: 1 })).toBe("");
    expect(faultsOf(compileImported(schema), { a: true })).toBe("at /a: must be string or number");
  });

  it("PREP-8: a pattern that needs no u flag is tolerated", () => {
    const schema: JsonObject = { type: "object", properties: { a: { type: "string", pattern: "^\\#[a-z]+$" } } };
    expect(faultsOf(compileImported(schema), { a: "#ab" })).toBe("");
    expect(faultsOf(compileImported(schema), { a: "ab" })).toContain("at /a: must match pattern");
  });

  it.each<[JsonObject, string]>([
    [{ type: "dict" }, 'at "/type": must be one of "array"'],
    [
      { type: "object", properties: { a: { $ref: "other.json" } } },
      'at "/properties/a/$ref": can\'t resolve reference',
    ],
    [{ $async: true }, 'at "/$async": asynchronous schemas are not supported'],
  ])("PREP-8: one that does not compile makes the tool unavailable with a reason (%#)", (schema, reason) => {
    expect(faultsOf(compileImported(schema), {})).toContain(`its input schema does not compile: ${reason}`);
  });

  it("PREP-8: a schema that refers to itself without end refuses values and crashes nothing", () => {
    expect(faultsOf(compileImported({ $ref: "#" }), {})).toBe("could not be checked against the tool's schema");
  });
});

describe("compileToolSchema: dialects and isolation", () => {
  it.each([
    ["http://json-schema.org/draft-07/schema#", "draft-07"],
    ["https://json-schema.org/draft-07/schema", "draft-07"],
    ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
    ["http://json-schema.org/draft-04/schema#", "2020-12"],
    ["./schema.json", "2020-12"],
    ["https://example.com/unknown", "2020-12"],
    [5, "2020-12"],
    [undefined, "2020-12"],
  ])("PREP-8: $schema %j means %s and compiles", (declared, dialect) => {
    const schema: JsonObject = declared === undefined ? { type: "object" } : { $schema: declared, type: "object" };
    expect(dialectOf(schema)).toBe(dialect);
    expect(faultsOf(compile(schema), [])).toBe("must be object");
  });

  it("PREP-8: the words of each dialect mean what they mean there", () => {
    const tuple07: JsonObject = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { a: { type: "array", items: [{ type: "string" }] } },
    };
    const tuple2020: JsonObject = {
      type: "object",
      properties: { a: { type: "array", prefixItems: [{ type: "string" }] } },
    };
    expect(faultsOf(compileImported(tuple07), { a: [1] })).toBe("at /a/0: must be string");
    expect(faultsOf(compileImported(tuple2020), { a: [1] })).toBe("at /a/0: must be string");
  });

  it("PREP-8: equal ids of two tools, outer and inner, do not meet", () => {
    const inner = (type: string): JsonObject => ({
      $id: "https://x/tool",
      type: "object",
      properties: { a: { $ref: "part" } },
      $defs: { part: { $id: "part", type } },
    });
    const [first, second, again] = [compile(inner("string")), compile(inner("integer")), compile(inner("string"))];
    expect([first, second, again].map((check) => faultsOf(check, { a: "x" }))).toEqual([
      "",
      "at /a: must be integer",
      "",
    ]);
    expect(faultsOf(compileImported({ type: "object", properties: { a: { $ref: "https://x/tool" } } }), {})).toContain(
      "can't resolve",
    );
  });

  it("PREP-7: nothing is coerced, defaulted or removed, and nothing is logged", () => {
    const logs = (["log", "warn", "error"] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation(() => undefined),
    );
    const schema: JsonObject = {
      type: "object",
      properties: { n: { type: "integer", default: 1 }, when: { type: "string", format: "date-time" } },
      additionalProperties: false,
    };
    const value = { extra: 1, when: "no date" };
    expect(faultsOf(compile(schema), value)).toBe("property 'extra' is not allowed");
    expect(faultsOf(compile(schema), { n: "1" })).toBe("at /n: must be integer");
    expect(faultsOf(compileImported({ type: "object", format: "odd", unknown: 1 }), {})).toBe("");
    expect(value).toEqual({ extra: 1, when: "no date" });
    expect(logs.map((log) => log.mock.calls)).toEqual([[], [], []]);
  });

  it("PREP-8: a host's own validator is asked with dialect and strictness, and its error is wrapped", () => {
    const asked: unknown[] = [];
    const own: JsonSchemaValidator = {
      compile: (schema, options) => {
        asked.push(options);
        if ("bad" in schema) throw new Error("no good at /bad");
        return () => [{ pointer: "/a", message: "is wrong" }];
      },
    };
    const compiled = compileToolSchema({ toolName: "t", schema: {}, imported: true, validator: own });
    expect(faultsOf(compiled, {})).toBe("at /a: is wrong");
    expect(() => compileToolSchema({ toolName: "t", schema: { bad: 1 }, imported: false, validator: own })).toThrow(
      "no good at /bad",
    );
    expect(asked).toEqual([
      { dialect: "2020-12", strict: false },
      { dialect: "2020-12", strict: true },
    ]);
  });
});
