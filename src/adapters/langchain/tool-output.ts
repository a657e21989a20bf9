import { toolResult } from "toolkernel";
import type { ContentPart, DeclaredResult } from "../../domain/content.ts";
import { bytesPart, jsonPart, urlPart } from "../import/foreign-content.ts";
import { isFields, objectsOf } from "../wire/draft-call.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * What a tool of LangChain gave back, as the kernel's result: a tool message's content, status and
 * artifact; of a LangGraph command the tool message that it carries; any other value as it is. Never
 * throws: the tool has run.
 */
export function readToolOutput(output: unknown, terminate: boolean): DeclaredResult {
  const ends = terminate ? { terminate } : {};
  const message = toolMessageOf(output);
  if (message === undefined) {
    return toolResult({ value: output, ...ends });
  }
  return toolResult({
    content: readContent(message.content),
    ...(message.artifact === undefined ? {} : { details: message.artifact }),
    ...(message.status === "error" ? { isError: true } : {}),
    ...ends,
  });
}

function toolMessageOf(output: unknown): Fields | undefined {
  if (!isFields(output)) {
    return undefined;
  }
  if (output.lc_direct_tool_output === true && "tool_call_id" in output) {
    return output;
  }
  const update = isFields(output.update) ? output.update : {};
  return objectsOf(update.messages).find((message) => "tool_call_id" in message);
}

function readContent(content: unknown): string | readonly ContentPart[] {
  if (typeof content === "string") {
    return content;
  }
  return Array.isArray(content) ? content.map(readBlock) : [jsonPart(content)];
}

function readBlock(block: unknown): ContentPart {
  if (!isFields(block)) {
    return jsonPart(block);
  }
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? { type: "text", text: block.text } : jsonPart(block);
    case "image_url":
      return readImageUrl(block);
    case "image":
    case "audio":
    case "video":
    case "file":
      return readMedia(block);
    default:
      return jsonPart(block);
  }
}

function readImageUrl(block: Fields): ContentPart {
  const url = isFields(block.image_url) ? block.image_url.url : block.image_url;
  return typeof url === "string" ? urlPart(url) : jsonPart(block);
}

/** A standard block, in the spelling of LangChain 1 or the one before it. */
function readMedia(block: Fields): ContentPart {
  const mediaType = block.mimeType ?? block.mime_type;
  if (typeof block.url === "string") {
    return urlPart(block.url, mediaType);
  }
  return typeof mediaType === "string" && block.data !== undefined
    ? bytesPart(mediaType, block.data, block.filename)
    : jsonPart(block);
}
