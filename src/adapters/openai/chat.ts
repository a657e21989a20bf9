import type { DraftResponse, StopReason, ToolCall } from "../../domain/call.ts";
import type { AnyTool } from "../../domain/tool.ts";
import { type BatchMessages, policyTextsOf, resultsOf } from "../wire/batch-messages.ts";
import { contentText } from "../wire/content-text.ts";
import { draftCall, fieldsBeside, isFields, objectsOf } from "../wire/draft-call.ts";
import { readBatch, readResponse } from "../wire/read-given.ts";
import { readStopReason, stopWords } from "../wire/stop-reason.ts";
import { declareTools } from "../wire/tool-declaration.ts";
import type { ChatChoiceLike, ChatCompletionLike, ChatMessage, ChatTool } from "./chat-shapes.ts";

const STOP_WORDS = stopWords(["stop", "tool_calls", "function_call"]);

/**
 * Declares tools to Chat Completions, in the order given. Nothing is marked `strict`, so that every JSON
 * Schema is taken as it is; the kernel validates the arguments.
 * @throws KernelError `INVALID_TOOL_SCHEMA` when a tool has no JSON Schema, `INVALID_OPTIONS` for anything but a
 *   list of tools
 */
export function toChatTools(tools: readonly AnyTool[]): ChatTool[] {
  return declareTools(tools).map(({ name, description, schema }) => {
    return { type: "function", function: { name, description, parameters: schema } };
  });
}

/**
 * Reads the tool calls of a whole chat completion (a stream is joined by the SDK first), of its first
 * choice, in source order. Ids, names and argument text come out as they stand; a custom tool's text is
 * `{ input }`. Other fields of a call, such as a thought signature, stay in `providerData`.
 *
 * A refusal and the reason `content_filter` are `error`, a cut is `length`: the kernel then runs none of
 * the calls and answers each (PREP-10).
 * @throws KernelError `INVALID_OPTIONS` for anything but a whole response
 */
export function callsFromChat(completion: ChatCompletionLike): DraftResponse {
  return readResponse(completion, () => {
    const choice = completion.choices?.[0];
    const calls = objectsOf(choice?.message?.tool_calls).map(readCall);
    return { calls, stopReason: readStop(choice, calls) };
  });
}

/**
 * The results of a batch as `tool` messages, in source order, then what the kernel has to say as a user
 * message. Append them after the assistant's message that made the calls.
 *
 * A tool message here is text alone: images, audio and files that hold no text are named in a note. A
 * call that came without an id is answered under the id the kernel gave it, which is `callId` at its
 * `callIndex` in `batch.messages`: write it into the assistant's message too.
 * @throws KernelError `INVALID_OPTIONS` for anything but a batch's result
 */
export function toChatMessages(batch: BatchMessages): ChatMessage[] {
  return readBatch(batch, () => {
    return [
      ...resultsOf(batch).map((result): ChatMessage => {
        return { role: "tool", tool_call_id: result.callId, content: contentText(result.content) };
      }),
      ...policyTextsOf(batch).map((content): ChatMessage => ({ role: "user", content })),
    ];
  });
}

function readCall(call: Readonly<Record<string, unknown>>): ToolCall {
  if (call.type === "custom" && isFields(call.custom)) {
    return draftCall({
      id: call.id,
      name: call.custom.name,
      arguments: { input: call.custom.input },
      providerData: fieldsBeside(call, ["id", "custom"]),
    });
  }
  const called = isFields(call.function) ? call.function : {};
  return draftCall({
    id: call.id,
    name: called.name,
    arguments: called.arguments,
    providerData: fieldsBeside(call.type === "function" ? { ...call, type: undefined } : call, ["id", "function"]),
  });
}

function readStop(choice: ChatChoiceLike | undefined, calls: readonly ToolCall[]): StopReason {
  const refusal = choice?.message?.refusal;
  const stopReason = readStopReason(choice?.finish_reason, STOP_WORDS, calls);
  return typeof refusal === "string" && refusal !== "" ? "error" : stopReason;
}
