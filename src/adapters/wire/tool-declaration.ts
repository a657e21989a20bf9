import { toolJsonSchema } from "toolkernel";
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
 * Name, description and JSON Schema of a tool, for the wires to lay out.
 * @throws KernelError `INVALID_TOOL_SCHEMA` when the tool's schema gives no JSON Schema
 */
export function declareTool(tool: AnyTool): ToolDeclaration {
  return {
    name: tool.name,
    description: tool.description.toWellFormed(),
    schema: { ...wellFormedJson(toolJsonSchema(tool)), type: "object" },
  };
}
