import { type ContentPart, type DeclaredResult, type JsonValue, toolResult } from "toolkernel";
import { isRecord } from "./is-record.ts";

/**
 * Turns what a server answered to `tools/call` into a result of the kernel, or into `undefined` where it is not
 * a result at all. Never throws: the call has happened, so odd parts of an answer are shown as they are (UNC-1).
 *
 * **Shape**: `content` becomes parts in the server's order, an unknown part one of type `json`;
 * `structuredContent` goes to `details.structuredContent`, and is what the model sees where `content`
 * is absent or empty. `isError` is a settled failure.
 */
export function readResult(answer: unknown): DeclaredResult | undefined {
  if (!isRecord(answer) || !isResult(answer)) return undefined;
  const fields = answer;
  const structured = fields.structuredContent;
  return toolResult({
    content: visibleContent(fields),
    ...(structured === undefined ? {} : { details: { structuredContent: structured } }),
    ...(fields.isError === true ? { isError: true } : {}),
  });
}

/** Content that is not a list says nothing that can be shown; without any, an answer is an empty result. */
function isResult({ content, structuredContent, toolResult: value }: Readonly<Record<string, unknown>>): boolean {
  return content === undefined || Array.isArray(content) || structuredContent !== undefined || value !== undefined;
}

function visibleContent(fields: Readonly<Record<string, unknown>>): readonly ContentPart[] {
  if (Array.isArray(fields.content) && fields.content.length > 0) {
    return fields.content.map(readPart);
  }
  // Servers of protocol version 2024-10-07 answer `toolResult` in place of content.
  const value = fields.structuredContent ?? fields.toolResult;
  return value === undefined ? [] : [jsonPart(value)];
}

function readPart(part: unknown): ContentPart {
  if (!isRecord(part)) {
    return jsonPart(part);
  }
  switch (part.type) {
    case "text":
      return typeof part.text === "string" ? { type: "text", text: part.text } : jsonPart(part);
    case "image":
    case "audio":
      return typeof part.data === "string" && typeof part.mimeType === "string"
        ? { type: part.type, mediaType: part.mimeType, data: part.data }
        : jsonPart(part);
    case "resource":
      return readEmbeddedResource(part);
    case "resource_link":
      return readResourceLink(part);
    default:
      return jsonPart(part);
  }
}

function readEmbeddedResource(part: Readonly<Record<string, unknown>>): ContentPart {
  const resource = part.resource;
  if (!isRecord(resource) || typeof resource.uri !== "string") {
    return jsonPart(part);
  }
  if (typeof resource.blob === "string") {
    const mediaType = textOr(resource.mimeType, "application/octet-stream");
    return { type: "file", mediaType, data: resource.blob, name: resource.uri };
  }
  return {
    type: "resource",
    uri: resource.uri,
    ...(typeof resource.mimeType === "string" ? { mediaType: resource.mimeType } : {}),
    ...(typeof resource.text === "string" ? { text: resource.text } : {}),
  };
}

/** A link has no content of its own: its text is what the server says about it. */
function readResourceLink(part: Readonly<Record<string, unknown>>): ContentPart {
  if (typeof part.uri !== "string") {
    return jsonPart(part);
  }
  const about = [textOr(part.title, textOr(part.name, "")), textOr(part.description, "")].filter((text) => text !== "");
  return {
    type: "resource",
    uri: part.uri,
    ...(typeof part.mimeType === "string" ? { mediaType: part.mimeType } : {}),
    ...(about.length > 0 ? { text: about.join(": ") } : {}),
  };
}

function jsonPart(value: unknown): ContentPart {
  // True because the value came out of the transport's JSON parser.
  return { type: "json", value: value as JsonValue };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}
