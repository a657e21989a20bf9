import type { Outcome } from "../domain/call.ts";
import type { KernelEventKind } from "../domain/event.ts";
import { FAILURE_CATEGORIES } from "../domain/failure.ts";
import type { TraceRecord } from "../domain/ports.ts";
import { RECORDED_FIELDS, type RecordedEvent } from "./recorded-event.ts";

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isNumber: Check = (value) => typeof value === "number";
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isNumbers: Check = (value) => Array.isArray(value) && value.every(isNumber);
const isCategory: Check = (value) => FAILURE_CATEGORIES.some((category) => category === value);

const OUTCOMES: Readonly<Record<Outcome, true>> = {
  succeeded: true,
  failed: true,
  refused: true,
  blocked: true,
  cancelled: true,
  uncertain: true,
  repeatTerminated: true,
};

/** What a field holds, by its name or by kind and name; a field that is not named here is a string. */
const CHECKS: Readonly<Record<string, Check>> = {
  callIndex: isNumber,
  epoch: isNumber,
  callIds: isTexts,
  conflictKeys: isTexts,
  lanes: isNumbers,
  isWrite: isFlag,
  waitedMs: isNumber,
  barrierMs: isNumber,
  keyMs: isNumber,
  queueMs: isNumber,
  durationMs: isNumber,
  count: isNumber,
  toolCalls: isNumber,
  returned: isFlag,
  outcomeUncertain: isFlag,
  outcome: (value) => isText(value) && Object.hasOwn(OUTCOMES, value as string),
  failureCategory: isCategory,
  "toolEnded.action": isAction,
  delta: (value) => isText(fieldsOf(value).type),
  message: (value) => isText(fieldsOf(value).role),
};

/** Fields beside those that are recorded as they are, and fields that not every event of a kind has. */
const DERIVED_FIELDS: { readonly [Kind in KernelEventKind]?: readonly string[] } = {
  toolPrepared: ["lanes", "conflictKeys"],
  messageUpdated: ["delta"],
  messageEnded: ["message"],
};
const OPTIONAL_FIELDS: ReadonlySet<string> = new Set(["durationMs", "endedBy", "lanes", "conflictKeys"]);

const KINDS: ReadonlyMap<string, KernelEventKind> = new Map(
  // The table has one entry per kind and no others.
  (Object.keys(RECORDED_FIELDS) as KernelEventKind[]).map((kind) => [`kernel.${kind.toLowerCase()}`, kind]),
);

/**
 * Reads a trace record back into the event it was made of, as far as it was recorded. Returns `undefined`
 * for a record that is of no event, and the name of the field that is not as it should be.
 */
export function readTrace(traceRecord: TraceRecord): RecordedEvent | { readonly fault: string } | undefined {
  const kind = KINDS.get(traceRecord.name);
  if (kind === undefined) return undefined;
  const { timeMs, runId } = traceRecord;
  const attributes = fieldsOf(traceRecord.attributes);
  const event: Record<string, unknown> = { kind, seq: attributes.seq, timeMs, runId, turn: attributes.turn };
  if (!isNumber(event.seq)) return { fault: "seq" };
  if (!isNumber(event.turn)) return { fault: "turn" };
  for (const field of [...RECORDED_FIELDS[kind], ...(DERIVED_FIELDS[kind] ?? [])]) {
    const value = attributes[field];
    if (value === undefined) {
      if (isOptional(kind, field)) continue;
      return { fault: field };
    }
    const check = CHECKS[`${kind}.${field}`] ?? CHECKS[field] ?? isText;
    if (!check(value)) return { fault: field };
    event[field] = value;
  }
  return event as unknown as RecordedEvent; // every field of its kind has been looked at
}

/** An epoch is not known before it is planned; a category is there where something failed. */
function isOptional(kind: KernelEventKind, field: string): boolean {
  if (field === "epoch") return kind !== "epochStarted" && kind !== "epochSettled" && kind !== "toolDispatched";
  if (field === "failureCategory" || field === "action") return kind === "toolEnded";
  return OPTIONAL_FIELDS.has(field);
}

function isAction(value: unknown): boolean {
  const { disposition, duplicateExecutionPrevented, recovered, hostMs, frameworkMs, status } = fieldsOf(value);
  const hasFlags = isFlag(duplicateExecutionPrevented) && isFlag(recovered);
  return (
    isText(disposition) &&
    hasFlags &&
    isNumber(hostMs) &&
    isNumber(frameworkMs) &&
    (status === undefined || isText(status))
  );
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
