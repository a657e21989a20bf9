import type { AiSdkMessage } from "toolkernel/ai-sdk";
import { callsFromAiSdk, toAiSdkMessages } from "toolkernel/ai-sdk";
import { describeWireLaws, type Wire } from "./wires/wire-laws.ts";

const BOTH_FORMS: Pick<Wire, "callsFrom" | "messagesOut" | "readBack" | "readPolicy"> = {
  callsFrom: callsFromAiSdk,
  messagesOut: toAiSdkMessages,
  readBack: (messages) =>
    (messages as readonly AiSdkMessage[]).flatMap((message) =>
      message.role === "tool" ? message.content.map((part) => ({ id: part.toolCallId, body: part.output })) : [],
    ),
  readPolicy: (messages) => {
    const last = (messages as readonly AiSdkMessage[]).at(-1);
    return last?.role === "user" ? last.content : undefined;
  },
};

describeWireLaws({
  ...BOTH_FORMS,
  name: "AI SDK results",
  respond: (calls, reason) => ({
    finishReason: reason,
    content: [
      { type: "text", text: "I look." },
      ...calls.map((call) => ({
        type: "tool-call",
        toolCallId: call.id,
        toolName: call.name,
        input: call.arguments,
        providerMetadata: call.opaque && { google: { thoughtSignature: call.opaque } },
      })),
    ],
  }),
  reasons: {
    normal: ["tool-calls", "stop"],
    cut: ["length"],
    bad: ["content-filter", "error", "other", "unknown", "something-new"],
  },
});

describeWireLaws({
  ...BOTH_FORMS,
  name: "AI SDK language models of specification 3",
  respond: (calls, reason) => ({
    finishReason: reason === undefined ? { unified: "other" } : { unified: reason, raw: reason },
    content: calls.map((call) => ({
      type: "tool-call",
      toolCallId: call.id,
      toolName: call.name,
      input: JSON.stringify(call.arguments),
      providerMetadata: call.opaque && { google: { thoughtSignature: call.opaque } },
    })),
  }),
  reasons: {
    normal: ["tool-calls", "stop"],
    cut: ["length"],
    bad: ["content-filter", "error", "other", "something-new"],
  },
  argumentsAreText: true,
});
