import type { JsonObject } from "./json.ts";

/** Time, injected. `now` is milliseconds since the epoch. */
export interface Clock {
  now(): number;
  /** Calls `run` once when `now()` has reached `atMs`; returns a function that takes it back. */
  setTimer(atMs: number, run: () => void): () => void;
}

/** One fact about the kernel's work, without any argument, result or receipt content (OBS-3). */
export interface TraceRecord {
  /** Such as `kernel.toolended`. */
  readonly name: string;
  readonly timeMs: number;
  readonly runId: string;
  readonly attributes: JsonObject;
}

/** Where trace records go. *Contract*: a throw, or a promise that rejects, is swallowed; it changes nothing. */
export interface Telemetry {
  record(traceRecord: TraceRecord): void;
  /**
   * Asks for the conflict keys of calls beside their lane numbers. Keys are made from arguments, so they
   * are in no record unless the host says so here (OBS-3).
   */
  readonly wantsConflictKeys?: boolean | undefined;
}

/**
 * Sees every actor, event and snapshot of the charts, in XState's own inspection format (structural
 * here, so that no version of XState is named). *Contract*: a throw is swallowed; it changes nothing.
 */
export type Inspect = (inspectionEvent: InspectionRecord) => void;

/** What every XState inspection event has. */
export interface InspectionRecord {
  readonly type: string;
  readonly rootId: string;
  readonly actorRef: unknown;
}
