import type { JsonObject, JsonValue, ToolCall } from "toolkernel";

/** The folders that placeholders stand for. */
export interface Folders {
  /** `{workspace}`: the temporary folder. */
  readonly workspace: string;
  /** `{directory}`: the folder of the conversation file. */
  readonly directory: string;
}

/** Puts the folders in the place of `{workspace}` and `{directory}`. */
export function fillText(text: string, folders: Folders): string {
  return text.replace(/\{(workspace|directory)\}/g, (_, name: keyof Folders) => folders[name]);
}

/** Fills every text in a call's arguments, or the JSON text that a model sent for them. */
export function fillCall(call: ToolCall, folders: Folders): ToolCall {
  const filled =
    typeof call.arguments === "string" ? fillJsonText(call.arguments, folders) : fillObject(call.arguments, folders);
  return { ...call, arguments: filled };
}

function fillJsonText(text: string, folders: Folders): string {
  const escaped = { workspace: insideQuotes(folders.workspace), directory: insideQuotes(folders.directory) };
  return fillText(text, escaped);
}

function insideQuotes(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function fillObject(object: JsonObject, folders: Folders): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, fillValue(value, folders)]));
}

function fillValue(value: JsonValue, folders: Folders): JsonValue {
  if (typeof value === "string") {
    return fillText(value, folders);
  }
  if (Array.isArray(value)) {
    return value.map((item: JsonValue) => fillValue(item, folders));
  }
  // True because Array.isArray does not narrow a readonly array away.
  return typeof value === "object" && value !== null ? fillObject(value as JsonObject, folders) : value;
}
