/** How calls wait: in the lanes of their keys, behind holds, and until an uncertain write blocks them. */
import { type ComposedBatch, send } from "./composed-batch.ts";
import { type CallState, isKeylessHold, LATER_MS, NOW_MS } from "./scheduler-state.ts";

/** An earlier process has left nothing here. */
const NONE: ReadonlySet<CallState> = new Set();

/** Whether nothing but a slot keeps a call back. */
export function isStartable(system: ComposedBatch, call: CallState): boolean {
  const keylessHolds = new Set(system.calls.filter(isKeylessHold));
  return system.parts.isStartable(call, { lanes: system.lanes, keylessHolds, lost: NONE }, () => NOW_MS);
}

/** Has a call wait for a slot alone, if it does. */
export function consider(system: ComposedBatch, call: CallState): void {
  if (call.standing === "queued" && isStartable(system, call)) call.standing = "ready";
}

/** Looks at every call again, since something may have fallen free. */
export function recheck(system: ComposedBatch): void {
  for (const call of system.current) consider(system, call);
  send(system, "epoch", { type: "LANE_FREED" });
}

/** Takes a call out of its lanes. */
export function releaseLanes(system: ComposedBatch, call: CallState): void {
  for (const next of system.parts.lanes.leaveLanes(system.lanes, call, NOW_MS)) consider(system, next);
}

/** Has an abandoned write keep its lanes. */
export function keepLanes(system: ComposedBatch, call: CallState): void {
  const hold = { untilMs: LATER_MS, nowMs: NOW_MS };
  for (const next of system.parts.lanes.holdLanes(system.lanes, call, hold)) consider(system, next);
}

/** Takes a call that was never dispatched out of its lanes and its slot. */
export function withdraw(system: ComposedBatch, call: CallState): void {
  if (call.standing === "none" || call.standing === "launched") return;
  if (call.standing === "admitted") system.running -= 1;
  call.standing = "none";
  releaseLanes(system, call);
}

/** Blocks every waiting call that may not run behind a write that was lost just now. */
export function blockOthers(system: ComposedBatch, lost: CallState): void {
  for (const other of system.current) {
    const isWaiting = other.standing === "queued" || other.standing === "ready" || other.standing === "admitted";
    if (isWaiting && blockIfUncertain(system, other, [lost])) withdraw(system, other);
  }
}

/** Tells a call that it is blocked where it may not run behind one of the writes; answers whether. */
export function blockIfUncertain(system: ComposedBatch, call: CallState, uncertain: readonly CallState[]): boolean {
  const writes = uncertain.map(({ index, conflictKeys }) => ({
    operationId: String(index),
    callId: String(index),
    toolName: "",
    conflictKeys,
    isOfThisBatch: true,
  }));
  if (system.parts.findBlocker(call, writes) === undefined) return false;
  send(system, call, { type: "BLOCKED" });
  return true;
}
