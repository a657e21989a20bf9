import type { ErrorObject } from "ajv";
import type { SchemaFault } from "../domain/schema.ts";
import { clipText } from "./json-pointer.ts";

/** How many allowed values a message lists. */
const MAX_LISTED_VALUES = 16;

/**
 * Words ajv's errors as faults that tell what the schema wanted and where, never what the value was;
 * only key names of the value appear, cut. The types that several branches of a union want at one
 * place become one fault. Order of the errors is kept.
 */
export function toSchemaFaults(errors: readonly ErrorObject[]): readonly SchemaFault[] {
  const types = new Map<string, Set<string>>();
  const others = new Map<string, number>();
  for (const error of errors) {
    if (error.keyword === "type") noteTypes(types, error);
    else if (!isUnion(error)) others.set(error.instancePath, (others.get(error.instancePath) ?? 0) + 1);
  }
  const faults = new Map<string, SchemaFault>();
  for (const error of errors) {
    const pointer = error.instancePath;
    // A union whose branches differ by type alone is told by its types.
    if (isUnion(error) && types.has(pointer) && !others.has(pointer)) continue;
    const message =
      error.keyword === "type" ? `must be ${[...(types.get(pointer) ?? [])].join(" or ")}` : wordFault(error);
    faults.set(`${pointer} ${message}`, { pointer, message });
  }
  return [...faults.values()];
}

function noteTypes(types: Map<string, Set<string>>, error: ErrorObject): void {
  const wanted: unknown = error.params.type;
  const known = types.get(error.instancePath) ?? new Set<string>();
  for (const type of Array.isArray(wanted) ? wanted : [wanted]) known.add(String(type));
  types.set(error.instancePath, known);
}

function isUnion(error: ErrorObject): boolean {
  return error.keyword === "anyOf" || error.keyword === "oneOf";
}

function wordFault({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case "required":
      return `missing required property '${clipText(String(params.missingProperty))}'`;
    case "additionalProperties":
      return `property '${clipText(String(params.additionalProperty))}' is not allowed`;
    case "unevaluatedProperties":
      return `property '${clipText(String(params.unevaluatedProperty))}' is not allowed`;
    case "enum":
      return `must be one of ${listValues(params.allowedValues)}`;
    case "const":
      return `must be ${listValues([params.allowedValue])}`;
    case "anyOf":
      return "must match one of the forms allowed";
    case "oneOf":
      return `must match ${params.passingSchemas === null ? "" : "exactly "}one of the forms allowed`;
    case "not":
      return "has a form that is not allowed";
    case "false schema":
      return "is not allowed";
    default:
      return clipText(message ?? `breaks ${keyword}`, 200);
  }
}

function listValues(values: unknown): string {
  if (!Array.isArray(values)) return "the values allowed";
  const listed = values.slice(0, MAX_LISTED_VALUES).map((value) => clipText(JSON.stringify(value)));
  return values.length > MAX_LISTED_VALUES
    ? `${listed.join(", ")} or one of ${values.length - MAX_LISTED_VALUES} more`
    : listed.join(", ");
}
