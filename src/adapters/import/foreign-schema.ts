import { toolJsonSchema } from "toolkernel";
import type { JsonObject } from "../../domain/json.ts";
import type { InputSchema, JsonSchemaObject, StandardResult, StandardSchema } from "../../domain/schema.ts";
import { zodJsonSchema } from "./zod-json-schema.ts";

/** The schema of an imported tool, as the kernel takes it. */
export interface ImportedSchema {
  readonly inputSchema: InputSchema;
  /** For a Standard Schema that gives no JSON Schema itself. */
  readonly inputJsonSchema?: JsonSchemaObject;
}

/**
 * A Standard Schema or a JSON Schema of another framework. Zod of a version that gives no JSON Schema
 * gets one that tells its shape.
 * @throws KernelError `INVALID_TOOL_SCHEMA` for a Standard Schema of another library that gives none
 */
export function importSchema(toolName: string, schema: unknown): ImportedSchema {
  if (!isStandard(schema)) {
    // Whatever it is, the session says what is wrong with it when the tool is registered.
    return { inputSchema: schema as InputSchema };
  }
  try {
    toolJsonSchema({ name: toolName, inputSchema: schema });
    return { inputSchema: schema };
  } catch (error) {
    const inputJsonSchema = zodJsonSchema(schema);
    if (inputJsonSchema === undefined) {
      throw error;
    }
    return { inputSchema: schema, inputJsonSchema };
  }
}

/**
 * The same schema for a framework that parses the input itself when its tool runs: a Standard Schema
 * still refuses what it refuses before anything runs, but the input goes on as it is, so that defaults
 * and transforms happen once, in the framework.
 */
export function withoutTransform({ inputSchema, inputJsonSchema }: ImportedSchema, toolName: string): ImportedSchema {
  if (!isStandard(inputSchema)) {
    return { inputSchema };
  }
  const shown = inputJsonSchema ?? toolJsonSchema({ name: toolName, inputSchema });
  return { inputSchema: checking(inputSchema), inputJsonSchema: shown };
}

/** A Standard Schema made of a JSON Schema and a validation function of another framework. */
export function schemaOfValidator(
  jsonSchema: JsonObject,
  validate: (value: unknown) => StandardResult<unknown> | Promise<StandardResult<unknown>>,
): ImportedSchema {
  return { inputSchema: { "~standard": { version: 1, vendor: "toolkernel", validate } }, inputJsonSchema: jsonSchema };
}

/** Whether a schema is a Standard Schema, which may also be a function. */
export function isStandard(schema: unknown): schema is StandardSchema {
  return ((typeof schema === "object" && schema !== null) || typeof schema === "function") && "~standard" in schema;
}

function checking(schema: StandardSchema): StandardSchema {
  const keep = (value: unknown, result: StandardResult<unknown>) => (result.issues === undefined ? { value } : result);
  return {
    "~standard": {
      version: 1,
      vendor: schema["~standard"].vendor,
      // Waited for, whatever kind of promise it is: what is not waited for looks like a success.
      validate: async (value) => keep(value, await schema["~standard"].validate(value)),
    },
  };
}
