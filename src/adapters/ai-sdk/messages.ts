import type { DraftResponse, StopReason, ToolCall } from "../../domain/call.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { ToolResultMessage } from "../../domain/message.ts";
import { type BatchMessages, policyTextsOf, resultsOf } from "../wire/batch-messages.ts";
import { contentText, type MediaPart, type SplitPart, splitContent } from "../wire/content-text.ts";
import { draftCall, isFields, objectsOf } from "../wire/draft-call.ts";
import { readBatch, readResponse } from "../wire/read-given.ts";
import { readStopReason, stopWords } from "../wire/stop-reason.ts";
import { wellFormedJson } from "../wire/well-formed.ts";
import type {
  AiSdkJson,
  AiSdkMessage,
  AiSdkOutput,
  AiSdkPart,
  AiSdkResponseLike,
  AiSdkToolResult,
} from "./message-shapes.ts";

type Part = Readonly<Record<string, unknown>>;

const STOP_WORDS = stopWords(["stop", "tool-calls"]);

/**
 * Reads the tool calls of a whole response, in source order: of what `generateText` or a step gives for
 * tools without `execute`, of an assistant message, or of what a language model's `doGenerate` gives.
 * Ids, names and inputs come out as they stand; provider metadata stays in `providerData` under its own
 * name. Calls that the provider runs itself, and calls whose result stands in the same response, are
 * left alone.
 *
 * `length` is a cut; `content-filter`, `error`, `unknown` and `other` are `error`, except an `other`
 * behind which the provider gave no reason at all: the kernel then runs none of the calls and answers
 * each (PREP-10).
 * @throws KernelError `INVALID_OPTIONS` for anything but a whole response
 */
export function callsFromAiSdk(response: AiSdkResponseLike): DraftResponse {
  return readResponse(response, () => {
    const parts = objectsOf(Array.isArray(response.content) ? response.content : response.toolCalls);
    const answered = new Set(parts.filter(isResult).map((part) => part.toolCallId));
    const calls = parts.filter((part) => isOwnCall(part) && !answered.has(part.toolCallId)).map(readCall);
    return { calls, stopReason: readFinishReason(response.finishReason, calls) };
  });
}

/** What a finish reason of the AI SDK means to the kernel. */
export function readFinishReason(reason: AiSdkResponseLike["finishReason"], calls: readonly ToolCall[]): StopReason {
  if (!isFields(reason)) {
    return readStopReason(reason, STOP_WORDS, calls);
  }
  const isUnsaid = reason.unified === "other" && (reason.raw === undefined || reason.raw === "");
  return readStopReason(isUnsaid ? undefined : reason.unified, STOP_WORDS, calls);
}

/**
 * The results of a batch as one tool message, in source order, then what the kernel has to say as a
 * user message; an empty list when there is nothing. Append them after the assistant's message that
 * made the calls.
 *
 * A failure is an `error-text` or `error-json` output, in which bytes are named in a note; otherwise
 * images go as `image-data` and other bytes as `file-data`, which the AI SDK knows from version 6 on.
 * A call that came without an id is answered under the id the kernel gave it.
 * @throws KernelError `INVALID_OPTIONS` for anything but a batch's result
 */
export function toAiSdkMessages(batch: BatchMessages): AiSdkMessage[] {
  return readBatch(batch, () => {
    const results = resultsOf(batch).map(toResult);
    return [
      ...(results.length === 0 ? [] : [{ role: "tool" as const, content: results }]),
      ...policyTextsOf(batch).map((content): AiSdkMessage => ({ role: "user", content })),
    ];
  });
}

/** A result's content as the output of a tool; text and JSON alone where the result is an error. */
export function toAiSdkOutput(result: Pick<ToolResultMessage, "content" | "isError">): AiSdkOutput {
  const only = result.content.length === 1 ? result.content[0] : undefined;
  if (only?.type === "json") {
    return { type: result.isError ? "error-json" : "json", value: mutableJson(only.value) };
  }
  const parts = splitContent(result.content, takesMedia);
  if (result.isError || parts.every((part) => part.kind === "text")) {
    return { type: result.isError ? "error-text" : "text", value: contentText(result.content) };
  }
  return { type: "content", value: parts.map(toPart) };
}

function isResult(part: Part): boolean {
  return part.type === "tool-result" || part.type === "tool-error";
}

function isOwnCall(part: Part): boolean {
  return part.type === "tool-call" && part.providerExecuted !== true;
}

function readCall(part: Part): ToolCall {
  // Results and models say providerMetadata, messages say providerOptions.
  const metadata = part.providerMetadata ?? part.providerOptions;
  return draftCall({
    id: part.toolCallId,
    name: part.toolName,
    arguments: part.input,
    // The AI SDK's types say that metadata is JSON.
    ...(isFields(metadata) ? { providerData: { providerMetadata: metadata as JsonObject } } : {}),
  });
}

function toResult(result: ToolResultMessage): AiSdkToolResult {
  const metadata = result.providerData?.providerMetadata;
  return {
    type: "tool-result",
    toolCallId: result.callId,
    toolName: result.toolName,
    output: toAiSdkOutput(result),
    // It is the metadata that the AI SDK gave, by provider name; nobody here changes it.
    ...(isFields(metadata) ? { providerOptions: metadata as NonNullable<AiSdkToolResult["providerOptions"]> } : {}),
  };
}

function takesMedia(): boolean {
  return true;
}

function toPart(split: SplitPart): AiSdkPart {
  if (split.kind === "text") {
    return { type: "text", text: split.text };
  }
  const { type, mediaType, data, name }: MediaPart = split.part;
  if (type === "image") {
    return { type: "image-data", data, mediaType };
  }
  return { type: "file-data", data, mediaType, ...(name === undefined ? {} : { filename: name.toWellFormed() }) };
}

function mutableJson(value: JsonValue): AiSdkJson {
  // wellFormedJson copies every container, so nobody else holds what may be changed here.
  return wellFormedJson(value) as AiSdkJson;
}
