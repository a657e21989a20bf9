import type { ContentPart } from "../../domain/content.ts";
import type { JsonValue } from "../../domain/json.ts";

/** A part that shows a value of another framework as JSON; the kernel records it as `JSON.stringify` sees it. */
export function jsonPart(value: unknown): ContentPart {
  // What is not JSON is found, and named, when the kernel records the content.
  return { type: "json", value: value as JsonValue };
}

/** Bytes of a media type, given as base64 or as bytes; a value that is neither is shown as JSON. */
export function bytesPart(mediaType: string, data: unknown, name?: unknown): ContentPart {
  const base64 = typeof data === "string" ? data : data instanceof Uint8Array ? toBase64(data) : undefined;
  if (base64 === undefined) {
    return jsonPart(data);
  }
  const type = mediaType.startsWith("image/") ? "image" : mediaType.startsWith("audio/") ? "audio" : "file";
  return { type, mediaType, data: base64, ...(typeof name === "string" ? { name } : {}) };
}

/** What a URL leads to: the bytes of a data URL, else a resource. */
export function urlPart(url: string, mediaType?: unknown): ContentPart {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  if (inline?.[1] !== undefined) {
    return bytesPart(inline[1], inline[2]);
  }
  return { type: "resource", uri: url, ...(typeof mediaType === "string" ? { mediaType } : {}) };
}

/** Bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  // In pieces, since a call takes only so many arguments.
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length; start += 8_192) {
    pieces.push(String.fromCharCode(...bytes.subarray(start, start + 8_192)));
  }
  return btoa(pieces.join(""));
}
