import { readGiven } from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { JsonSchemaCheck, JsonSchemaValidator } from "../domain/schema.ts";
import { type AnyTool, isWrite } from "../domain/tool.ts";
import { stockValidator } from "./ajv-validator.ts";
import { type CompiledToolSchema, compileToolSchema } from "./compile-schema.ts";
import { checkTool } from "./define-tool.ts";
import { isGeneratedSchema, toolJsonSchema } from "./tool-json-schema.ts";

/** A tool as a session holds it: its schema compiled once, its facts read once. */
export interface RegisteredTool {
  readonly tool: AnyTool;
  /** What the model is shown. */
  readonly jsonSchema: JsonObject;
  readonly check: JsonSchemaCheck;
  /** Why an imported tool cannot be called, if its schema does not compile (PREP-8). */
  readonly unavailable: string | undefined;
  readonly isWrite: boolean;
}

/** Registered tools by exact name. A Map, so that names such as `__proto__` are names like any other. */
export type ToolRegistry = ReadonlyMap<string, RegisteredTool>;

/**
 * Registers tools under their exact names. A tool already in `earlier` is not compiled again.
 * @throws KernelError `DUPLICATE_TOOL`, `INVALID_OPTIONS` for anything but a tool, `INVALID_TOOL_SCHEMA` with
 * tool and JSON pointer (PREP-8).
 */
export function registerTools(
  tools: readonly unknown[],
  validator: JsonSchemaValidator,
  earlier: ToolRegistry = new Map(),
): ToolRegistry {
  const registry = new Map<string, RegisteredTool>();
  for (const tool of readGiven("tools", () => Array.from(tools))) {
    checkTool(tool);
    if (registry.has(tool.name)) {
      const message = `Two tools are named ${JSON.stringify(tool.name.slice(0, 128))}; give each its own name.`;
      throw new KernelError("DUPLICATE_TOOL", message, { subject: "tools" });
    }
    const known = earlier.get(tool.name);
    registry.set(tool.name, known?.tool === tool ? known : registerTool(tool, validator));
  }
  return registry;
}

function registerTool(tool: AnyTool, validator: JsonSchemaValidator): RegisteredTool {
  const isImported = tool.origin === "imported";
  let jsonSchema: JsonObject;
  try {
    jsonSchema = toolJsonSchema(tool);
  } catch (error) {
    if (!isImported) throw error;
    return makeUnavailable({ tool, jsonSchema: {} }, error instanceof KernelError ? error.message : "it has no schema");
  }
  const compiled = compileOnce(tool, jsonSchema, validator);
  if ("unavailable" in compiled) return makeUnavailable({ tool, jsonSchema }, compiled.unavailable);
  return { tool, jsonSchema, isWrite: isWrite(tool), check: compiled.check, unavailable: undefined };
}

interface Compiled {
  readonly schemaText: string;
  readonly result: CompiledToolSchema;
}

/**
 * What the stock validator has made of tools that are still in use. A memo: it follows from the tool and the
 * text of its schema, which is compared, since a host may have changed the schema meanwhile.
 */
const COMPILED = new WeakMap<AnyTool, Compiled>();

/** Compiles a tool's schema, for all sessions that hold the very same tool once. */
function compileOnce(tool: AnyTool, schema: JsonObject, validator: JsonSchemaValidator): CompiledToolSchema {
  const compile = (): CompiledToolSchema =>
    compileToolSchema({
      toolName: tool.name,
      schema,
      imported: tool.origin === "imported",
      // A vendor's generated schema is not the author's text: it may use forms that strict mode dislikes.
      generated: isGeneratedSchema(tool),
      validator,
    });
  if (validator !== stockValidator || !Object.isFrozen(tool)) return compile();
  const schemaText = JSON.stringify(schema);
  const known = COMPILED.get(tool);
  if (known?.schemaText === schemaText) return known.result;
  const result = compile();
  COMPILED.set(tool, { schemaText, result });
  return result;
}

function makeUnavailable(known: Pick<RegisteredTool, "tool" | "jsonSchema">, unavailable: string): RegisteredTool {
  return { ...known, isWrite: isWrite(known.tool), check: () => [], unavailable };
}
