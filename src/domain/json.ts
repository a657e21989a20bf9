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
