import type { StopReason, ToolCall } from "../../domain/call.ts";

/** The words of one wire for a response that ended as it should, and for one that was cut off. */
export interface StopWords {
  readonly normal: ReadonlySet<string>;
  readonly truncated: ReadonlySet<string>;
}

// Routers hand the words of the provider behind them through, so a cut is known by any wire's word for it.
const TRUNCATED_ANYWHERE: ReadonlySet<string> = new Set([
  "length",
  "max_tokens",
  "max_output_tokens",
  "incomplete",
  "MAX_TOKENS",
  "model_length",
  "model_context_window_exceeded",
]);

/** The words of a wire; every wire also knows the other wires' words for a cut. */
export function stopWords(normal: readonly string[], truncated: readonly string[] = []): StopWords {
  return { normal: new Set(normal), truncated: new Set(truncated) };
}

/**
 * What a provider's word for the end of a whole response means to the kernel (PREP-10). An absent or
 * empty word is a normal end; a normal end with calls is `toolUse`, without any `stop`; every word that
 * the wire does not know as normal or as a cut is `error`, so that nothing of the response runs.
 */
export function readStopReason(reason: unknown, words: StopWords, calls: readonly ToolCall[]): StopReason {
  if (reason === undefined || reason === null || reason === "") return normalStop(calls);
  if (typeof reason !== "string") return "error";
  if (words.normal.has(reason)) return normalStop(calls);
  return words.truncated.has(reason) || TRUNCATED_ANYWHERE.has(reason) ? "length" : "error";
}

/** The stop reason of a response that ended as it should. */
export function normalStop(calls: readonly ToolCall[]): StopReason {
  return calls.length > 0 ? "toolUse" : "stop";
}
