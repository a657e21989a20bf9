import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { isArray, isObject, isSameJson, listOf, objectOf } from "./json-types.ts";
import {
  conjunctsOf,
  enterValue,
  followBranch,
  isSpent,
  ownItemSchema,
  ownPropertySchema,
  type Schema,
  type SchemaReading,
  unionsOf,
} from "./schema-parts.ts";

/**
 * Whether a value has the shape a schema wants: types, fixed values, properties and items, through
 * references and unions. Generous as {@link SchemaReading} is: `false` is certain; a bound, a pattern
 * or a condition that `true` overlooks is judged later, by the validator.
 */
export function fitsSchema(reading: SchemaReading, schema: Schema, value: JsonValue): boolean {
  if (typeof schema === "boolean") return schema;
  if (isSpent(reading)) return true;
  return conjunctsOf(reading, schema).every(
    (part) =>
      fitsType(part, value) &&
      fitsFixedValues(part, value) &&
      (!isObject(value) || fitsProperties(reading, part, value)) &&
      (!isArray(value) ||
        value.every((item, index) => fitsSchema(enterValue(reading), ownItemSchema(part, index), item))) &&
      unionsOf(part).every((branches) => branches.some((branch) => fitsSchema(followBranch(reading), branch, value))),
  );
}

function fitsType(part: JsonObject, value: JsonValue): boolean {
  if (part.type === undefined || (value === null && part.nullable === true)) return true;
  const types = typeof part.type === "string" ? [part.type] : listOf(part.type);
  return types.some((type) => isOfType(value, type));
}

function isOfType(value: JsonValue, type: JsonValue): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    default:
      return true; // a type that JSON Schema does not know
  }
}

function fitsFixedValues(part: JsonObject, value: JsonValue): boolean {
  if (isArray(part.enum) && !part.enum.some((candidate) => isSameJson(candidate, value))) return false;
  return part.const === undefined || isSameJson(part.const, value);
}

function fitsProperties(reading: SchemaReading, part: JsonObject, value: JsonObject): boolean {
  if (!listOf(part.required).every((key) => typeof key !== "string" || Object.hasOwn(value, key))) return false;
  if (Object.keys(objectOf(part.properties)).length === 0 && part.additionalProperties === undefined) return true;
  return Object.entries(value).every(([key, item]) =>
    fitsSchema(enterValue(reading), ownPropertySchema(part, key), item),
  );
}
