import { toolJsonSchema } from "toolkernel";
import { checkGiven, mustBeList, mustBeRecord, mustBeString, readGiven } from "../../domain/check-options.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { AnyTool } from "../../domain/tool.ts";
import { wellFormedJson } from "./well-formed.ts";

/** What every wire says of a tool, in well-formed Unicode. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON Schema; its top level says `"type": "object"`, which several providers insist on. */
  readonly schema: JsonObject & { readonly type: "object" };
}

/**
 * Name, description and JSON Schema of each tool, for the wires to lay out.
 * @throws KernelError `INVALID_TOOL_SCHEMA` when a tool's schema gives no JSON Schema, `INVALID_OPTIONS` for
 *   anything but a list of tools
 */
export function declareTools(tools: readonly AnyTool[]): readonly ToolDeclaration[] {
  checkGiven(tools, "tools", mustBeList);
  return readGiven("tools", () => Array.from(tools, declareTool));
}

function declareTool(tool: AnyTool): ToolDeclaration {
  checkGiven(tool, "tools", mustBeRecord);
  checkGiven(tool.name, "tools.name", mustBeString);
  checkGiven(tool.description, "tools.description", mustBeString);
  return {
    name: tool.name,
    description: tool.description.toWellFormed(),
    schema: { ...wellFormedJson(toolJsonSchema(tool)), type: "object" },
  };
}
