import type { JsonObject, JsonValue } from "../../domain/json.ts";

/** The part of a response that {@link callsFromGemini} reads; any version of the SDK, or plain JSON, fits. */
export interface GeminiResponseLike {
  readonly candidates?: readonly GeminiCandidateLike[] | null | undefined;
  readonly promptFeedback?: { readonly blockReason?: string | null | undefined } | null | undefined;
}

/** One candidate of a response. */
export interface GeminiCandidateLike {
  readonly content?: { readonly parts?: readonly object[] | null | undefined } | null | undefined;
  readonly finishReason?: string | null | undefined;
}

/** A list of functions as Gemini takes it. Arrays are mutable, as the SDK's types want. */
export interface GeminiTool {
  readonly functionDeclarations: GeminiFunction[];
}

/** One declared function. */
export interface GeminiFunction {
  readonly name: string;
  readonly description: string;
  readonly parametersJsonSchema: JsonObject;
}

/** The one content that answers all calls of a response. */
export interface GeminiContent {
  readonly role: "user";
  readonly parts: GeminiPart[];
}

/** A part of a {@link GeminiContent}. */
export type GeminiPart =
  | { readonly functionResponse: GeminiFunctionResponse }
  | { readonly text: string }
  | { readonly inlineData: { readonly mimeType: string; readonly data: string } };

/** The result of one call. */
export interface GeminiFunctionResponse {
  /** Only where the provider gave the call one. */
  readonly id?: string;
  readonly name: string;
  readonly response: { readonly output: JsonValue } | { readonly error: JsonValue };
}
