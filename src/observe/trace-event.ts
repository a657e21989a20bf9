import type { KernelEvent } from "../domain/event.ts";
import type { JsonValue } from "../domain/json.ts";
import type { TraceRecord } from "../domain/ports.ts";
import type { LaneNumbers } from "./lane-numbers.ts";
import { RECORDED_FIELDS } from "./recorded-event.ts";

/** How an event is traced: the run's lane numbers, and whether conflict keys are recorded too. */
export interface TraceOptions {
  readonly lanes: LaneNumbers;
  readonly wantsConflictKeys: boolean;
}

const MAX_TEXT_CHARACTERS = 128;

/**
 * The trace record of an event: `kernel.` and its kind in lower case, and what of it may be told (OBS-3).
 * **bounds**: a string is cut after 128 characters.
 */
export function traceEvent(event: KernelEvent, options: TraceOptions): TraceRecord {
  const fields = event as unknown as Readonly<Record<string, unknown>>; // read by the names of its kind's own fields
  const attributes: Record<string, JsonValue> = { seq: event.seq, turn: event.turn };
  for (const name of RECORDED_FIELDS[event.kind]) {
    const value = traced(fields[name]);
    if (value !== undefined) attributes[name] = value;
  }
  addDerived(attributes, event, options);
  return { name: `kernel.${event.kind.toLowerCase()}`, timeMs: event.timeMs, runId: event.runId, attributes };
}

function traced(value: unknown): JsonValue | undefined {
  switch (typeof value) {
    case "string":
      return value.slice(0, MAX_TEXT_CHARACTERS);
    case "number":
    case "boolean":
      return value;
    case "object":
      return Array.isArray(value) ? value.map((text) => String(text).slice(0, MAX_TEXT_CHARACTERS)) : undefined;
    default:
      return undefined;
  }
}

function addDerived(attributes: Record<string, JsonValue>, event: KernelEvent, options: TraceOptions): void {
  switch (event.kind) {
    case "toolPrepared":
      attributes.lanes = options.lanes.of(event.conflictKeys);
      if (options.wantsConflictKeys) attributes.conflictKeys = [...event.conflictKeys];
      break;
    case "toolEnded":
      if (event.action !== undefined) attributes.action = tracedAction(event.action);
      break;
    case "messageUpdated":
      // A provider may stream what is not a delta at all.
      attributes.delta = { type: traced(event.delta?.type) ?? "unknown" };
      break;
    case "messageEnded":
      attributes.message = { role: event.message.role };
      break;
    default:
  }
}

/** Field by field, so that nothing that may be added to it gets out unseen. */
function tracedAction(action: NonNullable<KernelEvent<"toolEnded">["action"]>): JsonValue {
  const { disposition, duplicateExecutionPrevented, recovered, hostMs, frameworkMs, status } = action;
  const known = { disposition, duplicateExecutionPrevented, recovered, hostMs, frameworkMs };
  return status === undefined ? known : { ...known, status };
}
