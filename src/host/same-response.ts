import stringify from "fast-json-stable-stringify";
import type { ToolCall } from "../domain/call.ts";
import { isMissingId } from "../run/call-ids.ts";

/** A response and its turn, as a batch was started with or as it is given again. */
export interface ComparedResponse {
  readonly calls: readonly ToolCall[];
  readonly turn: number;
}

/**
 * Whether a response is the one a batch was started with: same turn, same calls in the same order, by
 * name and arguments; ids too, where the new one gives them.
 */
export function isSameResponse(known: ComparedResponse, given: ComparedResponse): boolean {
  if (known.turn !== given.turn || known.calls.length !== given.calls.length) return false;
  return known.calls.every((call, index) => {
    const other = given.calls[index];
    return other !== undefined && isSameCall(call, other);
  });
}

function isSameCall(known: ToolCall, given: ToolCall): boolean {
  const isSameId = given.id === known.id || isMissingId(given.id);
  return isSameId && known.name === given.name && draftText(known) === draftText(given);
}

/** Text is compared as it is, a parsed object by its canonical form. */
function draftText({ arguments: draft }: ToolCall): string {
  if (typeof draft === "string") return draft;
  try {
    return `object:${stringify(draft)}`;
  } catch {
    return "object that cannot be read";
  }
}
