import { type AnyTool, createToolSession, defineTool, type JsonObject, type JsonSchemaValidator } from "toolkernel";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { call, outcomesOf, play, recordingTool, testSession, textsOf, verdictsOf } from "../support/run-calls.ts";

const DRAFT_07 = "http://json-schema.org/draft-07/schema#";

/** A tool as an importer makes it. */
function importedTool(inputSchema: unknown, name = "foreign"): AnyTool {
  return recordingTool({ name, inputSchema: inputSchema as JsonObject, origin: "imported" }).tool;
}

/** What creating a session with a tool throws: code, subject, message. */
function faultOf(tool: AnyTool): unknown {
  try {
    createToolSession({ tools: [recordingTool().tool, tool] });
  } catch (error) {
    const { code, subject, message } = error as { code: string; subject: string; message: string };
    return { code, subject, message };
  }
  return "no fault";
}

describe("a schema defined in code", () => {
  it.each<[string, unknown, string]>([
    ["an unknown keyword", { type: "object", optional: true }, "/optional"],
    [
      "an unknown keyword inside",
      { type: "object", properties: { a: { type: "string", hint: "x" } } },
      "/properties/a/hint",
    ],
    ["an unknown type", { type: "dict" }, "/type"],
    ["a union of types", { type: "object", properties: { a: { type: ["string", "number"] } } }, "/properties/a"],
    ["a dangling reference", { type: "object", properties: { a: { $ref: "#/$defs/none" } } }, "/properties/a/$ref"],
    ["a bad pattern", { type: "object", properties: { a: { type: "string", pattern: "(" } } }, "/properties/a/pattern"],
  ])("PREP-8: with %s is refused at registration, by tool and JSON pointer", (_what, schema, pointer) => {
    const fault = faultOf(recordingTool({ name: "edit", inputSchema: schema as JsonObject }).tool);
    expect(fault).toEqual({ code: "INVALID_TOOL_SCHEMA", subject: "edit", message: expect.stringContaining('"edit"') });
    expect((fault as { message: string }).message).toContain(`"${pointer}"`);
  });

  it.each<[string, unknown]>([
    ["what is not JSON", { type: "object", default: new Date(0) }],
    ["a Standard Schema that gives no JSON Schema", { "~standard": { version: 1, vendor: "x", validate: () => ({}) } }],
  ])("PREP-8: that is %s is refused at registration, by tool", (_what, schema) => {
    expect(faultOf(recordingTool({ name: "edit", inputSchema: schema as JsonObject }).tool)).toMatchObject({
      code: "INVALID_TOOL_SCHEMA",
      subject: "edit",
    });
  });

  it("PREP-8: is held to strict mode where it stands beside a Standard Schema", () => {
    const make = (inputJsonSchema: JsonObject) =>
      defineTool({
        name: "s",
        description: "",
        inputSchema: z.object({}),
        inputJsonSchema,
        execute: () => 1,
      }) as AnyTool;
    expect(faultOf(make({ type: "object", optional: true }))).toMatchObject({
      code: "INVALID_TOOL_SCHEMA",
      subject: "s",
    });
    expect(faultOf(make({ type: "object" }))).toBe("no fault");
  });

  it("PREP-8: is refused by setTools as well, and the tools stay as they were", async () => {
    const session = testSession({ tools: [recordingTool().tool] });
    expect(() => session.setTools([recordingTool({ name: "edit", inputSchema: { type: "dict" } }).tool])).toThrow(
      expect.objectContaining({ code: "INVALID_TOOL_SCHEMA", subject: "edit" }),
    );
    expect(outcomesOf(await session.execute([call("read")]).result)).toEqual(["succeeded"]);
  });
});

