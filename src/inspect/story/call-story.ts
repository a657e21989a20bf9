import type { ActionFacts, FailureCategory, KernelEvent, Outcome, RecordedEvent } from "toolkernel";

/** What a call was given and what it came to, as text, where that was recorded. */
export interface CallContent {
  readonly text: string;
  readonly isCut: boolean;
}

/** What is known of one call; times are milliseconds since the epoch. */
export interface CallStory {
  readonly runId: string;
  readonly turn: number;
  readonly callIndex: number;
  readonly callId: string;
  readonly toolName: string;
  /** When its preparation began, or when it was first heard of. */
  readonly startedAtMs: number;
  readonly preparedAtMs?: number;
  /** Numbers that stand for its conflict keys, throughout the run. */
  readonly lanes: readonly number[];
  /** Its conflict keys, where the host had them recorded. */
  readonly conflictKeys?: readonly string[];
  readonly epoch?: number;
  readonly isWrite?: boolean;
  readonly dispatchedAtMs?: number;
  /** How long it waited for its epoch, its keys and a slot, one after the other. */
  readonly waits?: { readonly barrierMs: number; readonly keyMs: number; readonly queueMs: number };
  readonly endedAtMs?: number;
  readonly durationMs?: number;
  readonly outcome?: Outcome;
  readonly failureCategory?: FailureCategory;
  /** The id of the call whose uncertain write held it back. */
  readonly blockedBy?: string;
  readonly approvalAskedAtMs?: number;
  readonly repeats?: { readonly count: number; readonly action: "advisory" | "terminated" };
  readonly progressReports: number;
  /** When an executor that had been given up came back after all. */
  readonly lateAtMs?: number;
  readonly resolvedAs?: "committed" | "failed";
  readonly action?: ActionFacts;
  readonly arguments?: CallContent;
  readonly result?: CallContent;
}

/** An event of a call, recorded or live. */
export type CallEvent = Extract<RecordedEvent | KernelEvent, { readonly callIndex: number }>;

/** What is known of a call when it is first heard of. */
export function beginCall({ runId, turn, callIndex, callId, toolName, timeMs }: CallEvent): CallStory {
  return { runId, turn, callIndex, callId, toolName, startedAtMs: timeMs, lanes: [], progressReports: 0 };
}

/** What is known of a call after one more of its events. `lanesOf` numbers the keys of an event that has no numbers. */
export function tellCall(
  call: CallStory,
  event: CallEvent,
  lanesOf: (keys: readonly string[]) => readonly number[],
): CallStory {
  const known = event.epoch === undefined ? call : { ...call, epoch: event.epoch };
  switch (event.kind) {
    case "toolPrepared":
      return { ...known, preparedAtMs: event.timeMs, ...keysOf(event, lanesOf) };
    case "approvalRequested":
      return { ...known, approvalAskedAtMs: event.timeMs };
    case "toolRepeatDetected":
      return { ...known, repeats: { count: event.count, action: event.action } };
    case "toolDispatched": {
      const { isWrite, barrierMs, keyMs, queueMs, timeMs } = event;
      return { ...known, isWrite, dispatchedAtMs: timeMs, waits: { barrierMs, keyMs, queueMs } };
    }
    case "toolProgressed":
      return { ...known, progressReports: known.progressReports + 1 };
    case "toolBlocked":
      return { ...known, blockedBy: event.blockedBy };
    case "toolEnded":
      return { ...known, ...endOf(event) };
    case "toolLateSettled":
      return { ...known, lateAtMs: event.timeMs };
    case "toolUncertaintyResolved":
      return { ...known, resolvedAs: event.status };
    default:
      return known;
  }
}

function keysOf(
  event: Extract<CallEvent, { readonly kind: "toolPrepared" }>,
  lanesOf: (keys: readonly string[]) => readonly number[],
): Pick<CallStory, "lanes" | "conflictKeys"> {
  const { conflictKeys } = event;
  // A live event has its keys always and numbers never; in a recording keys stand only where they were asked for.
  if (!("lanes" in event) || event.lanes === undefined) return { lanes: lanesOf(conflictKeys ?? []) };
  return { lanes: event.lanes, ...(conflictKeys !== undefined && { conflictKeys }) };
}

function endOf(event: Extract<CallEvent, { readonly kind: "toolEnded" }>): Partial<CallStory> {
  const { timeMs, outcome, isWrite, failureCategory, durationMs, action } = event;
  return {
    endedAtMs: timeMs,
    outcome,
    isWrite,
    ...(failureCategory !== undefined && { failureCategory }),
    ...(durationMs !== undefined && { durationMs }),
    ...(action !== undefined && { action }),
  };
}
