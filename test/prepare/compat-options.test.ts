import { describe, expect, it } from "vitest";
import { z } from "zod";
import { KernelError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { applyCompat, compat, composeCompat, prepareWithRepairs } from "../../src/prepare/compat.ts";
import { INTEGER, objectOf, repaired, STRING, STRINGS } from "../support/compat-scene.ts";

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
