import type { JsonObject, JsonValue } from "../../domain/json.ts";

/** The types of JSON values. */
export type JsonType = "string" | "number" | "boolean" | "null" | "array" | "object";

const SCHEMA_TYPES: readonly unknown[] = ["string", "number", "integer", "boolean", "null", "array", "object"];

/** Whether a name is a type that JSON Schema knows. */
export function isKnownType(name: unknown): boolean {
  return SCHEMA_TYPES.includes(name);
}

/** The type of a JSON value. */
export function typeOf(value: JsonValue): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as "string" | "number" | "boolean" | "object"; // JSON has no other type
}

/** Whether a value is a JSON object. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a JSON array; unlike `Array.isArray` it keeps the type. */
export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** A value's items if it is an array, else none. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isArray(value) ? value : [];
}

/** A value if it is an object, else an empty one. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** Whether two JSON values are the same value; key order does not matter. */
export function isSameJson(left: JsonValue, right: JsonValue): boolean {
  if (left === right) return true;
  if (isArray(left) && isArray(right)) {
    return left.length === right.length && left.every((item, index) => isSameJson(item, right[index] ?? null));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSameJson(left[key] ?? null, right[key] ?? null))
  );
}
