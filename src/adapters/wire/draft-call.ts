import type { ToolCall } from "../../domain/call.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";

/** What an adapter found of a call on its wire; every field as it stood there, whatever its type. */
export interface WireCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly arguments: unknown;
  /** The provider's own fields beside them; absent when there are none to keep. */
  readonly providerData?: JsonObject | undefined;
}

/**
 * A call as the kernel takes it. Id and name stay as the provider wrote them; a missing one is "" (the
 * kernel gives an id, PREP-9). Argument text stays text; absent arguments are blank, which means `{}`
 * (PREP-11); a parsed value that is not an object becomes its JSON text, which the kernel refuses by name.
 */
export function draftCall(call: WireCall): ToolCall {
  const draft = {
    id: typeof call.id === "string" ? call.id : "",
    name: typeof call.name === "string" ? call.name : "",
    arguments: draftArguments(call.arguments),
  };
  return call.providerData === undefined ? draft : { ...draft, providerData: call.providerData };
}

/**
 * The fields of a provider's object that the adapter does not read itself, kept as opaque JSON to be
 * echoed; `undefined` when nothing is left.
 */
export function fieldsBeside(wireObject: object, read: readonly string[]): JsonObject | undefined {
  const kept = Object.entries(wireObject).filter(([key, value]) => !read.includes(key) && isKept(value));
  // A response is parsed JSON, or an SDK's object made of it: what is not a function or undefined is a JSON value.
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as Record<string, JsonValue>);
}

/** Whether a value is an object with named fields: neither null nor an array. */
export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The entries of a provider's list that are objects; anything else on the wire is not a list, or not an entry. */
export function objectsOf(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.filter(isFields) : [];
}

function draftArguments(value: unknown): string | JsonObject {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  // An SDK parsed it from JSON text, so an object here is a JSON object.
  if (isFields(value)) return value as JsonObject;
  return JSON.stringify(value) ?? "";
}

function isKept(value: unknown): boolean {
  return value !== undefined && typeof value !== "function" && typeof value !== "symbol";
}
