import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { ajvValidator, stockValidator } from "../../src/prepare/ajv-validator.ts";
import { defineTool } from "../../src/prepare/define-tool.ts";
import { registerTools } from "../../src/prepare/register-tools.ts";

const toolWith = (inputSchema: JsonObject) =>
  defineTool({ name: "t", description: "", inputSchema, execute: () => null });
const checkOf = (tool: unknown, validator = stockValidator) => {
  const registered = registerTools([tool], validator).get("t");
  if (registered === undefined) throw new Error("the tool is not registered");
  return registered.check;
};

describe("registering a tool", () => {
  it("PREP-8: compiles its schema once for all sessions that hold the very same tool", () => {
    const tool = toolWith({ type: "object", properties: { i: { type: "integer" } } });
    expect(checkOf(tool)).toBe(checkOf(tool));
    expect(checkOf({ ...tool })).not.toBe(checkOf(tool));
  });

  it("PREP-8: compiles it anew when the host has changed the schema meanwhile", () => {
    const properties: { i: JsonObject } = { i: { type: "integer" } };
    const tool = toolWith({ type: "object", properties });
    expect(checkOf(tool)({ i: "x" })).toHaveLength(1);
    properties.i = { type: "string" };
    expect(checkOf(tool)({ i: "x" })).toEqual([]);
  });

  it("PREP-8: asks a host's own validator every time", () => {
    const tool = toolWith({ type: "object" });
    let compiled = 0;
    const stock = ajvValidator();
    const own: typeof stock = {
      compile(schema, options) {
        compiled += 1;
        return stock.compile(schema, options);
      },
    };
    checkOf(tool, own);
    checkOf(tool, own);
    expect(compiled).toBe(2);
  });
});
