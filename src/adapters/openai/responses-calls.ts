import type { DraftResponse, StopReason, ToolCall } from "../../domain/call.ts";
import { draftCall, fieldsBeside, isFields, objectsOf } from "../wire/draft-call.ts";
import { readResponse } from "../wire/read-given.ts";
import { readStopReason, stopWords } from "../wire/stop-reason.ts";
import { isOverlongCallId } from "./responses-call-id.ts";
import type { ResponseLike } from "./responses-shapes.ts";

type Item = Readonly<Record<string, unknown>>;

const STATUS_WORDS = stopWords(["completed"]);
const INCOMPLETE_WORDS = stopWords([]);

/**
 * Reads the tool calls of a whole response (a stream is joined by the SDK first), in source order. Ids
 * (`call_id`), names and argument text come out as they stand; a custom tool's text is `{ input }`.
 * Other fields of an item, such as `caller`, stay in `providerData`.
 *
 * The tools that OpenAI defines and the client runs are calls too, under the names they are declared
 * by: `local_shell` and `shell` with the item's `action` as arguments, `apply_patch` with its
 * `operation`. What OpenAI runs itself (web search, code interpreter, MCP, a shell in a container,
 * whatever has its output in the same response) is left alone, and so is `computer_call`, whose answer
 * can be nothing but a screenshot.
 *
 * A refusal, a failed response and `content_filter` are `error`; a response or a call that is
 * incomplete is `length`: the kernel then runs none of the calls and answers each (PREP-10).
 * @throws KernelError `INVALID_OPTIONS` for anything but a whole response
 */
export function callsFromResponses(response: ResponseLike): DraftResponse {
  return readResponse(response, () => {
    const items = objectsOf(response.output);
    const answered = new Set(items.filter(isOutput).map((item) => item.call_id));
    const own = items.filter((item) => isCall(item) && !answered.has(item.call_id));
    const calls = own.map(readCall);
    const stopReason = items.some(isRefusal) ? "error" : readStop(response, calls);
    const isCut = stopReason === "toolUse" && own.some((item) => item.status === "incomplete");
    return { calls, stopReason: isCut ? "length" : stopReason };
  });
}

function isOutput(item: Item): boolean {
  return typeof item.type === "string" && item.type.endsWith("_output");
}

function isCall(item: Item): boolean {
  switch (item.type) {
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
    case "apply_patch_call":
      return true;
    case "shell_call":
      return !(isFields(item.environment) && String(item.environment.type).startsWith("container"));
    default:
      return false;
  }
}

function readCall(item: Item): ToolCall {
  const { name, payload, read } = readItem(item);
  const kept = isOverlongCallId(item.call_id) ? read : [...read, "call_id"];
  return draftCall({ id: item.call_id, name, arguments: payload, providerData: fieldsBeside(item, kept) });
}

/** Name and arguments of an item, and which of its fields they were read from. */
function readItem(item: Item): { readonly name: unknown; readonly payload: unknown; readonly read: readonly string[] } {
  switch (item.type) {
    case "custom_tool_call":
      return { name: item.name, payload: { input: item.input }, read: ["name", "input"] };
    case "local_shell_call":
      return { name: "local_shell", payload: item.action, read: ["action"] };
    case "shell_call":
      return { name: "shell", payload: item.action, read: [] };
    case "apply_patch_call":
      return { name: "apply_patch", payload: item.operation, read: ["operation"] };
    default:
      return { name: item.name, payload: item.arguments, read: ["type", "name", "arguments"] };
  }
}

function readStop(response: ResponseLike, calls: readonly ToolCall[]): StopReason {
  if (isFields(response.error)) {
    return "error";
  }
  switch (response.status) {
    case "incomplete":
      return readStopReason(response.incomplete_details?.reason || "incomplete", INCOMPLETE_WORDS, calls);
    case "cancelled":
      return "aborted";
    default:
      return readStopReason(response.status, STATUS_WORDS, calls);
  }
}

function isRefusal(item: Item): boolean {
  return item.type === "message" && objectsOf(item.content).some((part) => part.type === "refusal");
}
