import type { AnthropicUserMessage } from "toolkernel/anthropic";
import { callsFromAnthropic, toAnthropicMessages } from "toolkernel/anthropic";
import { describeWireLaws } from "./wires/wire-laws.ts";

describeWireLaws({
  name: "Anthropic Messages",
  respond: (calls, reason) => ({
    type: "message",
    role: "assistant",
    stop_reason: reason,
    content: [
      { type: "text", text: "I look." },
      ...calls.map((call) => ({
        type: "tool_use",
        id: call.id,
        name: call.name,
        input: call.arguments,
        caller: call.opaque && { type: "direct", note: call.opaque },
      })),
    ],
  }),
  callsFrom: callsFromAnthropic,
  messagesOut: toAnthropicMessages,
  readBack: (messages) =>
    (messages as readonly AnthropicUserMessage[])
      .flatMap((message) => message.content)
      .flatMap((block) => (block.type === "tool_result" ? [{ id: block.tool_use_id, body: block.content }] : [])),
  readPolicy: (messages) => {
    const last = (messages as readonly AnthropicUserMessage[]).at(-1)?.content.at(-1);
    return last?.type === "text" ? last.text : undefined;
  },
  reasons: {
    normal: ["tool_use", "end_turn", "stop_sequence", "pause_turn"],
    cut: ["max_tokens", "model_context_window_exceeded"],
    bad: ["refusal", "compaction", "something_new"],
  },
});
