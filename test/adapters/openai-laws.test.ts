import type { ChatMessage, ResponsesItem } from "toolkernel/openai";
import { callsFromChat, callsFromResponses, toChatMessages, toResponsesItems } from "toolkernel/openai";
import { describeWireLaws } from "./wires/wire-laws.ts";

describeWireLaws({
  name: "OpenAI Chat Completions",
  respond: (calls, reason) => ({
    choices: [
      {
        finish_reason: reason,
        message: {
          role: "assistant",
          content: null,
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: JSON.stringify(call.arguments) },
            extra_content: call.opaque && { google: { thought_signature: call.opaque } },
          })),
        },
      },
    ],
  }),
  callsFrom: callsFromChat,
  messagesOut: toChatMessages,
  readBack: (messages) =>
    (messages as readonly ChatMessage[]).flatMap((message) =>
      message.role === "tool" ? [{ id: message.tool_call_id, body: message.content }] : [],
    ),
  readPolicy: (messages) => {
    const last = (messages as readonly ChatMessage[]).at(-1);
    return last?.role === "user" ? last.content : undefined;
  },
  reasons: {
    normal: ["tool_calls", "stop", "function_call"],
    cut: ["length", "max_tokens", "max_output_tokens", "incomplete", "MAX_TOKENS", "model_length"],
    bad: ["content_filter", "refusal", "error", "insufficient_system_resource", "something_new"],
  },
  argumentsAreText: true,
});

describeWireLaws({
  name: "OpenAI Responses",
  respond: (calls, reason) => ({
    status: reason,
    output: [
      { type: "reasoning", id: "rs_1", summary: [] },
      ...calls.map((call) => ({
        type: "function_call",
        id: "fc_1",
        call_id: call.id,
        name: call.name,
        arguments: JSON.stringify(call.arguments),
        status: "completed",
        caller: call.opaque && { type: "program", caller_id: call.opaque },
      })),
    ],
  }),
  callsFrom: callsFromResponses,
  messagesOut: toResponsesItems,
  readBack: (items) =>
    (items as readonly ResponsesItem[]).flatMap((item) =>
      "call_id" in item ? [{ id: item.call_id, body: item.output }] : [],
    ),
  readPolicy: (items) => {
    const last = (items as readonly ResponsesItem[]).at(-1);
    return last !== undefined && "role" in last ? last.content : undefined;
  },
  reasons: {
    normal: ["completed"],
    cut: ["incomplete", "length", "max_output_tokens"],
    bad: ["failed", "in_progress", "queued", "something_new"],
  },
  argumentsAreText: true,
});
