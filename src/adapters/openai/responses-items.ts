import type { ToolResultMessage } from "../../domain/message.ts";
import type { AnyTool } from "../../domain/tool.ts";
import { type BatchMessages, policyTextsOf, resultsOf } from "../wire/batch-messages.ts";
import { contentText, type MediaPart, type SplitPart, splitContent } from "../wire/content-text.ts";
import { isFields } from "../wire/draft-call.ts";
import { readBatch } from "../wire/read-given.ts";
import { declareTools } from "../wire/tool-declaration.ts";
import { toResponsesCallId } from "./responses-call-id.ts";
import type { ResponsesItem, ResponsesPart, ResponsesTool } from "./responses-shapes.ts";
import { shellOutputs } from "./shell-output.ts";

/**
 * Declares tools to the Responses API, in the order given. None is `strict`, so that every JSON Schema
 * is taken as it is; the kernel validates the arguments.
 * @throws KernelError `INVALID_TOOL_SCHEMA` when a tool has no JSON Schema, `INVALID_OPTIONS` for anything but a
 *   list of tools
 */
export function toResponsesTools(tools: readonly AnyTool[]): ResponsesTool[] {
  return declareTools(tools).map(({ name, description, schema }) => {
    return { type: "function", name, description, parameters: schema, strict: false };
  });
}

/**
 * The results of a batch as input items, in source order and each of the kind that its call wants, then
 * what the kernel has to say as a user message. Append them after the response's own output items.
 *
 * Text goes back as text; images and files that hold no text as parts of their own; audio, which an
 * output cannot carry, is named in a note. A call goes back under the id it came with, however long; one
 * that another provider made under {@link toResponsesCallId}; one that came without an id under the id
 * the kernel gave it.
 * @throws KernelError `INVALID_OPTIONS` for anything but a batch's result
 */
export function toResponsesItems(batch: BatchMessages): ResponsesItem[] {
  return readBatch(batch, () => {
    return [
      ...resultsOf(batch).map(toItem),
      ...policyTextsOf(batch).map((content): ResponsesItem => ({ role: "user", content })),
    ];
  });
}

function toItem(result: ToolResultMessage): ResponsesItem {
  const data = result.providerData ?? {};
  const call_id = typeof data.call_id === "string" ? data.call_id : toResponsesCallId(result.callId);
  const caller = isFields(data.caller) ? { caller: data.caller } : {};
  switch (data.type) {
    case "custom_tool_call":
      return { type: "custom_tool_call_output", call_id, output: toOutput(result), ...caller };
    case "local_shell_call":
      return { type: "local_shell_call_output", call_id, output: contentText(result.content) };
    case "apply_patch_call": {
      const status = result.isError ? "failed" : "completed";
      return { type: "apply_patch_call_output", call_id, status, output: contentText(result.content), ...caller };
    }
    case "shell_call": {
      const bound = isFields(data.action) ? data.action.max_output_length : undefined;
      const max_output_length = bound === undefined || bound === null ? {} : { max_output_length: bound };
      return { type: "shell_call_output", call_id, output: shellOutputs(result), ...max_output_length, ...caller };
    }
    default:
      return { type: "function_call_output", call_id, output: toOutput(result), ...caller };
  }
}

function toOutput(result: ToolResultMessage): string | ResponsesPart[] {
  const parts = splitContent(result.content, takesMedia);
  return parts.every((part) => part.kind === "text") ? contentText(result.content) : parts.map(toPart);
}

function takesMedia(part: MediaPart): boolean {
  switch (part.type) {
    case "image":
      return /^image\/(png|jpeg|webp|gif)$/.test(part.mediaType);
    case "file":
      return true;
    case "audio":
      return false;
  }
}

function toPart(split: SplitPart): ResponsesPart {
  if (split.kind === "text") {
    return { type: "input_text", text: split.text };
  }
  const { part } = split;
  const url = `data:${part.mediaType};base64,${part.data}`;
  return part.type === "image"
    ? { type: "input_image", detail: "auto", image_url: url }
    : { type: "input_file", filename: part.name?.toWellFormed() ?? "file", file_data: url };
}
