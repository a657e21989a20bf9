import type { DraftResponse } from "../../domain/call.ts";
import type { ToolResultMessage } from "../../domain/message.ts";
import type { AnyTool } from "../../domain/tool.ts";
import { type BatchMessages, policyTextsOf, resultsOf } from "../wire/batch-messages.ts";
import { type MediaPart, type SplitPart, splitContent } from "../wire/content-text.ts";
import { draftCall, fieldsBeside, isFields, objectsOf } from "../wire/draft-call.ts";
import { readBatch, readResponse } from "../wire/read-given.ts";
import { readStopReason, stopWords } from "../wire/stop-reason.ts";
import { declareTools } from "../wire/tool-declaration.ts";
import type {
  AnthropicImageType,
  AnthropicMessageLike,
  AnthropicPart,
  AnthropicText,
  AnthropicTool,
  AnthropicToolResult,
  AnthropicUserMessage,
} from "./anthropic-shapes.ts";

const STOP_WORDS = stopWords(["end_turn", "stop_sequence", "tool_use", "pause_turn"]);

/**
 * Declares tools to the Messages API, in the order given.
 * @throws KernelError `INVALID_TOOL_SCHEMA` when a tool has no JSON Schema, `INVALID_OPTIONS` for anything but a
 *   list of tools
 */
export function toAnthropicTools(tools: readonly AnyTool[]): AnthropicTool[] {
  return declareTools(tools).map(({ name, description, schema }) => {
    return { name, description, input_schema: schema };
  });
}

/**
 * Reads the tool calls of a whole message (a stream is joined by the SDK first), in source order. Ids,
 * names and inputs come out as they stand; `caller` and other fields of a `tool_use` stay in
 * `providerData`. `server_tool_use` and `mcp_tool_use` run at the provider and are left alone.
 *
 * A refusal and any reason that is not known are `error`, `max_tokens` and a full context window are
 * `length`: the kernel then runs none of the calls and answers each (PREP-10).
 * @throws KernelError `INVALID_OPTIONS` for anything but a whole response
 */
export function callsFromAnthropic(message: AnthropicMessageLike): DraftResponse {
  return readResponse(message, () => {
    const calls = objectsOf(message.content)
      .filter((block) => block.type === "tool_use")
      .map((block) =>
        draftCall({
          id: block.id,
          name: block.name,
          arguments: block.input,
          providerData: fieldsBeside(block, ["type", "id", "name", "input"]),
        }),
      );
    return { calls, stopReason: readStopReason(message.stop_reason, STOP_WORDS, calls) };
  });
}

/**
 * The results of a batch as one user message: a `tool_result` for each call in source order, then what
 * the kernel has to say as text. An empty list when there is nothing. Append it after the assistant's
 * message that made the calls.
 *
 * A call from the provider's own code execution (`caller`) may be answered by results alone: then the
 * text of the kernel is the last part of the last result. Images and PDF documents go as such; what a
 * result cannot carry is named in a note.
 * @throws KernelError `INVALID_OPTIONS` for anything but a batch's result
 */
export function toAnthropicMessages(batch: BatchMessages): AnthropicUserMessage[] {
  return readBatch(batch, () => {
    const results = resultsOf(batch);
    const policy = policyTextsOf(batch).map((text): AnthropicText => ({ type: "text", text }));
    const last = results.at(-1);
    if (last !== undefined && results.some(isProgrammatic)) {
      const others = results.slice(0, -1).map((result) => toResult(result, []));
      return [{ role: "user", content: [...others, toResult(last, policy)] }];
    }
    const content = [...results.map((result) => toResult(result, [])), ...policy];
    return content.length === 0 ? [] : [{ role: "user", content }];
  });
}

function isProgrammatic(result: ToolResultMessage): boolean {
  const caller = result.providerData?.caller;
  return isFields(caller) && caller.type !== "direct";
}

function toResult(result: ToolResultMessage, appended: readonly AnthropicText[]): AnthropicToolResult {
  const parts = splitContent(result.content, takesMedia).map(toPart).filter(isSayable);
  const content = [...parts, ...appended];
  const toolset = result.providerData?.toolset_name;
  return {
    type: "tool_result",
    tool_use_id: result.callId,
    ...(content.length === 0 ? {} : { content }),
    ...(result.isError ? { is_error: true } : {}),
    ...(typeof toolset === "string" ? { toolset_name: toolset } : {}),
  };
}

function takesMedia(part: MediaPart): boolean {
  return part.mediaType === "application/pdf" || (part.type === "image" && isImageType(part.mediaType));
}

function toPart(split: SplitPart): AnthropicPart {
  if (split.kind === "text") {
    return { type: "text", text: split.text };
  }
  const { mediaType, data, name } = split.part;
  if (isImageType(mediaType)) {
    return { type: "image", source: { type: "base64", media_type: mediaType, data } };
  }
  const title = name === undefined ? {} : { title: name.toWellFormed() };
  return { type: "document", source: { type: "base64", media_type: "application/pdf", data }, ...title };
}

/** The API refuses a text without a visible character. */
function isSayable(part: AnthropicPart): boolean {
  return part.type !== "text" || part.text.trim() !== "";
}

function isImageType(mediaType: string): mediaType is AnthropicImageType {
  return /^image\/(jpeg|png|gif|webp)$/.test(mediaType);
}
