import type { ConflictKeys } from "../domain/tool.ts";

const MAX_KEYS = 16;
const MAX_KEY_CHARACTERS = 1_024;

/** Conflict keys as the lanes take them, or the fault that refuses the call. */
export type ReadKeys =
  | { readonly kind: "keys"; readonly keys: readonly string[] }
  | { readonly kind: "fault"; readonly fault: string };

const NO_KEYS: ReadKeys = { kind: "keys", keys: Object.freeze([]) };

/**
 * Reads what `conflictKey` answered (PREP-5): one key or a list; `undefined`, `null`, `""` and `[]` mean
 * none, equal keys count once. The fault names the bound, never the key.
 */
export function readConflictKeys(answer: ConflictKeys | unknown): ReadKeys {
  if (answer === undefined || answer === null || answer === "") return NO_KEYS;
  const given: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  if (given.length > MAX_KEYS) return fault(`has more than ${MAX_KEYS} conflict keys`);
  const keys = new Set<string>();
  for (const key of given) {
    if (typeof key !== "string") return fault("has a conflict key that is no text");
    if (key === "") continue;
    const bad = judgeKey(key);
    if (bad !== undefined) return fault(bad);
    keys.add(key);
  }
  return keys.size === 0 ? NO_KEYS : { kind: "keys", keys: Object.freeze([...keys]) };
}

function judgeKey(key: string): string | undefined {
  if (key.length > MAX_KEY_CHARACTERS) return `has a conflict key over ${MAX_KEY_CHARACTERS} UTF-16 units`;
  if (!key.isWellFormed()) return "has a conflict key with a lone surrogate";
  if (/\p{Cc}/u.test(key)) return "has a conflict key with a control character";
  return undefined;
}

function fault(text: string): ReadKeys {
  return { kind: "fault", fault: text };
}
