import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import { fitsSchema } from "../../src/prepare/compat/fits-schema.ts";
import {
  forbidsKey,
  itemSchema,
  namesKey,
  needsKey,
  propertySchema,
  takesType,
} from "../../src/prepare/compat/read-schema.ts";
import { followBranch, readSchema, type Schema, type SchemaReading } from "../../src/prepare/compat/schema-parts.ts";

const reading = (root: JsonObject = {}): SchemaReading => readSchema(root);

/** A reading at a place where no union may be followed any more. */
const spent = (): SchemaReading => Array.from({ length: 9 }).reduce<SchemaReading>(followBranch, reading());

const A = { type: "string" };

const B = { type: "number" };

const TYPES = ["string", "number", "boolean", "null", "array", "object"] as const;

const takenBy = (schema: Schema): string[] => TYPES.filter((type) => takesType(reading(), schema, type));

const forbids = (schema: Schema, object: JsonObject, key = "x"): boolean =>
  forbidsKey(reading(), schema, { object, key });

describe("PREP-7: what a schema takes", () => {
  it("is told by type, list of types, fixed values, unions and references", () => {
    expect([takenBy(true), takenBy(false), takenBy({}), takenBy({ type: "odd" })]).toEqual([TYPES, [], TYPES, TYPES]);
    expect([takenBy(A), takenBy({ type: "integer" }), takenBy({ type: ["string", "null"] })]).toEqual([
      ...[["string"], ["number"], ["string", "null"]],
    ]);
    expect([takenBy({ ...A, nullable: true }), takenBy({ ...A, nullable: false })]).toEqual([
      ...[["string", "null"], ["string"]],
    ]);
    expect([
      takenBy({ const: 1 }),
      takenBy({ const: null }),
      takenBy({ enum: ["a", [1]] }),
      takenBy({ enum: [] }),
    ]).toEqual([["number"], ["null"], ["string", "array"], []]);
    expect(takenBy({ anyOf: [A, B] })).toEqual(["string", "number"]);
    expect(takenBy({ anyOf: [A, B], oneOf: [B, { type: "boolean" }] })).toEqual(["number"]);
    expect(takenBy({ allOf: [{ type: ["string", "number"] }, A] })).toEqual(["string"]);
    expect(takesType(spent(), A, "number")).toBe(true);
  });

  it("fits a value only where its types, fixed values, keys and items do", () => {
    const fits = (schema: Schema, value: JsonValue): boolean => fitsSchema(reading(), schema, value);
    expect([fits(true, 1), fits(false, 1), fitsSchema(spent(), A, 1)]).toEqual([true, false, true]);
    expect([fits({ type: "null" }, null), fits({ type: "null" }, 0), fits({ type: "odd" }, 0)]).toEqual([
      ...[true, false, true],
    ]);
    expect([fits({ ...A, nullable: true }, null), fits(A, null), fits({ ...A, nullable: true }, 1)]).toEqual([
      ...[true, false, false],
    ]);
    expect([fits({ const: { a: [1] } }, { a: [1] }), fits({ const: 1 }, 2), fits({ enum: [1, {}] }, {})]).toEqual([
      ...[true, false, true],
    ]);
    expect([fits({ enum: [1, 2] }, 3), fits({ type: "integer" }, 1.5), fits({ type: "integer" }, 2)]).toEqual([
      ...[false, false, true],
    ]);
    expect([
      fits({ required: ["a"] }, { a: 1 }),
      fits({ required: ["a"] }, { b: 1 }),
      fits({ required: [7] }, {}),
    ]).toEqual([true, false, true]);
    expect([fits({ properties: { a: A } }, { a: 1 }), fits({ additionalProperties: A }, { b: 1 })]).toEqual([
      false,
      false,
    ]);
    expect([fits({ properties: { a: A } }, { a: "x", b: 1 }), fits({ items: A }, ["x", 1])]).toEqual([true, false]);
    expect([fits({ anyOf: [A, B] }, 1), fits({ anyOf: [A, B] }, true), fits({ items: A }, ["x"])]).toEqual([
      ...[true, false, true],
    ]);
  });

  it("names and needs keys in any of its parts and branches", () => {
    const sides = (part: JsonObject): JsonObject[] => [
      part,
      { allOf: [A, part] },
      { anyOf: [A, part] },
      { oneOf: [part, A] },
      { if: part },
      JSON.parse(JSON.stringify({ if: A, else: part }).replace('"else"', '"then"')),
      { if: A, else: part },
      { dependentSchemas: { other: part } },
      { dependencies: { other: part } },
    ];
    for (const schema of sides({ properties: { a: A } }))
      expect([namesKey(reading(), schema, "a"), namesKey(reading(), schema, "b")]).toEqual([true, false]);
    for (const schema of sides({ required: ["a"] }))
      expect([needsKey(reading(), schema, "a"), needsKey(reading(), schema, "b")]).toEqual([true, false]);
    expect(
      [true, false].flatMap((schema) => [namesKey(reading(), schema, "a"), needsKey(reading(), schema, "a")]),
    ).toEqual([false, false, false, false]);
    expect([namesKey(spent(), {}, "a"), needsKey(spent(), {}, "a")]).toEqual([true, true]);
    expect(needsKey(reading(), { dependentRequired: { b: ["a"] } }, "a")).toBe(true);
    expect(needsKey(reading(), { dependencies: { b: ["a"] } }, "a")).toBe(true);
  });

  it("forbids a key only where it is closed in each branch that can still apply", () => {
    const closed = { additionalProperties: false };
    const of = (kind: JsonValue, more: JsonObject = {}): JsonObject => ({ properties: { kind, ...more }, ...closed });
    expect([forbids(closed, {}), forbids({}, {}), forbids(true, {}), forbids(false, {})]).toEqual([
      ...[true, false, false, false],
    ]);
    expect([
      forbids({ ...closed, properties: { x: A } }, {}),
      forbidsKey(spent(), closed, { object: {}, key: "x" }),
    ]).toEqual([false, false]);
    const union = { anyOf: [of({ const: "a" }), of({ const: "b" }, { x: A })] };
    expect(
      [{ kind: "a" }, { kind: "b" }, { kind: "c" }, {}, { kind: 5 }].map((object) => forbids(union, object)),
    ).toEqual([...[true, false, false, false, false]]);
    expect(forbids({ anyOf: [true, closed] }, {})).toBe(false);
    expect(forbids({ anyOf: [A, closed] }, {})).toBe(true);
    expect(forbids({ anyOf: [false, closed] }, {})).toBe(true);
    const still = (kind: JsonValue, object: JsonObject): boolean => forbids({ anyOf: [of(kind)] }, object);
    expect([still({ enum: ["a", "b"] }, { kind: "b" }), still({ enum: ["a", "b"] }, { kind: "c" })]).toEqual([
      true,
      false,
    ]);
    expect([
      still({ const: { a: 1 } }, { kind: { b: 1 } }),
      still({ const: "a" }, { kind: 5 }),
      still(true, { kind: 5 }),
    ]).toEqual([true, true, true]);
    expect([still({ const: "a" }, {}), still({ enum: [1, "a"] }, { kind: 2 }), still(A, { kind: "b" })]).toEqual([
      ...[true, false, true],
    ]);
    expect(forbids({ anyOf: [{ ...closed, properties: { toString: { const: 1 } } }] }, {})).toBe(true);
  });

  it("wants at a key and at an index what its parts and the branches still open want there", () => {
    const at = (schema: Schema, object: JsonObject = {}): Schema =>
      propertySchema(reading(), schema, { object, key: "x" });
    const of = (kind: string, x: JsonValue): JsonObject => ({ properties: { kind: { const: kind }, x } });
    expect([at(true), at(false), at({}), at({ properties: { x: A } })]).toEqual([true, true, true, A]);
    expect(at({ properties: { x: A }, anyOf: [of("a", B), of("b", true)] }, { kind: "a" })).toEqual({ allOf: [A, B] });
    expect(at({ anyOf: [of("a", A), of("b", B)] })).toEqual({ anyOf: [A, B] });
    expect(at({ anyOf: [{ type: "string", ...of("a", A) }, of("b", B)] })).toEqual(B);
    expect(propertySchema(spent(), { properties: { x: A } }, { object: {}, key: "x" })).toBe(true);
    const item = (schema: Schema, index = 0): Schema => itemSchema(reading(), schema, index);
    expect([item(true), item(false), item({}), item({ items: A }), item({ prefixItems: [A, B] }, 1)]).toEqual([
      ...[true, true, true, A, B],
    ]);
    expect(item({ items: A, anyOf: [{ items: B }, { type: "string", items: false }] })).toEqual({ allOf: [A, B] });
    expect(item({ anyOf: [{ items: A }, { items: B }] })).toEqual({ anyOf: [A, B] });
    expect(itemSchema(spent(), { items: A }, 0)).toBe(true);
  });
});
