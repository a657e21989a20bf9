/** What a run store can keep: JSON. Nothing that a model or provider hands over may cost a run its store (RUN-6). */
import type { ToolCall } from "../../domain/call.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { AssistantMessage } from "../../domain/message.ts";
import { parseArguments } from "../../prepare/parse-arguments.ts";

/** Stands for arguments that are not JSON; as text they are not JSON either, so their call is refused like the original. */
const UNREADABLE = "(arguments that were not JSON)";

/** Whether a value has JSON text. */
export function isStorable(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

/** A call as it is kept: refused in preparation where the original is (PREP-11); what is opaque and not JSON is left out. */
export function storableCall(call: ToolCall): ToolCall {
  const { arguments: draft, ...rest } = withoutUnstorableData(call);
  if (typeof draft === "string") return { ...rest, arguments: draft };
  const parsed = parseArguments(draft);
  // A draft that is not an object is refused later, by what it is.
  return { ...rest, arguments: parsed.ok ? (parsed.draft as JsonObject) : UNREADABLE };
}

/** A model's message as it is kept; its drafts have been read as JSON. */
export function storableMessage(message: AssistantMessage): AssistantMessage {
  return isStorable(message) ? message : { ...message, content: message.content.map(withoutUnstorableData) };
}

/** A part or message as it is kept: without what is opaque and not JSON. */
export function withoutUnstorableData<Part extends object>(part: Part): Part {
  if (!("providerData" in part) || isStorable(part.providerData)) return part;
  const { providerData: _providerData, ...rest } = part;
  return rest as Part; // the field is optional wherever it is
}
