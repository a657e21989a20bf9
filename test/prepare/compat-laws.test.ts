import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import { ajvValidator } from "../../src/prepare/ajv-validator.ts";
import { applyCompat, compat } from "../../src/prepare/compat.ts";
import { isSmall } from "../model/scale.ts";
import { INTEGER, objectOf, STRING } from "../support/compat-scene.ts";

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
