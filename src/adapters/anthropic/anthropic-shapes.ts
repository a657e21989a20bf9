import type { JsonObject } from "../../domain/json.ts";

/** The part of a message that {@link callsFromAnthropic} reads; any version of the SDK, or plain JSON, fits. */
export interface AnthropicMessageLike {
  readonly content?: readonly object[] | string | null | undefined;
  readonly stop_reason?: string | null | undefined;
}

/** A tool as the Messages API declares it. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject & { readonly type: "object" };
}

/** The one user message that answers all calls of a response. Arrays are mutable, as the SDK's types want. */
export interface AnthropicUserMessage {
  readonly role: "user";
  readonly content: (AnthropicToolResult | AnthropicText)[];
}

/** The result of one call. */
export interface AnthropicToolResult {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  /** Absent when the result is empty, since the API refuses an empty text. */
  readonly content?: AnthropicPart[];
  readonly is_error?: true;
  /** The call's own, echoed. */
  readonly toolset_name?: string;
}

/** Text of a message or of a result. */
export interface AnthropicText {
  readonly type: "text";
  readonly text: string;
}

/** The kinds of image that the API reads. */
export type AnthropicImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

/** A piece of a result. */
export type AnthropicPart =
  | AnthropicText
  | {
      readonly type: "image";
      readonly source: { readonly type: "base64"; readonly media_type: AnthropicImageType; readonly data: string };
    }
  | {
      readonly type: "document";
      readonly source: { readonly type: "base64"; readonly media_type: "application/pdf"; readonly data: string };
      readonly title?: string;
    };
