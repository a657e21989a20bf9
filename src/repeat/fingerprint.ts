import type { JsonValue } from "../domain/json.ts";

/**
 * What makes two calls equal. Holds the arguments themselves, since most calls differ from the one before
 * at first sight and a canonical text of each would be written for nothing: it must never leave the repeat
 * tracker.
 */
export interface Fingerprint {
  readonly toolName: string;
  /** Undefined for a draft that could not be parsed. */
  readonly draft: JsonValue | undefined;
  /** The raw text of a draft that could not be parsed. */
  readonly text: string | undefined;
}

/** The fingerprint of a call by its arguments, or by a draft that was parsed (REP-1). */
export function fingerprintCall(toolName: string, draft: JsonValue): Fingerprint {
  return { toolName, draft, text: undefined };
}

/** The fingerprint of a draft that could not be parsed: its name and raw text (REP-3). */
export function fingerprintText(toolName: string, text: string): Fingerprint {
  return { toolName, draft: undefined, text };
}

/**
 * Whether two calls are equal: by tool name and deep-canonical arguments. Key order, number spelling and
 * string escapes do not matter, types do, Unicode is not normalized (REP-1).
 */
export function isSameFingerprint(one: Fingerprint, other: Fingerprint): boolean {
  return one.toolName === other.toolName && one.text === other.text && isSameJson(one.draft, other.draft);
}

/** Nesting is bounded by what arguments may be (PREP-11). */
function isSameJson(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other))
    return Array.isArray(one) && Array.isArray(other) && isSameList(one, other);
  return isSameObject(one as JsonRecord, other as JsonRecord); // what is not a list is an object of values
}

type JsonRecord = Readonly<Record<string, JsonValue>>;

function isSameList(one: readonly JsonValue[], other: readonly JsonValue[]): boolean {
  return one.length === other.length && one.every((item, index) => isSameJson(item, other[index]));
}

function isSameObject(one: JsonRecord, other: JsonRecord): boolean {
  const keys = Object.keys(one);
  const isContained = keys.every((key) => Object.hasOwn(other, key) && isSameJson(one[key], other[key]));
  return isContained && keys.length === Object.keys(other).length;
}
