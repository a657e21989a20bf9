import type { JsonValue } from "../../domain/json.ts";

/** The same JSON value with every lone surrogate in strings and keys replaced, since providers refuse them. */
export function wellFormedJson<Value extends JsonValue>(value: Value): Value;
export function wellFormedJson(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => wellFormedJson(item));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormedJson(item)]));
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
