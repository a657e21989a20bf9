import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import { applyCompat, compat } from "../../src/prepare/compat.ts";
import { INTEGER, objectOf, repaired, STRING, STRINGS } from "../support/compat-scene.ts";

describe("compat.emptyArguments", () => {
  it.each([[null], [""], ["  "], ["null"]])("C36: the draft %j becomes {}", (draft) => {
    expect(repaired(objectOf({}), draft)).toEqual([{}, "emptyArguments "]);
  });

  it.each([[5], [[1]], [true], ["text"], [{ a: null }]])("C37: the draft %j is left alone", (draft) => {
    expect(applyCompat(compat.emptyArguments, objectOf({ a: STRING }), draft)).toEqual({ draft, repairs: [] });
  });
});

describe("compat.dropNullOptionals", () => {
  it("C45: null at an optional key that takes no null is dropped", () => {
    const schema = objectOf({ path: STRING, limit: INTEGER, deep: objectOf({ a: STRING }) }, ["path"]);
    expect(repaired(schema, { path: "a", limit: null, deep: { a: null } })).toEqual([
      { path: "a", deep: {} },
      "dropNullOptionals /limit",
      "dropNullOptionals /deep/a",
    ]);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["a required key", objectOf({ a: INTEGER }, ["a"]), { a: null }],
    ["a key that takes null", objectOf({ a: { type: ["integer", "null"] } }), { a: null }],
    ["a nullable key", objectOf({ a: { type: "integer", nullable: true } }), { a: null }],
    ["a key of any type", objectOf({ a: {} }), { a: null }],
    ["an unknown key", objectOf({}), { a: null }],
    [
      "a key that a condition may require",
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { ...objectOf({ a: INTEGER, b: STRING }), if: { required: ["b"] }, then: { required: ["a"] } },
      { a: null },
    ],
    [
      "a key that another one may require",
      { ...objectOf({ a: INTEGER }), dependentRequired: { b: ["a"] } },
      { a: null },
    ],
    [
      "a key that one alternative requires",
      { ...objectOf({ a: INTEGER }), anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      { a: null },
    ],
    ["an item of a list", objectOf({ a: STRINGS }), { a: [null] }],
    ["the text null", objectOf({ a: STRING, b: INTEGER }), { a: "null", b: "null" }],
  ])("C45: %s is left alone", (_name, schema, draft) => {
    expect(repaired(schema, draft)).toEqual([draft]);
  });
});

describe("compat.parseStringified", () => {
  it("C40: text becomes the array or object wanted, at any depth, also the whole arguments", () => {
    const edits: JsonObject = {
      type: "array",
      items: objectOf({ oldText: STRING, newText: STRING }, ["oldText", "newText"]),
    };
    const schema = objectOf({ path: STRING, edits, headers: { type: "object", additionalProperties: STRING } }, [
      "path",
    ]);
    const draft = { path: "a", edits: '[{"oldText":"a","newText":"b"}]', headers: '{"User-Agent":"x"}' };
    const whole = { path: "a", edits: [{ oldText: "a", newText: "b" }], headers: { "User-Agent": "x" } };
    expect(repaired(schema, draft)).toEqual([whole, "parseStringified /edits", "parseStringified /headers"]);
    expect(repaired(schema, JSON.stringify(draft))).toEqual([
      whole,
      "parseStringified ",
      "parseStringified /edits",
      "parseStringified /headers",
    ]);
    expect(repaired(objectOf({ queries: STRINGS }), { queries: '["test"]' })).toEqual([
      { queries: ["test"] },
      "parseStringified /queries",
    ]);
  });

  it("C42: a union that takes text is ambiguous and left alone", () => {
    const schema = objectOf({ paths: { anyOf: [STRING, STRINGS] } });
    expect(repaired(schema, { paths: '["package.json"]' })).toEqual([{ paths: '["package.json"]' }]);
  });

  it("C43: text that looks like JSON in a text field is byte for byte the same", () => {
    const draft = { comment: '[some-label]: {"foo":"bar"}\nInitiator: [~accountid:123]', json: '{"a":1}' };
    const result = applyCompat(compat.all, objectOf({ comment: STRING, json: STRING, n: INTEGER }), draft);
    expect(result).toEqual({ draft, repairs: [] });
    expect(result.draft).toBe(draft);
  });

  it.each<[string, JsonObject, string]>([
    ["of another shape", STRINGS, "[1,2]"],
    ["of the other kind", { type: "array", items: { type: "object" } }, '{"a":1}'],
    ["that is not JSON", STRINGS, "[a, b]"],
    ["with a duplicate key", { type: "object" }, '{"a":1,"a":2}'],
    ["with a number that would be rounded", { type: "array" }, "[9007199254740993]"],
    ["in a field of any type", {}, "[1]"],
    ["where a reference leads nowhere", { $ref: "#/$defs/none" }, "[1]"],
  ])("C40: text %s is left alone", (_name, schema, text) => {
    expect(repaired(objectOf({ a: schema }), { a: text })).toEqual([{ a: text }]);
  });
});

describe("compat.exactScalars", () => {
  it.each<[JsonObject, string, JsonValue]>([
    [INTEGER, "200000", 200000],
    [INTEGER, "-7", -7],
    [{ type: "number" }, "0.5", 0.5],
    [{ type: ["integer", "null"] }, "3", 3],
    [{ type: "boolean" }, "true", true],
    [{ type: "boolean" }, "false", false],
    [{ enum: [1, 2] }, "2", 2],
    [{ anyOf: [INTEGER, { type: "null" }] }, "3", 3],
  ])("C40: for %j the text %j is the scalar it spells", (schema, text, value) => {
    expect(repaired(objectOf({ a: schema }), { a: text })).toEqual([{ a: value }, "exactScalars /a"]);
  });

  it.each<[JsonObject, JsonValue]>([
    [INTEGER, ""],
    [INTEGER, "1.0"],
    [INTEGER, "1.5"],
    [INTEGER, " 1"],
    [INTEGER, "1e3"],
    [INTEGER, "0x10"],
    [INTEGER, "-0"],
    [INTEGER, "9007199254740993"],
    [INTEGER, "123456789012345680000"],
    [{ type: "number" }, "Infinity"],
    [{ type: "number" }, "NaN"],
    [INTEGER, true],
    [INTEGER, "null"],
    [{ type: "boolean" }, "1"],
    [{ type: "boolean" }, 0],
    [{ type: "boolean" }, 1],
    [{ type: "boolean" }, "True"],
    [{ type: "boolean" }, ""],
    [STRING, "1"],
    [STRING, 5],
    [STRING, true],
    [STRING, null],
    [{ enum: ["1", 1] }, "1"],
    [{ enum: ["2", 1] }, "1"],
    [{ anyOf: [STRING, INTEGER] }, "1"],
    [{}, "1"],
  ])("C46: for %j the value %j stays what it is", (schema, value) => {
    expect(repaired(objectOf({ a: schema }, ["a"]), { a: value })).toEqual([{ a: value }]);
  });
});

describe("compat.dropUnknownKeys", () => {
  const closed: JsonObject = { ...objectOf({ a: STRING }), additionalProperties: false };

  it("PREP-7: keys that a closed schema does not name are dropped", () => {
    const schema: JsonObject = { ...objectOf({ list: { type: "array", items: closed } }), additionalProperties: false };
    expect(repaired(schema, { x: 1, list: [{ a: "x", b: 2 }], y: { z: 1 } })).toEqual([
      { list: [{ a: "x" }] },
      "dropUnknownKeys /x",
      "dropUnknownKeys /y",
      "dropUnknownKeys /list/0/b",
    ]);
  });

  it.each<[string, JsonObject]>([
    ["an open schema", objectOf({ a: STRING })],
    ["a schema for the others", { ...objectOf({ a: STRING }), additionalProperties: INTEGER }],
    ["a pattern that covers it", { ...closed, patternProperties: { "^b": {} } }],
    ["another part that names it", { allOf: [closed, objectOf({ b: STRING })] }],
    ["an alternative that is open", { anyOf: [closed, objectOf({ c: STRING })] }],
    ["unevaluatedProperties", { ...objectOf({ a: STRING }), unevaluatedProperties: false }],
  ])("PREP-7: under %s nothing is dropped", (_name, schema) => {
    expect(repaired(schema, { a: "x", b: "y" })).toEqual([{ a: "x", b: "y" }]);
  });

  it("PREP-7: of tagged alternatives the one that the tag names counts", () => {
    const tagged = (kind: string, property: string): JsonObject => ({
      ...objectOf({ kind: { const: kind }, [property]: INTEGER }, ["kind"]),
      additionalProperties: false,
    });
    const schema = objectOf({ what: { oneOf: [tagged("one", "a"), tagged("two", "b")] } });
    expect(repaired(schema, { what: { kind: "one", a: "1", extra: true } })).toEqual([
      { what: { kind: "one", a: 1 } },
      "exactScalars /what/a",
      "dropUnknownKeys /what/extra",
    ]);
    expect(repaired(schema, { what: { kind: "one", b: 2 } })).toEqual([{ what: { kind: "one", b: 2 } }]);
  });
});

describe("compat.wrapSingle", () => {
  it("C46: one value where only a list is taken becomes a list of it", () => {
    const schema = objectOf({ items: STRINGS, edits: { type: "array", items: objectOf({ old: STRING }, ["old"]) } });
    expect(repaired(schema, { items: "a", edits: { old: "x" } })).toEqual([
      { items: ["a"], edits: [{ old: "x" }] },
      "wrapSingle /items",
      "wrapSingle /edits",
    ]);
  });

  it.each<[JsonObject, JsonValue]>([
    [STRINGS, 5],
    [STRINGS, ""],
    [STRINGS, "[a, b]"],
    [STRINGS, '{"a":1}'],
    [STRINGS, { a: 1 }],
    [{ anyOf: [STRING, STRINGS] }, "a"],
    [{ type: "array", items: { enum: ["x"] } }, "a"],
    [{ type: "array", items: { type: "null" } }, null],
  ])("C46: for %j the value %j is left alone", (schema, value) => {
    expect(repaired(objectOf({ a: schema }, ["a"]), { a: value })).toEqual([{ a: value }]);
  });
});
