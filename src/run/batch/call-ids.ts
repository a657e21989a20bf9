import type { ToolCall } from "../../domain/call.ts";

/** Whether an id is missing: empty, or the text "undefined" of somebody who wrote out a missing one (PREP-9). */
export function isMissingId(id: string): boolean {
  return id.trim() === "" || id === "undefined";
}

/** Whether two calls of a response were given the same id (PREP-9). */
export function hasDuplicateIds(calls: readonly ToolCall[]): boolean {
  const seen = new Set<string>();
  for (const { id } of calls) {
    if (isMissingId(id)) continue;
    if (seen.has(id)) return true;
    seen.add(id);
  }
  return false;
}

/** Gives every call that has no id one that is unique in its response; the others keep theirs (PREP-9). */
export function nameCalls(calls: readonly ToolCall[], turn: number): readonly ToolCall[] {
  if (!calls.some(({ id }) => isMissingId(id))) return calls;
  const taken = new Set(calls.map(({ id }) => id));
  return calls.map((call, index) => {
    if (!isMissingId(call.id)) return call;
    let id = `call_${turn}_${index}`;
    while (taken.has(id)) id = `${id}_`;
    taken.add(id);
    return { ...call, id };
  });
}
