import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { KernelError } from "../../src/domain/errors.ts";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import { ajvValidator } from "../../src/prepare/ajv-validator.ts";
import { applyCompat, compat, composeCompat, prepareWithRepairs } from "../../src/prepare/compat.ts";
import { isSmall } from "../model/scale.ts";

/** An object schema with these properties, all optional unless named. */
function objectOf(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required };
}

/** Arguments and the repairs as `step pointer`, after all steps. */
function repaired(schema: JsonObject, draft: JsonValue): readonly [JsonValue, ...string[]] {
  const result = applyCompat(compat.all, schema, draft);
  return [result.draft, ...result.repairs.map(({ step, pointer }) => `${step} ${pointer}`)];
}

const INTEGER: JsonObject = { type: "integer" };
const STRING: JsonObject = { type: "string" };
const STRINGS: JsonObject = { type: "array", items: STRING };

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
    ["that is no JSON", STRINGS, "[a, b]"],
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

describe("compat: reading schemas", () => {
  it("C40: references into the document are followed, also recursive ones", () => {
    const node = objectOf({
      size: { $ref: "#/$defs/si~1ze" },
      children: { type: "array", items: { $ref: "#/$defs/node" } },
    });
    const schema: JsonObject = { $ref: "#/$defs/node", $defs: { node, "si/ze": INTEGER } };
    expect(repaired(schema, { size: "1", children: [{ children: [{ size: "2" }] }] })).toEqual([
      { size: 1, children: [{ children: [{ size: 2 }] }] },
      "exactScalars /size",
      "exactScalars /children/0/children/0/size",
    ]);
  });

  it.each<[string, JsonObject]>([
    ["an inner $id", objectOf({ a: { $ref: "#/$defs/n" }, b: { $id: "x", type: "string" } })],
    ["a remote reference", objectOf({ a: { $ref: "https://x/y" } })],
    ["a reference to itself", objectOf({ a: { $ref: "#/properties/a" } })],
  ])("C42: what %s leaves open is left alone", (_name, schema) => {
    expect(repaired({ ...schema, $defs: { n: INTEGER } }, { a: "1" })).toEqual([{ a: "1" }]);
  });

  it("PREP-7: a schema that unfolds without end costs a bounded number of steps, and what is certain is still repaired", () => {
    const schema: JsonObject = {
      ...objectOf({ a: INTEGER }),
      anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }],
      $defs: {
        a: { anyOf: [{ $ref: "#/$defs/b" }, { allOf: [{ $ref: "#/$defs/b" }] }, false] },
        b: { anyOf: [{ $ref: "#/$defs/a" }, { allOf: [{ $ref: "#/$defs/a" }] }, false] },
      },
    };
    expect(repaired(schema, { a: "1", b: null })).toEqual([{ a: 1, b: null }, "exactScalars /a"]);
  });

  it("PREP-7: the steps of both dialects' tuples are found", () => {
    const draft07 = objectOf({ a: { type: "array", items: [INTEGER, STRING], additionalItems: INTEGER } });
    const draft2020 = objectOf({ a: { type: "array", prefixItems: [INTEGER, STRING], items: INTEGER } });
    for (const schema of [draft07, draft2020]) {
      expect(repaired(schema, { a: ["1", "2", "3"] })).toEqual([
        { a: [1, "2", 3] },
        "exactScalars /a/0",
        "exactScalars /a/2",
      ]);
    }
  });
});

describe("compat: as an option", () => {
  const schema = objectOf({ limit: INTEGER, list: STRINGS });

  it("PREP-7: a step is a prepareArguments, and tells its repairs when it is run as one", () => {
    const prepare = compat.exactScalars(schema);
    expect(prepare({ limit: "5" })).toEqual({ limit: 5 });
    expect(prepareWithRepairs(prepare, { limit: "5", list: "a" })).toEqual({
      draft: { limit: 5, list: "a" },
      repairs: [{ step: "exactScalars", pointer: "/limit" }],
    });
  });

  it("PREP-7: a tool's own prepareArguments reports nothing, and undefined keeps the draft", () => {
    const draft = { limit: "5" };
    expect(prepareWithRepairs(() => ({ limit: 6 }), draft)).toEqual({ draft: { limit: 6 }, repairs: [] });
    expect(prepareWithRepairs(() => null, draft)).toEqual({ draft: null, repairs: [] });
    expect(prepareWithRepairs(() => undefined, draft).draft).toBe(draft);
    expect(() =>
      prepareWithRepairs(() => {
        throw new TypeError("mine");
      }, draft),
    ).toThrow("mine");
  });

  it("PREP-7: several steps are joined in the order given; none does nothing", () => {
    expect(compat.all.steps).toEqual([
      "emptyArguments",
      "dropNullOptionals",
      "parseStringified",
      "exactScalars",
      "dropUnknownKeys",
      "wrapSingle",
    ]);
    const joined = composeCompat([compat.wrapSingle, compat.exactScalars], schema);
    expect(joined.applyTo({ list: "a", limit: "5" })).toEqual({
      draft: { list: ["a"], limit: 5 },
      repairs: [
        { step: "wrapSingle", pointer: "/list" },
        { step: "exactScalars", pointer: "/limit" },
      ],
    });
    const draft = { limit: "5" };
    expect(applyCompat([], schema, draft)).toEqual({ draft, repairs: [] });
  });

  it("PREP-7: a Standard Schema that gives its JSON Schema will do; one that does not is refused", () => {
    expect(compat.exactScalars(z.object({ n: z.int() }))({ n: "5" })).toEqual({ n: 5 });
    const bare = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } } as const;
    expect(() => compat.all(bare)).toThrow(KernelError);
  });

  it("PREP-7: the pointer of a repair is bounded, and so is their number", () => {
    const closed: JsonObject = { type: "object", properties: {}, additionalProperties: false };
    const keys = Array.from({ length: 2_000 }, (_, index) => [`${"k".repeat(1_000)}${index}`, 1]);
    const result = applyCompat(compat.all, closed, Object.fromEntries(keys));
    expect([result.draft, result.repairs.length]).toEqual([{}, 1_000]);
    expect(result.repairs[0]).toEqual({ step: "dropUnknownKeys", pointer: `/${"k".repeat(64)}…` });
  });
});

