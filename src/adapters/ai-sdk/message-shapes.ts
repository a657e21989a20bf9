/**
 * The part of a response that {@link callsFromAiSdk} reads: what `generateText` or a step gives, an
 * assistant message, or what a language model's `doGenerate` gives; of any major version.
 */
export interface AiSdkResponseLike {
  readonly content?: readonly object[] | string | null | undefined;
  readonly toolCalls?: readonly object[] | null | undefined;
  /** A word, or from provider specification 3 on the word and the provider's own. */
  readonly finishReason?: string | { readonly unified?: unknown; readonly raw?: unknown } | null | undefined;
}

/** The tool message that answers all calls of a response. Arrays are mutable, as the AI SDK's types want. */
export interface AiSdkToolMessage {
  readonly role: "tool";
  readonly content: AiSdkToolResult[];
}

/** The result of one call. */
export interface AiSdkToolResult {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: AiSdkOutput;
  /** The call's own provider metadata, echoed. */
  readonly providerOptions?: Record<string, { [key: string]: AiSdkJson }>;
}

/** What a result holds. */
export type AiSdkOutput =
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "error-text"; readonly value: string }
  | { readonly type: "json"; readonly value: AiSdkJson }
  | { readonly type: "error-json"; readonly value: AiSdkJson }
  | { readonly type: "content"; readonly value: AiSdkPart[] };

/** JSON as the AI SDK's types want it: mutable. */
export type AiSdkJson = null | string | number | boolean | AiSdkJson[] | { [key: string]: AiSdkJson };

/** A piece of a result that is more than text. */
export type AiSdkPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image-data"; readonly data: string; readonly mediaType: string }
  | { readonly type: "file-data"; readonly data: string; readonly mediaType: string; readonly filename?: string };

/** A word of the kernel to the model. */
export interface AiSdkUserMessage {
  readonly role: "user";
  readonly content: string;
}

/** A message that answers calls, or a word of the kernel. */
export type AiSdkMessage = AiSdkToolMessage | AiSdkUserMessage;
