import { toolResult } from "toolkernel";
import type { ContentPart } from "../../domain/content.ts";
import { bytesPart, jsonPart, urlPart } from "../import/foreign-content.ts";
import { isFields } from "../wire/draft-call.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * What a tool of the OpenAI Agents SDK gave back: the SDK's own text, image and file outputs, or a list
 * of them, as content; every other value as it is. Never throws: the tool has run.
 */
export function readAgentsOutput(output: unknown): unknown {
  const parts = (Array.isArray(output) ? output : [output]).map(readPart);
  const known = parts.filter((part) => part !== undefined);
  return known.length > 0 && known.length === parts.length ? toolResult({ content: known }) : output;
}

function readPart(part: unknown): ContentPart | undefined {
  if (!isFields(part)) {
    return undefined;
  }
  switch (part.type) {
    case "text":
      return typeof part.text === "string" ? { type: "text", text: part.text } : undefined;
    case "image":
      return "image" in part ? readData(part.image, "image/png", part) : undefined;
    case "file":
      return "file" in part ? readData(part.file, "application/octet-stream", part) : undefined;
    default:
      return undefined;
  }
}

/** Bytes, a URL or an uploaded file's id, in the forms the SDK knows. */
function readData(data: unknown, mediaType: string, whole: Fields): ContentPart {
  if (typeof data === "string") {
    return /^[a-z][a-z0-9+.-]*:/i.test(data) ? urlPart(data) : bytesPart(mediaType, data);
  }
  if (!isFields(data)) {
    return jsonPart(whole);
  }
  if (typeof data.url === "string") {
    return urlPart(data.url);
  }
  const said = typeof data.mediaType === "string" ? data.mediaType : mediaType;
  return data.data === undefined ? jsonPart(whole) : bytesPart(said, data.data, data.filename);
}
