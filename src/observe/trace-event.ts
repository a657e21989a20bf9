import type { Audience, KernelEvent, KernelEventKind } from "../domain/event.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { TraceRecord } from "../domain/ports.ts";

/** What of an event may be traced: names, counts and times, nothing of arguments, results or reasons (OBS-3). */
const TRACED_FIELDS = [
  "turn",
  "callId",
  "callIndex",
  "toolName",
  "operationId",
  "epoch",
  "outcome",
  "outcomeUncertain",
  "failureCategory",
  "durationMs",
  "waitedMs",
  "barrierMs",
  "keyMs",
  "queueMs",
  "isWrite",
  "action",
  "count",
  "blockedBy",
  "approvalId",
  "returned",
  "toolCalls",
  "queue",
  "status",
  "endedBy",
  "code",
] as const;

const MAX_TEXT_CHARACTERS = 128;

/** Who sees an event of a kind under the stock policy (OBS-2): nothing about tools leaves the house. */
export function audienceOf(kind: KernelEventKind): Audience {
  if (kind.startsWith("tool") || kind.startsWith("epoch") || kind === "runFaulted") return "internal";
  return kind.startsWith("message") || kind === "approvalRequested" ? "owner" : "public";
}

/** The trace record of an event: `kernel.` and its kind in lower case. */
export function traceOf(event: KernelEvent): TraceRecord {
  const fields = event as unknown as Readonly<Record<string, JsonValue | undefined>>; // every traced field is a JSON scalar
  const attributes: Record<string, JsonValue> = {};
  for (const field of TRACED_FIELDS) {
    const value = fields[field];
    if (value !== undefined)
      attributes[field] = typeof value === "string" ? value.slice(0, MAX_TEXT_CHARACTERS) : value;
  }
  return {
    name: `kernel.${event.kind.toLowerCase()}`,
    timeMs: event.timeMs,
    runId: event.runId,
    attributes: attributes as JsonObject,
  };
}
