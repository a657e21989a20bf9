import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import { isSameJson } from "../../src/prepare/compat/json-types.ts";
import {
  asSchema,
  both,
  conjunctsOf,
  either,
  enterValue,
  followBranch,
  hasProperty,
  isExhausted,
  isSpent,
  ownItemSchema,
  ownPropertySchema,
  readSchema,
  type SchemaReading,
} from "../../src/prepare/compat/schema-parts.ts";

const reading = (root: JsonObject = {}): SchemaReading => readSchema(root);

/** A reading at a place where no union may be followed any more. */
const spent = (): SchemaReading => Array.from({ length: 9 }).reduce<SchemaReading>(followBranch, reading());

const A = { type: "string" };

const B = { type: "number" };

describe("PREP-7: two JSON values", () => {
  it.each<[JsonValue, JsonValue, boolean]>([
    [1, 1, true],
    [1, "1", false],
    [null, null, true],
    [null, {}, false],
    [[], [], true],
    [[], {}, false],
    [{}, [], false],
    [[1, [2]], [1, [2]], true],
    [[1, 2], [1, 3], false],
    [[1, 2], [3, 2], false],
    [[1], [1, 2], false],
    [[1, 2], [1], false],
    [[null], [null], true],
    [{ a: 1, b: { c: 2 } }, { b: { c: 2 }, a: 1 }, true],
    [{ a: 1, b: 2 }, { a: 1, b: 3 }, false],
    [{ a: 1, b: 2 }, { a: 3, b: 2 }, false],
    [{ a: 1 }, { b: 1 }, false],
    [{ a: null }, { b: null }, false],
    [{ a: null }, { a: null }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1, b: 2 }, { a: 1 }, false],
    [{ a: 1 }, 1, false],
    [1, { a: 1 }, false],
  ])("%j and %j: the same is %j", (left, right, isSame) => {
    expect(isSameJson(left, right)).toBe(isSame);
  });
});

describe("PREP-7: parts of a schema", () => {
  it("are joined to one of these, without what nothing fits", () => {
    expect([either([]), either([false]), either([true, A]), either([false, A]), either([A, A])]).toEqual([
      ...[true, false, true, A, A],
    ]);
    expect([either([A, B]), either([A, false, B, A]), either([true]), either([false, true])]).toEqual([
      ...[{ anyOf: [A, B] }, { anyOf: [A, B] }, true, true],
    ]);
  });

  it("are joined to all of these, without what everything fits", () => {
    expect([both([]), both([true]), both([A, true]), both([A, false]), both([A, A])]).toEqual([
      true,
      true,
      A,
      false,
      A,
    ]);
    expect([both([A, B]), both([true, A, B, A]), both([false])]).toEqual([{ allOf: [A, B] }, { allOf: [A, B] }, false]);
  });

  it("are what it refers to and its allOf, through any of them, each once", () => {
    const root = {
      title: "t",
      none: null,
      $defs: { a: A, "b/c~d e": B, ring: { $ref: "#/$defs/ring" }, list: [A, { $ref: "#/$defs/list/0" }], no: false },
    };
    const parts = (schema: JsonObject): readonly JsonObject[] => conjunctsOf(reading(root), schema);
    const named = (reference: string): readonly JsonObject[] => parts({ $ref: reference }).slice(1);
    expect(parts(A)).toEqual([A]);
    expect(named("#/$defs/a")).toEqual([A]);
    expect(named("#/$defs/b~1c~0d%20e")).toEqual([B]);
    expect(named("#/$defs/list/1")).toEqual([{ $ref: "#/$defs/list/0" }, A]);
    expect(named("#/$defs/ring")).toEqual([{ $ref: "#/$defs/ring" }]);
    expect(named("#")).toEqual([root]);
    expect(parts({ allOf: [A, { allOf: [B, true, 7] }] })).toEqual(expect.arrayContaining([A, B]));
    expect(parts({ allOf: [A, { allOf: [B, true, 7] }] })).toHaveLength(4);
    expect(parts({ allOf: [A, false] })).toEqual([{ enum: [] }]);
    expect(named("#/$defs/no")).toEqual([]);
    for (const nowhere of [
      "#/$defs/x",
      "#/title/0",
      "#/title/length",
      "#/none/x",
      "#a",
      "other",
      "#/%E0%A4%A",
      "#/toString",
    ])
      expect([nowhere, named(nowhere)]).toEqual([nowhere, []]);
  });

  it("are not looked up where an inner base changes what a reference means", () => {
    const based = { $id: "https://example.org/root", $defs: { a: A, list: [1, null, { b: { $id: "other" } }] } };
    expect(conjunctsOf(reading(based), { $ref: "#/$defs/a" })).toEqual([{ $ref: "#/$defs/a" }]);
    const plain = { $id: "https://example.org/root", $defs: { a: A, b: { $id: 5 } } };
    expect(conjunctsOf(reading(plain), { $ref: "#/$defs/a" })).toHaveLength(2);
  });

  it("are what a key or an index wants by the part's own words", () => {
    const part = {
      properties: { a: A, ab: true },
      patternProperties: { "^a": B, "^z": false, "(": A },
      additionalProperties: false,
    };
    expect(ownPropertySchema({ properties: { a: A }, additionalProperties: B }, "a")).toEqual(A);
    expect(ownPropertySchema({ properties: { a: A }, additionalProperties: B }, "b")).toEqual(B);
    expect(ownPropertySchema({ properties: { a: A } }, "toString")).toBe(true);
    expect(ownPropertySchema(part, "a")).toEqual({ allOf: [A, B] });
    expect(ownPropertySchema(part, "ab")).toEqual(B);
    expect(ownPropertySchema({ ...part, patternProperties: { "^a": B } }, "c")).toBe(false);
    expect(ownPropertySchema(part, "c")).toBe(true);
    expect([hasProperty(part, "a"), hasProperty({ properties: { a: A } }, "b"), hasProperty(part, "c")]).toEqual([
      ...[true, false, true],
    ]);
    expect([0, 1, 2].map((index) => ownItemSchema({ prefixItems: [A, B], items: false }, index))).toEqual([
      A,
      B,
      false,
    ]);
    expect([0, 1].map((index) => ownItemSchema({ items: [A], additionalItems: B }, index))).toEqual([A, B]);
    expect([ownItemSchema({ items: A }, 3), ownItemSchema({}, 0), asSchema(undefined), asSchema([A])]).toEqual([
      ...[A, true, true, true],
    ]);
  });

  it("are read up to 200,000 steps, and 8 unions into one another at one place", () => {
    const long = reading();
    for (let step = 0; step < 200_000; step += 1) if (isSpent(long)) throw new Error(`spent at ${step}`);
    expect([isExhausted(long), isSpent(long), isExhausted(long)]).toEqual([false, true, true]);
    const eighth = Array.from({ length: 8 }).reduce<SchemaReading>(followBranch, reading());
    expect([isSpent(eighth), isSpent(spent()), isExhausted(spent()), isSpent(enterValue(spent()))]).toEqual([
      ...[false, true, false, false],
    ]);
  });
});
