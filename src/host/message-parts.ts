import type { ContentPart } from "../domain/content.ts";
import type { AssistantPart } from "../domain/message.ts";

type FieldKind = "text" | "optionalText" | "json" | "draft";

/** The fields that make each part, beside its type. */
const CONTENT_FIELDS: Readonly<Record<ContentPart["type"], Readonly<Record<string, FieldKind>>>> = {
  text: { text: "text" },
  json: { value: "json" },
  image: { mediaType: "text", data: "text", name: "optionalText" },
  audio: { mediaType: "text", data: "text", name: "optionalText" },
  file: { mediaType: "text", data: "text", name: "optionalText" },
  resource: { uri: "text", mediaType: "optionalText", text: "optionalText" },
};

const ASSISTANT_FIELDS: Readonly<Record<AssistantPart["type"], Readonly<Record<string, FieldKind>>>> = {
  text: { text: "text" },
  reasoning: { text: "text" },
  toolCall: { id: "text", name: "text", arguments: "draft" },
};

/** Whether a value is a part of what a user says or a tool answers. */
export function isContentPart(value: unknown): value is ContentPart {
  return hasFields(value, CONTENT_FIELDS);
}

/** Whether a value is a part of what a model says. */
export function isAssistantPart(value: unknown): value is AssistantPart {
  return hasFields(value, ASSISTANT_FIELDS);
}

function hasFields(value: unknown, table: Readonly<Record<string, Readonly<Record<string, FieldKind>>>>): boolean {
  if (typeof value !== "object" || value === null) return false;
  const part = value as Readonly<Record<string, unknown>>; // looked at field by field
  const fields = typeof part.type === "string" && Object.hasOwn(table, part.type) ? table[part.type] : undefined;
  return fields !== undefined && Object.entries(fields).every(([name, kind]) => isOfKind(part[name], kind));
}

function isOfKind(value: unknown, kind: FieldKind): boolean {
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "optionalText":
      return value === undefined || typeof value === "string";
    case "json":
      return value !== undefined;
    case "draft":
      return typeof value === "string" || (typeof value === "object" && value !== null && !Array.isArray(value));
  }
}
