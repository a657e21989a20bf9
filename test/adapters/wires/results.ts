import type { ContentPart } from "../../../src/domain/content.ts";
import type { ToolResultMessage } from "../../../src/domain/message.ts";

/** A settled result with plain values where a test does not say otherwise. */
export function resultOf(fields: Partial<ToolResultMessage> = {}): ToolResultMessage {
  return {
    role: "toolResult",
    callId: "call_1",
    toolName: "read",
    callIndex: 0,
    content: [{ type: "text", text: "done" }],
    isError: false,
    outcomeUncertain: false,
    terminate: false,
    ...fields,
  };
}

/** A part of each kind: text, JSON, a PNG, a WAV, a PDF, a CSV and a resource. */
export const EVERY_PART: readonly ContentPart[] = [
  { type: "text", text: "seen: \ud83d" },
  { type: "json", value: { cents: 500, tags: ["a"] } },
  { type: "image", mediaType: "image/png", data: "aW1n", name: "chart.png" },
  { type: "audio", mediaType: "audio/wav", data: "c291bmQ=" },
  { type: "file", mediaType: "application/pdf", data: "cGRm", name: "bill.pdf" },
  { type: "file", mediaType: "text/csv", data: "YSxiCjEsMg==", name: "table.csv" },
  { type: "resource", uri: "file:///notes.txt", mediaType: "text/plain", text: "remember" },
];
