/** What the pure scheduler is made of: kinds of calls, states of actors and calls, and what can be told of them. */
import type { EventObject } from "xstate";
import type { AnyTool, ToolExecution } from "../../src/domain/tool.ts";
import type { ChartRow, ChartTable } from "../../src/interpreter/compile-chart.ts";
import type { LaneEntry, Lanes } from "../../src/plan/lanes.ts";

/** What a call is to the scheduler. */
export interface CallKind {
  readonly name: string;
  readonly isWrite: boolean;
  readonly conflictKeys: readonly string[];
  /** The tool's own mark. */
  readonly executionMode?: "sequential" | "parallel";
}

/** The parts it is put together from: the kernel's own, or altered ones. */
export interface SchedulerParts {
  readonly batch: ChartTable;
  readonly epoch: ChartTable;
  readonly call: ChartTable;
  readonly lanes: Pick<
    typeof import("../../src/plan/lanes.ts"),
    "createLanes" | "holdLanes" | "joinLanes" | "leaveLanes"
  >;
  readonly isStartable: typeof import("../../src/plan/startable.ts").isStartable;
  readonly planEpochs: typeof import("../../src/plan/plan-epochs.ts").planEpochs;
  readonly findBlocker: typeof import("../../src/plan/uncertain-writes.ts").findBlocker;
  /** Whether one more call is let in; the kernel asks the same in `run-epoch`. */
  hasFreeSlot(running: number, cap: number): boolean;
  /** Whether a call that was let in is dispatched when it is due; the kernel asks the same there. */
  mayLaunch(isCancelled: boolean): boolean;
}

/** What is explored: batches of one session, one after another. */
export interface Scope {
  readonly batches: readonly (readonly CallKind[])[];
  readonly mode: ToolExecution;
  readonly cap: number;
}

/** Something that happens to the system from outside. */
export type Stimulus =
  | { readonly kind: "cancel" }
  /** An executor answers, a deadline of a call passes, or an abandoned executor ends at last. */
  | { readonly kind: "call"; readonly call: number; readonly fact: CallFact }
  /** The time for which an abandoned write keeps later ones back is over. */
  | { readonly kind: "holdOver"; readonly call: number };

/** What can be told to a call that was dispatched. */
export type CallFact = "SUCCEEDED" | "FAILED" | "THREW" | "LOST" | "TIMED_OUT" | "GRACE_OVER" | "EXECUTOR_ENDED";

/** Where an actor of a compiled chart stands. */
export interface ActorState {
  row: ChartRow;
  context: object;
}

/** One call. `standing`: where it is in its epoch's hands, besides its chart. */
export interface CallState extends LaneEntry, ActorState {
  readonly index: number;
  /** Which batch it is of. */
  readonly batch: number;
  readonly kind: CallKind;
  epoch: number;
  standing: "none" | "queued" | "ready" | "admitted" | "launched";
  isDispatched: boolean;
  hasExecutorEnded: boolean;
  /** Whether the time is over for which it would keep later writes back. */
  isHoldOver: boolean;
  settledCount: number;
}

/** Any time at all: a hold is over when the explorer says so. */
export const NOW_MS = 0;
/** When a hold would be over. */
export const LATER_MS = 1;

const PREPARATION = ["FOUND", "SHAPED", "VALID", "KEPT", "REFINED", "KEYED", "ALLOWED"];

/** The facts that can be told to a call where it stands. */
export function factsFor(call: CallState): readonly CallFact[] {
  switch (call.row.value) {
    case "running":
      return ["SUCCEEDED", "FAILED", "THREW", "LOST", "TIMED_OUT"];
    case "stopping":
      return ["SUCCEEDED", "FAILED", "THREW", "LOST", "GRACE_OVER"];
    default:
      // The end of an abandoned read frees nothing that is not free.
      return call.heldUntilMs !== undefined && !call.hasLeft ? ["EXECUTOR_ENDED"] : [];
  }
}

