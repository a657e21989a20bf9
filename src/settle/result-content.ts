import type { ContentPart } from "../domain/content.ts";
import { type JsonValue, MAX_JSON_DEPTH } from "../domain/json.ts";
import { type RecordedValue, recordValue, toWellFormedJson } from "./record-value.ts";

/** Content the model may see, or the fault that kept a tool's content from being recorded. */
export type ReadContent =
  | { readonly kind: "content"; readonly content: readonly ContentPart[] }
  | Extract<RecordedValue, { kind: "fault" }>;

/** A recorded value as content: nothing, one text part, or one JSON part. */
export function contentOf(recorded: RecordedValue): ReadContent {
  if (recorded.kind === "fault") return recorded;
  if (recorded.kind === "empty") return { kind: "content", content: [] };
  const { value } = recorded;
  if (typeof value === "string") return { kind: "content", content: [textPart(value)] };
  return { kind: "content", content: [{ type: "json", value: toWellFormedJson(value) }] };
}

/** A text part; lone surrogates are replaced, since a provider would refuse them ever after. */
export function textPart(text: string): ContentPart {
  return { type: "text", text: text.toWellFormed() };
}

/** A part's value may be as deep as any other; the list and the part come on top. */
const MAX_CONTENT_DEPTH = MAX_JSON_DEPTH + 2;

/** Reads content that a tool or hook declared, as text or parts; an unknown part is a fault. */
export function readContent(content: unknown, maxCharacters: number): ReadContent {
  const recorded = recordValue(content, maxCharacters, MAX_CONTENT_DEPTH);
  if (recorded.kind !== "json") return contentOf(recorded);
  if (typeof recorded.value === "string") return contentOf(recorded);
  if (!Array.isArray(recorded.value)) return { kind: "fault", fault: "content is neither text nor a list of parts" };
  const parts: ContentPart[] = [];
  for (const item of recorded.value as readonly JsonValue[]) {
    const part = readPart(item);
    if (part === undefined) return { kind: "fault", fault: "content holds a part of an unknown form" };
    parts.push(part);
  }
  return { kind: "content", content: parts };
}

/** Reads one part; also MCP's names for the same things. */
function readPart(item: JsonValue): ContentPart | undefined {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return undefined;
  const part = item as { readonly [key: string]: JsonValue };
  switch (part.type) {
    case "text":
      return typeof part.text === "string" ? textPart(part.text) : undefined;
    case "json":
      return part.value === undefined ? undefined : { type: "json", value: toWellFormedJson(part.value) };
    case "image":
    case "audio":
    case "file":
      return readMedia(part.type, part);
    case "resource":
    case "resource_link":
      return readResource(part);
    default:
      return undefined;
  }
}

function readMedia(
  type: "image" | "audio" | "file",
  part: { readonly [key: string]: JsonValue },
): ContentPart | undefined {
  const mediaType = part.mediaType ?? part.mimeType;
  if (typeof mediaType !== "string" || typeof part.data !== "string") return undefined;
  return {
    type,
    mediaType: mediaType.toWellFormed(),
    data: part.data.toWellFormed(),
    ...(typeof part.name === "string" && { name: part.name.toWellFormed() }),
  };
}

function readResource(part: { readonly [key: string]: JsonValue }): ContentPart | undefined {
  // MCP embeds the resource one level down; the kernel's own part is flat.
  const embedded = part.resource;
  const resource =
    typeof embedded === "object" && embedded !== null && !Array.isArray(embedded)
      ? (embedded as { readonly [key: string]: JsonValue })
      : part;
  const mediaType = resource.mediaType ?? resource.mimeType;
  if (typeof resource.uri !== "string") return undefined;
  return {
    type: "resource",
    uri: resource.uri.toWellFormed(),
    ...(typeof mediaType === "string" && { mediaType: mediaType.toWellFormed() }),
    ...(typeof resource.text === "string" && { text: resource.text.toWellFormed() }),
  };
}
