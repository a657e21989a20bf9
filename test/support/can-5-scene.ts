import type { AnyTool } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { callPart } from "./agent-bench.ts";
import { recordingTool } from "./run-calls.ts";

/** Three writes of which one runs at a time, in an order of epochs; each waits for the test. */
export function slowWrites() {
  const slow = controllableTool({ name: "slow", risk: "nonIdempotentWrite", executionMode: "parallel" });
  const last = recordingTool({ name: "last", risk: "nonIdempotentWrite" });
  const calls = [...["a", "b", "c"].map((id) => callPart("slow", id, { id })), callPart("last", "d")];
  return { slow, last, calls, tools: [slow, last.tool] as readonly AnyTool[] };
}

export const LIMITS = { maxConcurrentTools: 2 };
