import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { compile, compileImported, faultsOf } from "../support/compile-schema-scene.ts";

const EDIT: JsonObject = {
  type: "object",
  properties: {
    path: { type: "string" },
    limit: { type: ["integer", "null"] },
    mode: { enum: ["fast", "slow"] },
    edits: {
      type: "array",
      items: {
        type: "object",
        properties: { old: { type: "string" } },
        required: ["old"],
        additionalProperties: false,
      },
    },
    names: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
  },
  required: ["path"],
};

describe("describeFaults", () => {
  const check = compile(EDIT);

  it("C36: missing required properties are named", () => {
    expect(faultsOf(check, {})).toBe("missing required property 'path'");
  });

  it("PREP-11: every fault is told by place and what was wanted, and no value is quoted", () => {
    const secret = "hunter2";
    expect(faultsOf(check, { path: 1, limit: secret, mode: secret, edits: [{ other: secret }], names: 5 })).toBe(
      'at /path: must be string; at /limit: must be integer or null; at /mode: must be one of "fast", "slow"; ' +
        "at /edits/0: missing required property 'old'; at /edits/0: property 'other' is not allowed; at /names: must be string or array",
    );
  });

  it("PREP-8: eight faults are told, and how many more there are", () => {
    const text = faultsOf(check, { path: "p", edits: Array.from({ length: 10 }, () => ({})) });
    expect(text.split("; ")).toHaveLength(9);
    expect(text.endsWith("; and 2 more")).toBe(true);
  });

  it("PREP-8: a hostile value gets a short text, also when it is large", () => {
    const large = { path: "p", edits: Array.from({ length: 100_000 }, () => 1) };
    expect(faultsOf(check, large)).toBe("at /edits/0: must be object");
    const longKey = { path: "p", edits: [{ old: "x", ["k".repeat(100_000)]: 1 }] };
    expect(faultsOf(check, longKey)).toBe(`at /edits/0: property '${"k".repeat(64)}…' is not allowed`);
    const longEnum = compile({
      type: "object",
      properties: { a: { enum: Array.from({ length: 5_000 }, (_, n) => `v${n}`) } },
    });
    expect(faultsOf(longEnum, { a: 1 })).toMatch(/^at \/a: must be one of "v0", .*"v15" or one of 4984 more$/);
  });

  it("C51: names that prototypes have are looked for in the value only", () => {
    const schema: JsonObject = {
      type: "object",
      properties: { constructor: { type: "string" } },
      required: ["toString"],
    };
    expect(faultsOf(compileImported(schema), {})).toBe("missing required property 'toString'");
  });
});
