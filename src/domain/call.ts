import type { ToolResult } from "./content.ts";
import type { FailureCategory } from "./failure.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { AnyTool } from "./tool.ts";

/** A model's draft of a call, as it came over the wire. `providerData` is opaque and echoed; what is not JSON is left out. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as the model sent it, or an object that a provider's SDK has parsed. */
  readonly arguments: string | JsonObject;
  readonly providerData?: JsonObject | undefined;
}

/** Why a model stopped (PREP-10). */
export type StopReason = "stop" | "toolUse" | "length" | "error" | "aborted";

/** The tool calls of one whole model response, and why it ended; what every `callsFrom…` gives. */
export interface DraftResponse {
  readonly calls: readonly ToolCall[];
  readonly stopReason: StopReason;
}

/** How a call ended; every call has exactly one (CAN-4). */
export type Outcome = "succeeded" | "failed" | "refused" | "blocked" | "cancelled" | "uncertain" | "repeatTerminated";

/** One change that a compatibility step made to a draft. Names the place, never the value. */
export interface Repair {
  /** The step, such as `dropNullOptionals`. */
  readonly step: string;
  /** JSON pointer of the place. */
  readonly pointer: string;
}

/** A call whose every preparation step is behind it (PREP-1). `arguments` is deep-frozen (PREP-3). */
export interface PreparedCall {
  readonly kind: "prepared";
  readonly tool: AnyTool;
  /** The parsed draft that became the arguments; for the repeat fingerprint of a denied call (REP-3). */
  readonly draft: JsonValue;
  readonly arguments: JsonObject;
  readonly conflictKeys: readonly string[];
  /** What the authorizer wants a person to decide, if it asked (APP-1). */
  readonly ask?: JsonObject;
  readonly repairs: readonly Repair[];
}

/** A call that runs nothing (PREP-6). `reason` is what the model is told. */
export interface Refusal {
  readonly kind: "refusal";
  readonly failureCategory: FailureCategory;
  readonly reason: string;
  readonly terminate: boolean;
  /** The tool, where the name was known. */
  readonly tool?: AnyTool;
  /** The parsed draft, where the text could be parsed; for the repeat fingerprint (REP-3). */
  readonly draft?: JsonValue;
  readonly repairs: readonly Repair[];
}

/** A call with its one and only result. Times are milliseconds since the epoch. */
export interface SettledCall {
  readonly call: ToolCall;
  readonly index: number;
  readonly operationId: string;
  readonly conflictKeys: readonly string[];
  /** The epoch it was planned into, first 0; absent for a call that was never planned. */
  readonly epoch?: number;
  readonly outcome: Outcome;
  readonly result: ToolResult;
  /** When the executor was called; absent when none was. */
  readonly startedAtMs?: number;
  readonly endedAtMs: number;
  /** What compatibility steps changed, if anything. */
  readonly repairs?: readonly Repair[];
}
