import type { LangChainMessage } from "toolkernel/langchain";
import { callsFromLangChain, toLangChainMessages } from "toolkernel/langchain";
import { describeWireLaws } from "./wires/wire-laws.ts";

describeWireLaws({
  name: "LangChain messages",
  respond: (calls, reason) => ({
    content: "",
    tool_calls: calls.map((call) => ({
      type: "tool_call",
      id: call.id,
      name: call.name,
      args: call.arguments,
      extras: call.opaque && { signature: call.opaque },
    })),
    invalid_tool_calls: [],
    response_metadata: { model_provider: "some", finish_reason: reason },
  }),
  callsFrom: callsFromLangChain,
  messagesOut: toLangChainMessages,
  readBack: (messages) =>
    (messages as readonly LangChainMessage[]).flatMap((message) =>
      message.role === "tool" ? [{ id: message.tool_call_id, body: message.content }] : [],
    ),
  readPolicy: (messages) => {
    const last = (messages as readonly LangChainMessage[]).at(-1);
    return last?.role === "user" ? last.content : undefined;
  },
  reasons: {
    normal: ["tool_calls", "stop", "end_turn", "tool_use", "STOP", "completed"],
    cut: ["length", "max_tokens", "MAX_TOKENS", "incomplete"],
    bad: ["content_filter", "refusal", "SAFETY", "something_new"],
  },
});