describe("an imported schema", () => {
  it.each<[string, unknown]>([
    ["annotations", { type: "object", properties: { a: { type: "string", "x-hint": 1, optional: true } } }],
    ["union types", { type: "object", properties: { a: { type: ["string", "number"] } } }],
    ["a relative $schema", { $schema: "schema.json", type: "object" }],
    ["an unknown $schema", { $schema: "https://example.com/mine", type: "object" }],
  ])("PREP-8: may carry %s", async (_what, schema) => {
    const { result } = await play({ tools: [importedTool(schema)] }, [call("foreign", '{"a":"x"}')]);
    expect(outcomesOf(result)).toEqual(["succeeded"]);
  });

  it.each<[string, unknown, string]>([
    ["an unknown type", { type: "dict" }, "/type"],
    ["a dangling reference", { $ref: "#/$defs/none" }, "/$ref"],
    ["what is not JSON", { type: "object", default: new Date(0) }, "not plain JSON"],
    ["a key __proto__", JSON.parse('{"type":"object","properties":{"__proto__":{}}}'), "__proto__"],
  ])(
    "PREP-8: with %s makes its own tool unavailable by name and reason, not the others",
    async (_what, schema, reason) => {
      const { result } = await play({ tools: [importedTool(schema), importedTool({ type: "object" }, "fine")] }, [
        call("foreign"),
        call("fine"),
      ]);
      expect(verdictsOf(result)).toEqual(["refused:invalidArguments", "succeeded"]);
      expect(textsOf(result)[0]).toMatch(/^unavailable_tool: this tool cannot be called: /);
      expect(textsOf(result)[0]).toContain(reason);
    },
  );
});

describe("the dialect", () => {
  // Draft-07 does not know `prefixItems`; an imported schema may carry it all the same.
  const tuple = (words: JsonObject): JsonObject => ({
    ...words,
    type: "object",
    properties: { pair: { type: "array", prefixItems: [{ type: "string" }] } },
  });

  it.each<[string, JsonObject, boolean]>([
    ["2020-12 without $schema", tuple({}), true],
    ["2020-12 by $schema", tuple({ $schema: "https://json-schema.org/draft/2020-12/schema" }), true],
    ["2020-12 for a relative $schema", tuple({ $schema: "./schema.json" }), true],
    ["2020-12 for an unknown $schema", tuple({ $schema: "urn:mine" }), true],
    ["draft-07 by $schema", tuple({ $schema: DRAFT_07 }), false],
    ["draft-07 by $schema without #", tuple({ $schema: DRAFT_07.replace("#", "") }), false],
  ])("PREP-8: is %s", async (_what, schema, knowsPrefixItems) => {
    const { result } = await play({ tools: [importedTool(schema)] }, [call("foreign", '{"pair":[1]}')]);
    expect(outcomesOf(result)).toEqual([knowsPrefixItems ? "refused" : "succeeded"]);
  });
});

describe("a host's own validator", () => {
  it("PREP-8: compiles each schema once, told its dialect and whether it is strict", async () => {
    const compiled: unknown[] = [];
    const jsonSchemaValidator: JsonSchemaValidator = {
      compile: (schema, options) => {
        compiled.push([schema.title, options]);
        return () => [];
      },
    };
    const own = recordingTool({ name: "own", inputSchema: { title: "own", $schema: DRAFT_07 } }).tool;
    const session = testSession({ tools: [own, importedTool({ title: "foreign" })], jsonSchemaValidator });
    await session.execute([call("own", "{}", "a"), call("own", "{}", "b"), call("foreign")]).result;
    session.setTools([own]);
    expect(compiled).toEqual([
      ["own", { dialect: "draft-07", strict: true }],
      ["foreign", { dialect: "2020-12", strict: false }],
    ]);
  });

  it.each<[string, unknown]>([
    ["true", true],
    ["undefined", undefined],
    ["an array of strings", ["bad"]],
    ["a fault without a place", [{ message: "bad" }]],
    ["a promise", Promise.resolve([])],
  ])("PREP-8: that answers %s refuses the call, and breaks nothing", async (_what, answer) => {
    const { tool, runs } = recordingTool();
    const session = testSession({ tools: [tool], jsonSchemaValidator: { compile: () => () => answer as never } });
    const results = [await session.execute([call("read")]).result, await session.execute([call("read")]).result];
    expect(results.map(verdictsOf)).toEqual([["refused:invalidArguments"], ["refused:invalidArguments"]]);
    expect(textsOf(results[0] ?? { messages: [], settled: [], closed: false })).toEqual([
      "invalid_arguments: could not be checked against the tool's schema",
    ]);
    expect(runs).toEqual([]);
  });

  it("PREP-8: that throws while it compiles makes the tool's schema the fault", () => {
    const jsonSchemaValidator: JsonSchemaValidator = {
      compile: () => {
        throw new Error("/properties/a: no");
      },
    };
    expect(() => createToolSession({ tools: [recordingTool().tool], jsonSchemaValidator })).toThrow(
      expect.objectContaining({ code: "INVALID_TOOL_SCHEMA", subject: "read" }),
    );
  });
});
