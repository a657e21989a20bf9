import type { GivenResponse, KernelEvent, ToolResult } from "toolkernel";
import { MOST_CONTENT_CHARACTERS } from "./entry.ts";

/** A batch or a run: whatever tells events. */
export interface EventSource {
  subscribe(listener: (event: KernelEvent) => void): unknown;
}

/** What a call was given, as text. */
export interface GivenArguments {
  readonly callIndex: number;
  readonly text: string;
}

/**
 * The arguments that become known with an event: those of all calls of a model's message, and for a batch
 * whose response is at hand those of the call that begins, or is refused without having begun.
 */
export function argumentsOf(event: KernelEvent, response: GivenResponse | undefined): readonly GivenArguments[] {
  if (event.kind === "messageEnded" && event.message.role === "assistant") {
    const calls = event.message.content.filter((part) => part.type === "toolCall");
    return calls.map((call, callIndex) => ({ callIndex, text: textOf(call.arguments) }));
  }
  if (response === undefined || (event.kind !== "toolStarted" && event.kind !== "toolRefused")) return [];
  const call = (isList(response) ? response : response.calls)[event.callIndex];
  return call === undefined ? [] : [{ callIndex: event.callIndex, text: textOf(call.arguments) }];
}

/** A result as JSON text: what the model sees of it, and what the host alone does. */
export function resultText({ content, details, isError, outcomeUncertain, terminate }: ToolResult): string {
  return JSON.stringify({ content, ...(details !== undefined && { details }), isError, outcomeUncertain, terminate });
}

/** A text as a record holds it. */
export function contentOf(text: string): { readonly text: string; readonly isCut: boolean } {
  return { text: text.slice(0, MOST_CONTENT_CHARACTERS), isCut: text.length > MOST_CONTENT_CHARACTERS };
}

/** Models send text, and text that is not JSON is shown as it came. */
function textOf(given: unknown): string {
  return typeof given === "string" ? given : (JSON.stringify(given ?? {}) ?? "");
}

// `Array.isArray` does not narrow a readonly list.
function isList(response: GivenResponse): response is Extract<GivenResponse, readonly unknown[]> {
  return Array.isArray(response);
}
