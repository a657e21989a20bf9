import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { TraceRecord } from "../../domain/ports.ts";
import type { RecordedEvent } from "../recorded-event.ts";
import type { OpenTelemetryAttributes, OpenTelemetryTime } from "./open-telemetry-shapes.ts";

/** What names a call by the conventions for generative AI, beside the kernel's own attributes. */
const NAMED_BY_CONVENTION: ReadonlySet<string> = new Set(["seq", "callId", "toolName"]);

/** The attributes of a trace record as OpenTelemetry writes them: `callIndex` is `kernel.call_index`. */
export function eventAttributes({ runId, attributes }: TraceRecord): OpenTelemetryAttributes {
  return { "kernel.run_id": runId, ...flatten(attributes) };
}

/** The attributes of a call's span when it starts, by the conventions for generative AI where they exist. */
export function callAttributes(
  { callId, toolName }: RecordedEvent<"toolDispatched" | "toolEnded">,
  traceRecord: TraceRecord,
): OpenTelemetryAttributes {
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": toolName,
    "gen_ai.tool.call.id": callId,
    "gen_ai.tool.type": "function",
    ...spanAttributes(traceRecord),
  };
}

/** The attributes of a trace record that describe a whole span. */
export function spanAttributes({ runId, attributes }: TraceRecord): OpenTelemetryAttributes {
  const own = Object.fromEntries(Object.entries(attributes).filter(([name]) => !NAMED_BY_CONVENTION.has(name)));
  return { "kernel.run_id": runId, ...flatten(own) };
}

/** A time of the kernel's clock as OpenTelemetry takes it. */
export function spanTime(timeMs: number): OpenTelemetryTime {
  const seconds = Math.floor(timeMs / 1_000);
  return [seconds, Math.round((timeMs - seconds * 1_000) * 1_000_000)];
}

function flatten(attributes: JsonObject, prefix = "kernel."): OpenTelemetryAttributes {
  const flat: OpenTelemetryAttributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    const path = prefix + name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (isObject(value)) Object.assign(flat, flatten(value, `${path}.`));
    else if (Array.isArray(value))
      flat[path] = [...value] as string[] | number[]; // call ids, keys or lane numbers
    else if (typeof value !== "object") flat[path] = value as string | number | boolean; // neither list nor object
  }
  return flat;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