describe("compat: laws", () => {
  const key = fc.constantFrom("a", "b", "c");
  const scalar = fc.constantFrom<JsonValue>(
    null,
    true,
    false,
    0,
    1,
    1.5,
    "",
    "1",
    "true",
    "null",
    "x",
    '["x"]',
    '{"a":1}',
  );
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { noNullPrototype: true }),
    ),
  }));
  const draft = fc.dictionary(key, value, { noNullPrototype: true });
  const leaf = fc.constantFrom<JsonObject | boolean>(
    true,
    {},
    STRING,
    INTEGER,
    { type: "number" },
    { type: "boolean" },
    { type: "null" },
    { type: ["string", "null"] },
    { enum: ["x", 1] },
    { const: "1" },
    { type: "array" },
    { type: "object" },
    { $ref: "#/$defs/node" },
    { $ref: "#" },
  );
  const { schema } = fc.letrec<{ schema: JsonObject | boolean; object: JsonObject }>((tie) => ({
    object: fc
      .record(
        {
          properties: fc.dictionary(key, tie("schema"), { noNullPrototype: true }),
          required: fc.uniqueArray(key, { maxLength: 1 }),
          additionalProperties: fc.constantFrom<JsonValue>(true, false, STRING),
        },
        { requiredKeys: ["properties"] },
      )
      .map((parts): JsonObject => ({ type: "object", ...parts })),
    schema: fc.oneof(
      { maxDepth: 3 },
      leaf,
      tie("object"),
      tie("schema").map((items): JsonObject => ({ type: "array", items })),
      fc
        .tuple(fc.constantFrom("anyOf", "oneOf", "allOf"), fc.array(tie("schema"), { minLength: 1, maxLength: 3 }))
        .map(([union, branches]): JsonObject => ({ [union]: branches })),
    ),
  }));
  const extra = fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: schema });
  const document = fc
    .tuple(schema, extra, fc.dictionary(key, schema, { noNullPrototype: true }))
    .map(([node, part, properties]): JsonObject => ({ $defs: { node }, allOf: [part], type: "object", properties }));
  const validator = ajvValidator();
  const RUNS = isSmall ? 12 : 150;

  it("PREP-7: a draft that is valid is never touched, and no draft is ever changed", () => {
    let valid = 0;
    fc.assert(
      fc.property(document, fc.array(draft, { minLength: 8, maxLength: 8 }), (root, drafts) => {
        const check = compiled(root);
        for (const each of drafts) {
          const before = JSON.stringify(each);
          const result = applyCompat(compat.all, root, each);
          expect(JSON.stringify(each)).toBe(before);
          if (!isValid(check, each)) continue;
          valid += 1;
          expect(result.draft).toBe(each);
          expect(result.repairs).toEqual([]);
        }
      }),
      { numRuns: RUNS },
    );
    expect(valid).toBeGreaterThan(RUNS / 3);
  });

  it("PREP-7: what is valid at its place is not touched because something beside it is not", () => {
    let valid = 0;
    fc.assert(
      fc.property(schema, schema, fc.array(value, { minLength: 8, maxLength: 8 }), (node, good, values) => {
        const root: JsonObject = { $defs: { node }, ...objectOf({ good, bad: INTEGER }) };
        const check = compiled(root);
        for (const each of values) {
          if (!isValid(check, { good: each, bad: 1 })) continue;
          valid += 1;
          const spoiled = { good: each, bad: "x" };
          expect(applyCompat(compat.all, root, spoiled)).toEqual({ draft: spoiled, repairs: [] });
        }
      }),
      { numRuns: RUNS },
    );
    expect(valid).toBeGreaterThan(RUNS / 3);
  });

  it("PREP-7: a repaired draft needs no second repair of the same steps", () => {
    fc.assert(
      fc.property(document, draft, (root, each) => {
        const once = applyCompat(compat.all, root, each);
        const lists = once.repairs.some(({ step }) => step === "wrapSingle" || step === "parseStringified");
        if (lists) return;
        expect(applyCompat(compat.all, root, once.draft)).toEqual({ draft: once.draft, repairs: [] });
      }),
    );
  });

  function compiled(root: JsonObject): (each: unknown) => readonly unknown[] {
    try {
      return validator.compile(root, { dialect: "2020-12", strict: false });
    } catch {
      return () => ["not compiled"]; // references in a circle
    }
  }

  function isValid(check: (each: unknown) => readonly unknown[], each: unknown): boolean {
    try {
      return check(each).length === 0;
    } catch {
      return false; // a schema that refers to itself without end
    }
  }
});
