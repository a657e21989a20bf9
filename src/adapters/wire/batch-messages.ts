import type { BatchResult } from "../../domain/batch.ts";
import type { PolicyMessage, ToolResultMessage } from "../../domain/message.ts";

/** The part of a batch's result that a provider is told. */
export type BatchMessages = Pick<BatchResult, "messages">;

/** The results of a batch, in source order. */
export function resultsOf(batch: BatchMessages): readonly ToolResultMessage[] {
  return batch.messages.filter((message) => message.role === "toolResult");
}

/** What the kernel has to say beside the results, as well-formed text; empty when it has nothing to say. */
export function policyTextsOf(batch: BatchMessages): readonly string[] {
  return batch.messages
    .filter((message): message is PolicyMessage => message.role === "policy")
    .map((message) => message.content.toWellFormed());
}
