import type { GeminiContent } from "toolkernel/gemini";
import { callsFromGemini, toGeminiContents } from "toolkernel/gemini";
import { describeWireLaws } from "./wires/wire-laws.ts";

describeWireLaws({
  name: "Gemini",
  respond: (calls, reason) => ({
    candidates: [
      {
        finishReason: reason,
        content: {
          role: "model",
          parts: [
            { text: "I look.", thought: true },
            ...calls.map((call) => ({
              functionCall: { id: call.id, name: call.name, args: call.arguments },
              thoughtSignature: call.opaque,
            })),
          ],
        },
      },
    ],
  }),
  callsFrom: callsFromGemini,
  messagesOut: toGeminiContents,
  readBack: (contents) =>
    (contents as readonly GeminiContent[])
      .flatMap((content) => content.parts)
      .flatMap((part) =>
        "functionResponse" in part ? [{ id: part.functionResponse.id, body: part.functionResponse.response }] : [],
      ),
  readPolicy: (contents) => {
    const last = (contents as readonly GeminiContent[]).at(-1)?.parts.at(-1);
    return last !== undefined && "text" in last ? last.text : undefined;
  },
  reasons: {
    normal: ["STOP"],
    cut: ["MAX_TOKENS", "CONTINUATION"],
    bad: ["SAFETY", "RECITATION", "MALFORMED_FUNCTION_CALL", "FINISH_REASON_UNSPECIFIED", "OTHER", "SOMETHING_NEW"],
  },
  idsAreOptional: true,
});
