/** A JSON scalar. */
export type JsonPrimitive = string | number | boolean | null;
/** Any JSON value, read-only. */
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
/** A JSON object, read-only. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** How many containers deep JSON may nest anywhere in the kernel: this many is allowed, one more is not. */
export const MAX_JSON_DEPTH = 64;

/**
 * Whether an object is plain: made by a literal or `JSON.parse` of any realm, or without a prototype. Throws what a
 * proxy throws.
 */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}
