import type { JsonObject } from "../../domain/json.ts";
import { isPromiseLike } from "../../domain/promise-like.ts";
import type { StandardResult } from "../../domain/schema.ts";
import { type ImportedSchema, importSchema, isStandard, schemaOfValidator } from "../import/foreign-schema.ts";
import { refusedTool } from "../import/tool-policies.ts";
import { isFields } from "../wire/draft-call.ts";

/** The mark of the AI SDK's own schemas, made by its `jsonSchema()`, `zodSchema()` and the like. */
const AI_SDK_SCHEMA = Symbol.for("vercel.ai.schema");

/**
 * The input schema of a tool of the AI SDK: a Standard Schema, the AI SDK's own form, which may be lazy,
 * or a plain JSON Schema.
 * @throws KernelError `INVALID_OPTIONS` when the JSON Schema is a promise, `INVALID_TOOL_SCHEMA`
 *   when there is none
 */
export function importAiSdkSchema(toolName: string, schema: unknown): ImportedSchema {
  if (isStandard(schema)) {
    return importSchema(toolName, schema);
  }
  const ready: unknown = typeof schema === "function" ? schema() : schema;
  if (typeof ready !== "object" || ready === null || !(AI_SDK_SCHEMA in ready)) {
    return importSchema(toolName, ready);
  }
  const { jsonSchema, validate } = ready as { readonly jsonSchema?: unknown; readonly validate?: unknown };
  if (isPromiseLike(jsonSchema)) {
    const wait = "its JSON Schema is a promise. Await schema.jsonSchema and pass the result to jsonSchema()";
    throw refusedTool("fromAiSdkTools", toolName, wait);
  }
  if (typeof validate !== "function" || !isFields(jsonSchema)) {
    return importSchema(toolName, jsonSchema);
  }
  // The AI SDK's types say that it is JSON Schema; the session checks it when the tool is registered.
  return schemaOfValidator(jsonSchema as JsonObject, async (value) => readVerdict(await validate.call(ready, value)));
}

function readVerdict(verdict: unknown): StandardResult<unknown> {
  if (isFields(verdict) && verdict.success === true) {
    return { value: verdict.value };
  }
  const error: unknown = isFields(verdict) ? verdict.error : undefined;
  return { issues: [{ message: error instanceof Error ? error.message : "The input is not valid." }] };
}
