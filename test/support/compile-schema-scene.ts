import type { JsonObject } from "../../src/domain/json.ts";
import { ajvValidator } from "../../src/prepare/ajv-validator.ts";
import { type CompiledToolSchema, compileToolSchema } from "../../src/prepare/compile-schema.ts";
import { describeFaults } from "../../src/prepare/describe-faults.ts";

/** The validator that sessions have unless a host gives its own. */
export const validator = ajvValidator();

/** Compiles a schema that is defined in code. */
export function compile(schema: JsonObject): CompiledToolSchema {
  return compileToolSchema({ toolName: "edit", schema, imported: false, validator });
}

/** Compiles a schema that comes from elsewhere. */
export function compileImported(schema: JsonObject): CompiledToolSchema {
  return compileToolSchema({ toolName: "edit", schema, imported: true, validator });
}

/** What is wrong with a value, in words; or why that cannot be known. */
export function faultsOf(compiled: CompiledToolSchema, value: unknown): string {
  return "check" in compiled ? describeFaults(compiled.check(value)) : compiled.unavailable;
}
