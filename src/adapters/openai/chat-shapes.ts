import type { JsonObject } from "../../domain/json.ts";

/** The part of a chat completion that {@link callsFromChat} reads; any version of the SDK, or plain JSON, fits. */
export interface ChatCompletionLike {
  readonly choices?: readonly ChatChoiceLike[] | null | undefined;
}

/** One choice of a chat completion. */
export interface ChatChoiceLike {
  readonly finish_reason?: string | null | undefined;
  readonly message?: ChatMessageLike | null | undefined;
}

/** The assistant's message of a choice. */
export interface ChatMessageLike {
  readonly refusal?: string | null | undefined;
  readonly tool_calls?: readonly object[] | null | undefined;
}

/** A tool as Chat Completions declares it. */
export interface ChatTool {
  readonly type: "function";
  readonly function: ChatFunction;
}

/** The function of a {@link ChatTool}. */
export interface ChatFunction {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: JsonObject;
}

/** A tool's result, or a word of the kernel, as Chat Completions takes it. */
export type ChatMessage =
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string }
  | { readonly role: "user"; readonly content: string };
