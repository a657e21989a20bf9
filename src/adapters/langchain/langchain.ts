import type { DraftResponse, StopReason, ToolCall } from "../../domain/call.ts";
import type { ToolResultMessage } from "../../domain/message.ts";
import { type BatchMessages, policyTextsOf, resultsOf } from "../wire/batch-messages.ts";
import { contentText, type MediaPart, type SplitPart, splitContent } from "../wire/content-text.ts";
import { draftCall, fieldsBeside, isFields, objectsOf } from "../wire/draft-call.ts";
import { readBatch, readResponse } from "../wire/read-given.ts";
import { readStopReason, stopWords } from "../wire/stop-reason.ts";
import type {
  LangChainMessage,
  LangChainMessageLike,
  LangChainPart,
  LangChainToolMessage,
} from "./langchain-shapes.ts";

type Fields = Readonly<Record<string, unknown>>;

// LangChain passes on the word of whichever provider answered.
const STOP_WORDS = stopWords(
  ["stop", "tool_calls", "function_call", "end_turn", "stop_sequence", "tool_use", "pause_turn", "STOP", "completed"],
  ["CONTINUATION"],
);
const STOP_FIELDS = ["finish_reason", "stop_reason", "finishReason", "stopReason", "status"];

/**
 * Reads the tool calls of a whole AI message (chunks are joined by LangChain first), in the order of
 * the provider's own blocks where the message keeps them. Calls whose arguments LangChain could not
 * parse are calls too, with their text, so that each is answered. Other fields of a call stay in
 * `providerData`.
 *
 * The provider's reason is taken from `response_metadata`: a refusal or an unknown reason is `error`, a
 * cut is `length`; the kernel then runs none of the calls and answers each (PREP-10).
 * @throws KernelError `INVALID_OPTIONS` for anything but a whole response
 */
export function callsFromLangChain(message: LangChainMessageLike): DraftResponse {
  return readResponse(message, () => {
    const parsed = objectsOf(message.tool_calls);
    const unparsed = objectsOf(message.invalid_tool_calls);
    const listed = unparsed.length === 0 ? parsed : inWireOrder([...parsed, ...unparsed], message);
    const calls = listed.map(readCall);
    return { calls, stopReason: readStop(message, calls) };
  });
}

/**
 * The results of a batch as tool messages, in source order, then what the kernel has to say as a user
 * message: plain objects that LangChain's message lists and LangGraph's reducers take. Append them
 * after the AI message that made the calls.
 *
 * Images go as `image_url` parts; audio and files that hold no text are named in a note. A call that
 * came without an id is answered under the id the kernel gave it: write it into the AI message too.
 * @throws KernelError `INVALID_OPTIONS` for anything but a batch's result
 */
export function toLangChainMessages(batch: BatchMessages): LangChainMessage[] {
  return readBatch(batch, () => {
    return [
      ...resultsOf(batch).map(toToolMessage),
      ...policyTextsOf(batch).map((content): LangChainMessage => ({ role: "user", content })),
    ];
  });
}

/**
 * LangChain lists calls it could parse and calls it could not apart; the provider's own list in
 * `content` or `additional_kwargs` says how they stood. Calls it does not name keep their order, last.
 */
function inWireOrder(calls: readonly Fields[], message: LangChainMessageLike): readonly Fields[] {
  const kwargs = isFields(message.additional_kwargs) ? message.additional_kwargs : {};
  const ids = [...objectsOf(message.content), ...objectsOf(kwargs.tool_calls)].map((block) => block.id);
  const placed = calls.map((call) => {
    const place = call.id === undefined ? -1 : ids.indexOf(call.id);
    return { call, place: place === -1 ? ids.length : place };
  });
  return placed.sort((one, other) => one.place - other.place).map(({ call }) => call);
}

function readCall(call: Fields): ToolCall {
  return draftCall({
    id: call.id,
    name: call.name,
    arguments: call.args,
    providerData: fieldsBeside(call, ["type", "id", "name", "args", "error"]),
  });
}

function readStop(message: LangChainMessageLike, calls: readonly ToolCall[]): StopReason {
  const said = [message.response_metadata, message.additional_kwargs].filter(isFields);
  const reason = said.flatMap((fields) => STOP_FIELDS.map((field) => fields[field])).find(isWord);
  if (reason === "incomplete") {
    const details = said.map((fields) => fields.incomplete_details).find(isFields);
    return readStopReason(details?.reason || "incomplete", STOP_WORDS, calls);
  }
  const refusal = said.map((fields) => fields.refusal).find(isWord);
  return refusal === undefined ? readStopReason(reason, STOP_WORDS, calls) : "error";
}

function isWord(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function toToolMessage(result: ToolResultMessage): LangChainToolMessage {
  const parts = splitContent(result.content, takesMedia);
  const isText = parts.every((part) => part.kind === "text");
  return {
    role: "tool",
    tool_call_id: result.callId,
    name: result.toolName,
    status: result.isError ? "error" : "success",
    content: isText ? contentText(result.content) : parts.map(toPart),
  };
}

function takesMedia(part: MediaPart): boolean {
  return part.type === "image";
}

function toPart(split: SplitPart): LangChainPart {
  return split.kind === "text"
    ? { type: "text", text: split.text }
    : { type: "image_url", image_url: { url: `data:${split.part.mediaType};base64,${split.part.data}` } };
}
