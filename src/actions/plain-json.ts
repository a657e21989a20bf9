import { isPlainObject, type JsonValue, MAX_JSON_DEPTH } from "../domain/json.ts";

/** A frozen copy of a value that is plain JSON, or what kept it from being that. */
export type PlainCopy =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly fault: string };

/**
 * Copies a value that is to be written down before anything happens: what would not come back equal is
 * refused here, while that still costs nothing. Properties that are undefined count as absent; each
 * property is read once. Never throws.
 */
export function copyPlainJson(value: unknown): PlainCopy {
  try {
    return { ok: true, value: copy(value, 0) };
  } catch (error) {
    return { ok: false, fault: error instanceof Fault ? error.message : "holds a value that threw when it was read" };
  }
}

class Fault extends Error {}

function copy(value: unknown, depth: number): JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return copyNumber(value);
  if (typeof value !== "object") throw new Fault(`holds a ${typeof value}`);
  if (depth === MAX_JSON_DEPTH) throw new Fault(`is nested deeper than ${MAX_JSON_DEPTH} containers`);
  if (Array.isArray(value)) return Object.freeze(Array.from(value, (item) => copy(item, depth + 1)));
  return copyObject(value, depth + 1);
}

function copyNumber(value: number): number {
  if (!Number.isFinite(value)) throw new Fault("holds a number that is not finite");
  return value === 0 ? 0 : value; // JSON has no negative zero
}

function copyObject(source: object, depth: number): JsonValue {
  if (!isPlainObject(source)) throw new Fault("holds an object that is not plain JSON");
  const entries: (readonly [string, JsonValue])[] = [];
  for (const [key, inner] of Object.entries(source)) {
    if (key === "__proto__") throw new Fault("holds the forbidden key __proto__");
    if (inner !== undefined) entries.push([key, copy(inner, depth)]);
  }
  return Object.freeze(Object.fromEntries(entries));
}
