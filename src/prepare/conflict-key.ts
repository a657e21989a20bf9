import { keyFault, MAX_CONFLICT_KEYS } from "../domain/names.ts";
import type { ConflictKeys } from "../domain/tool.ts";

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
  if (given.length > MAX_CONFLICT_KEYS) return fault(`has more than ${MAX_CONFLICT_KEYS} conflict keys`);
  const keys = new Set<string>();
  for (const key of given) {
    if (typeof key !== "string") return fault("has a conflict key that is not a string");
    if (key === "") continue;
    const bad = keyFault(key);
    if (bad !== undefined) return fault(`has a conflict key ${bad}`);
    keys.add(key);
  }
  return keys.size === 0 ? NO_KEYS : { kind: "keys", keys: Object.freeze([...keys]) };
}

function fault(text: string): ReadKeys {
  return { kind: "fault", fault: text };
}
