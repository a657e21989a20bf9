/**
 * What can be a name: of operations, runs, sessions, actors, inputs, actions and timelines, and of what actions
 * touch. Stores would cut or mend any other into somebody else's.
 */

/** Longest id or name, in UTF-8 bytes. */
const MAX_NAME_BYTES = 512;

/** Most conflict keys of one call (PREP-5). */
export const MAX_CONFLICT_KEYS = 16;

/** Longest conflict key, in UTF-16 units (PREP-5). */
export const MAX_KEY_UNITS = 1_024;

/** Why a value cannot be an id or a name, as the end of a sentence; undefined when it can (ACT-8). */
export function nameFault(value: unknown): string | undefined {
  if (typeof value !== "string") return "is not a string";
  if (value === "") return "is empty";
  if (!value.isWellFormed()) return "holds a lone surrogate";
  if (value.includes("\0")) return "holds a NUL character";
  // No text of that many units is shorter in bytes, so that a huge one is never encoded.
  if (value.length > MAX_NAME_BYTES || new TextEncoder().encode(value).length > MAX_NAME_BYTES) {
    return `is longer than ${MAX_NAME_BYTES} UTF-8 bytes`;
  }
  return undefined;
}

/** Whether a value can be an id or a name; see {@link nameFault}. */
export function isName(value: unknown): value is string {
  return nameFault(value) === undefined;
}

/** What is wrong with a string as a conflict key, to follow "a key"; undefined when it can be one (PREP-5). */
export function keyFault(key: string): string | undefined {
  if (key.length > MAX_KEY_UNITS) return `over ${MAX_KEY_UNITS} UTF-16 units`;
  if (!key.isWellFormed()) return "with a lone surrogate";
  if (/\p{Cc}/u.test(key)) return "with a control character";
  return undefined;
}
