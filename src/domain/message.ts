import type { StopReason } from "./call.ts";
import type { ContentPart } from "./content.ts";
import type { FailureCategory } from "./failure.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** The result of one call as the transcript keeps it; `content` goes to the model, `details` never does. */
export interface ToolResultMessage {
  readonly role: "toolResult";
  /** The host's id, unchanged; an id that was missing or empty is the one the kernel gave (PREP-9). */
  readonly callId: string;
  readonly toolName: string;
  readonly callIndex: number;
  readonly content: readonly ContentPart[];
  readonly details?: JsonValue;
  readonly isError: boolean;
  readonly failureCategory?: FailureCategory;
  readonly outcomeUncertain: boolean;
  readonly terminate: boolean;
  readonly providerData?: JsonObject;
}

/** A bounded word of the kernel to the model, after a batch's results (REP-4). */
export interface PolicyMessage {
  readonly role: "policy";
  readonly policy: "agent_policy";
  readonly content: string;
  readonly audience: "internal";
}

/** What a user, or the host for one, says. */
export interface UserMessage {
  readonly role: "user";
  readonly content: string | readonly ContentPart[];
}

/** A part of what a model says. */
export type AssistantPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string; readonly providerData?: JsonObject | undefined }
  | {
      readonly type: "toolCall";
      readonly id: string;
      readonly name: string;
      readonly arguments: string | JsonObject;
      readonly providerData?: JsonObject | undefined;
    };

/** Token counts of one model response. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

/** One model response. */
export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly AssistantPart[];
  readonly stopReason: StopReason;
  readonly usage?: Usage | undefined;
}

/** Any message of a transcript. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage | PolicyMessage;
