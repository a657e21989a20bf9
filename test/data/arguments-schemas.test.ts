/** Tool schemas as people publish them: what compiles, and what is said of those that do not. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { KernelError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { ajvValidator } from "../../src/prepare/ajv-validator.ts";
import { type CompiledToolSchema, compileToolSchema, dialectOf } from "../../src/prepare/compile-schema.ts";
import { toolJsonSchema } from "../../src/prepare/tool-json-schema.ts";

interface OddSchema {
  readonly id: string;
  readonly name: string;
  readonly nonStandardTypes: readonly string[];
  readonly parameters: JsonObject;
}

interface McpServer {
  readonly tools: readonly { readonly name: string; readonly inputSchema: JsonObject }[];
}

const ODD = new URL("../../../shared/data/tool-calls/odd-schemas.jsonl", import.meta.url);
const MCP = new URL("../../../shared/data/tool-calls/mcp-tools.json", import.meta.url);
const isAbsent = !existsSync(ODD) || !existsSync(MCP);
const odd = isAbsent ? [] : readOdd();
const mcpTools = isAbsent ? [] : Object.values(readServers()).flatMap((server) => server.tools);
const validator = ajvValidator();

function readOdd(): readonly OddSchema[] {
  return readFileSync(ODD, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as OddSchema);
}

function readServers(): Readonly<Record<string, McpServer>> {
  return JSON.parse(readFileSync(MCP, "utf8")) as Readonly<Record<string, McpServer>>;
}

function compile(toolName: string, schema: JsonObject, imported: boolean): CompiledToolSchema {
  return compileToolSchema({
    toolName,
    schema: toolJsonSchema({ name: toolName, inputSchema: schema }),
    imported,
    validator,
  });
}

/** The message of the error that compiling a schema defined in code throws; undefined if it throws none. */
function thrownFor(record: OddSchema): string | undefined {
  try {
    compile(record.name, record.parameters, false);
  } catch (error) {
    expect(error).toBeInstanceOf(KernelError);
    expect(error).toMatchObject({ code: "INVALID_TOOL_SCHEMA", subject: record.name });
    return (error as KernelError).message;
  }
  return undefined;
}

describe.skipIf(isAbsent)("real tool schemas (skipped where ../shared is absent)", () => {
  it.each(odd.map((record) => [record.id, record] as const))(
    "PREP-8: %s defined in code is refused by tool and pointer",
    (_id, record) => {
      const message = thrownFor(record);
      // One is valid 2020-12 that declares no dialect; it was refused as draft-07 only.
      if (JSON.stringify(record.parameters).includes('"prefixItems"')) expect(message).toBeUndefined();
      else
        expect(message).toMatch(
          /^The input schema of tool ".+" does not compile: at "\/[^"]+": .+ Correct the schema\.$/,
        );
    },
  );

  it("PREP-8: imported, each compiles or is unavailable with a reason that names the place", () => {
    const compiled = odd.map((record) => compile(record.name, record.parameters, true));
    const reasons = compiled.flatMap((each) => ("unavailable" in each ? [each.unavailable] : []));
    for (const reason of reasons)
      expect(reason).toMatch(/^its input schema does not compile: at "\/[^"]+": must be one of "array", /);
    expect([odd.length, reasons.length]).toEqual([
      40,
      odd.filter((record) => record.nonStandardTypes.length > 0).length,
    ]);
  });

  it("PREP-8: every tool of the MCP servers compiles under its own dialect", () => {
    const unavailable = mcpTools.filter((tool) => "unavailable" in compile(tool.name, tool.inputSchema, true));
    const draft07 = mcpTools.filter((tool) => dialectOf(tool.inputSchema) === "draft-07");
    expect([mcpTools.length, unavailable.map((tool) => tool.name)]).toEqual([127, []]);
    expect(draft07.length).toBeGreaterThan(0);
  });
});
