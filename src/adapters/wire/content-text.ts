import type { ContentPart } from "../../domain/content.ts";

/** A part that carries bytes. */
export type MediaPart = Extract<ContentPart, { readonly data: string }>;

/** One part as a wire sends it: as text, or as bytes in a shape of the wire's own. */
export type SplitPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "media"; readonly part: MediaPart };

/**
 * Tells the parts that a wire's tool result takes as bytes from those it takes as text. A part with
 * bytes that the wire does not take becomes its own text where it holds text, else a note of what was
 * left out; nothing is dropped in silence. Every text is well-formed Unicode.
 */
export function splitContent(content: readonly ContentPart[], takesMedia: (part: MediaPart) => boolean): SplitPart[] {
  return content.map((part) =>
    "data" in part && !holdsText(part) && takesMedia(part)
      ? { kind: "media", part }
      : { kind: "text", text: partText(part) },
  );
}

/** The whole content as one text, for wires whose tool results are text alone; parts stand on lines of their own. */
export function contentText(content: readonly ContentPart[]): string {
  return content.map(partText).join("\n");
}

/** One part as well-formed text. */
export function partText(part: ContentPart): string {
  switch (part.type) {
    case "text":
      return part.text.toWellFormed();
    case "json":
      return JSON.stringify(part.value);
    case "resource":
      return resourceText(part);
    case "image":
    case "audio":
    case "file":
      return mediaText(part);
  }
}

/** A label that names a part with bytes, such as `image image/png "chart.png"`. */
export function mediaLabel(part: MediaPart): string {
  const name = part.name === undefined ? "" : ` ${JSON.stringify(part.name.toWellFormed())}`;
  return `${part.type} ${part.mediaType.toWellFormed()}${name}`;
}

function resourceText(part: Extract<ContentPart, { readonly type: "resource" }>): string {
  const mediaType = part.mediaType === undefined ? "" : ` (${part.mediaType.toWellFormed()})`;
  const heading = `[resource ${part.uri.toWellFormed()}${mediaType}]`;
  return part.text === undefined ? heading : `${heading}\n${part.text.toWellFormed()}`;
}

function mediaText(part: MediaPart): string {
  const text = holdsText(part) ? decodeText(part.data) : undefined;
  if (text !== undefined) {
    return `[${mediaLabel(part)}]\n${text}`;
  }
  return `[left out, since a tool result cannot carry it here: ${mediaLabel(part)}, ${byteLength(part.data)} bytes]`;
}

function holdsText(part: MediaPart): boolean {
  return part.type === "file" && /^(text\/|application\/json\b)/.test(part.mediaType);
}

/** The UTF-8 text of base64 data; undefined when it is neither. */
function decodeText(data: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function byteLength(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}