/** Lets an actor take an event; answers what it emits. */
export function take(actor: ActorState, event: EventObject): EventObject[] {
  if (actor.row.isFinal) return [];
  const { context } = actor;
  const taken = actor.row.on.get(event.type)?.find(({ guard }) => guard === undefined || guard({ context, event }));
  if (taken === undefined) return [];
  const emitted: EventObject[] = [];
  for (const action of taken.actions) {
    if (action.kind === "assign") actor.context = action.update({ context: actor.context, event });
    else emitted.push(action.event ?? action.make({ context: actor.context, event }));
  }
  actor.row = taken.target;
  return emitted;
}

/** Makes a call that is prepared and authorized. */
export function callOf(
  parts: SchedulerParts,
  { kind, batch, index }: { readonly kind: CallKind; readonly batch: number; readonly index: number },
): CallState {
  const { isWrite, conflictKeys } = kind;
  const input = { callId: String(index), isWrite, throwIsUncertain: true, canRecover: false, isRecorded: false };
  const call: CallState = {
    row: parts.call.initial,
    context: parts.call.createContext(input),
    kind,
    batch,
    index,
    isWrite,
    conflictKeys,
    hasLeft: false,
    heldUntilMs: undefined,
    epoch: -1,
    standing: "none",
    isDispatched: false,
    hasExecutorEnded: false,
    isHoldOver: false,
    settledCount: 0,
  };
  for (const type of PREPARATION) take(call, { type });
  return call;
}

/** The marks of the tool of a kind of call. */
export function toolOf({ isWrite, executionMode }: CallKind): Pick<AnyTool, "risk" | "executionMode"> {
  return { risk: isWrite ? "idempotentWrite" : "readOnly", executionMode };
}

/** Whether a call is an uncertain write. */
export function isUncertain({ row }: CallState): boolean {
  return row.value === "uncertain";
}

/** Whether a call is an abandoned write without a key. */
export function isKeylessHold({ conflictKeys, heldUntilMs }: CallState): boolean {
  return conflictKeys.length === 0 && heldUntilMs !== undefined;
}

/** Lanes with the same standings of other calls. */
export function copyLanes(lanes: Lanes<CallState>, twin: (call: CallState) => CallState): Lanes<CallState> {
  const queues = new Map(
    [...lanes.queues].map(([key, { entries, head }]) => [key, { entries: entries.map(twin), head }] as const),
  );
  return { queues, held: new Set([...lanes.held].map(twin)) };
}

const VALUES: readonly (readonly string[])[] = [
  ["barrierWaiting", "authorized", "laneWaiting"],
  ["running"],
  ["stopping"],
  // Nothing that schedules tells a success from a failure.
  ["succeeded", "failed"],
  ["uncertain"],
  ["blocked"],
  ["cancelled"],
];
const CODE_OF_VALUE = new Map<unknown, number>(
  VALUES.flatMap((values, code) => values.map((value) => [value, code] as const)),
);
const STANDINGS = ["none", "queued", "ready", "admitted", "launched"];
const STOPS: readonly unknown[] = [undefined, "timeout", "cancelled"];
const HOLDS: readonly unknown[] = [undefined, LATER_MS, NOW_MS];
/** How many codes there are. */
export const CODES = VALUES.length * STANDINGS.length * 2 * 2 * HOLDS.length * STOPS.length;

/** All that matters of a call from here on, as a number below {@link CODES}. */
export function codeOf(call: CallState): number {
  const value = CODE_OF_VALUE.get(call.row.value);
  if (value === undefined) throw new Error(`no call rests in ${JSON.stringify(call.row.value)}`);
  const { stopCause } = call.context as { readonly stopCause?: string };
  let code = value * STANDINGS.length + STANDINGS.indexOf(call.standing);
  code = code * 2 + (call.hasLeft ? 1 : 0);
  code = code * 2 + (call.hasExecutorEnded ? 1 : 0);
  code = code * HOLDS.length + HOLDS.indexOf(call.heldUntilMs);
  return code * STOPS.length + (call.row.isFinal ? 0 : STOPS.indexOf(stopCause));
}
