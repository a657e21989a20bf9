import { checkGiven, mustBeRecord, readGiven } from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { isStandardSchema, type StandardSchema } from "../domain/schema.ts";
import type { AnyTool } from "../domain/tool.ts";
import { clipText, showPlace } from "./json-pointer.ts";
import { walkJson } from "./walk-json.ts";

/**
 * The JSON Schema of a tool's input: what the model sees and the draft is checked against. A plain
 * schema is taken as it is; of a Standard Schema `inputJsonSchema`, else the input form that the
 * schema gives itself (Standard JSON Schema, or the method of a library that has one). A frozen copy.
 *
 * Throws `INVALID_TOOL_SCHEMA`, naming the tool, when there is none or it is not JSON; `INVALID_OPTIONS` for
 * anything but a tool, and a schema that cannot be read.
 */
export function toolJsonSchema(tool: Pick<AnyTool, "name" | "inputSchema" | "inputJsonSchema">): JsonObject {
  checkGiven(tool, "tool", mustBeRecord);
  return readGiven("inputSchema", () => {
    const schema = isStandardSchema(tool.inputSchema)
      ? (tool.inputJsonSchema ?? convertStandard(tool.name, tool.inputSchema))
      : tool.inputSchema;
    if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
      throw invalidSchema(tool.name, "is not an object. Give a JSON Schema object or a Standard Schema");
    }
    const walk = walkJson(schema, { containers: "fresh", freeze: true, integers: "any" });
    if (!walk.ok) throw invalidSchema(tool.name, `must be plain JSON, but holds ${walk.fault} ${showPlace(walk.path)}`);
    return walk.value as JsonObject; // a copy of an object that is not an array
  });
}

/** Whether {@link toolJsonSchema} takes the schema from a schema library instead of from the tool's author. */
export function isGeneratedSchema(tool: Pick<AnyTool, "inputSchema" | "inputJsonSchema">): boolean {
  return isStandardSchema(tool.inputSchema) && tool.inputJsonSchema === undefined;
}

function convertStandard(toolName: string, schema: StandardSchema): unknown {
  let cause: unknown;
  for (const convert of convertersOf(schema)) {
    try {
      const converted = convert();
      if (converted !== undefined) return converted;
    } catch (error) {
      cause ??= error;
    }
  }
  const why =
    cause instanceof Error
      ? `cannot be converted to JSON Schema (${clipText(cause.message, 200)})`
      : "provides no JSON Schema";
  throw invalidSchema(toolName, `${why}. Pass inputJsonSchema alongside it`, cause);
}

/** The ways a schema object may turn itself into JSON Schema; each returns `undefined` where it is not offered. */
function convertersOf(schema: StandardSchema): readonly (() => unknown)[] {
  const target = "draft-2020-12";
  return [
    () => callMethod(memberOf(memberOf(schema, "~standard"), "jsonSchema"), "input", { target }),
    () => callMethod(schema, "toJSONSchema", { io: "input", target }),
    () => callMethod(memberOf(schema, "in"), "toJsonSchema"),
  ];
}

function memberOf(owner: unknown, name: string): unknown {
  if ((typeof owner !== "object" && typeof owner !== "function") || owner === null) return undefined;
  return (owner as Readonly<Record<string, unknown>>)[name]; // objects and functions may be asked for any property
}

function callMethod(owner: unknown, name: string, options?: unknown): unknown {
  const method = memberOf(owner, name);
  return typeof method === "function"
    ? Reflect.apply(method, owner, options === undefined ? [] : [options])
    : undefined;
}

function invalidSchema(toolName: string, problem: string, cause?: unknown): KernelError {
  const message = `The input schema of tool "${clipText(String(toolName))}" ${problem}.`;
  return new KernelError("INVALID_TOOL_SCHEMA", message, { subject: toolName, cause });
}
