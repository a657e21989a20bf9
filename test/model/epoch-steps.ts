/** What follows where the charts of epochs and calls ask for it: calls are let in, dispatched and settled. */
import type { EventObject } from "xstate";
import { type ComposedBatch, send } from "./composed-batch.ts";
import {
  blockIfUncertain,
  blockOthers,
  consider,
  isStartable,
  keepLanes,
  releaseLanes,
  withdraw,
} from "./lane-steps.ts";
import { type CallState, isUncertain, take } from "./scheduler-state.ts";

/** Starts an epoch: its calls join their lanes, but for those that are blocked already. */
export function startEpoch(system: ComposedBatch, epoch: number): void {
  system.epoch = epoch;
  system.running = 0;
  const calls = system.callsOf(epoch);
  const context = system.parts.epoch.createContext({ epoch, calls: calls.length });
  system.epochActor = { row: system.parts.epoch.initial, context };
  for (const call of calls) {
    send(system, call, { type: "EPOCH_STARTED" });
    if (blockIfUncertain(system, call, system.current.filter(isUncertain))) continue;
    system.parts.lanes.joinLanes(system.lanes, call);
    call.standing = "queued";
  }
  for (const call of calls) consider(system, call);
  send(system, "epoch", { type: "START" });
}

/** Does what the chart of the epoch asks for. */
export function performEpoch(system: ComposedBatch, { type }: EventObject): void {
  switch (type) {
    case "admitCalls":
      admit(system);
      break;
    case "cancelCalls":
      for (const call of system.callsOf(system.epoch)) send(system, call, { type: "CANCEL" });
      break;
    case "settled":
      send(system, "batch", { type: "EPOCH_SETTLED" });
      break;
  }
}

function admit(system: ComposedBatch): void {
  while (system.parts.hasFreeSlot(system.running, system.scope.cap)) {
    const call = system.current.find(({ standing }) => standing === "ready");
    if (call === undefined) return;
    system.running += 1;
    call.standing = "admitted";
    system.mail.push({ kind: "launch", call });
  }
}

/** Dispatches a call that was let in, or puts it back in line where it may no longer start. */
export function launch(system: ComposedBatch, call: CallState): void {
  if (!system.parts.mayLaunch(system.isCancelled) || call.standing !== "admitted") return;
  if (isStartable(system, call)) {
    call.standing = "launched";
    tellCall(system, call, { type: "ADMITTED" });
    return;
  }
  system.running -= 1;
  call.standing = "queued";
  send(system, "epoch", { type: "LANE_FREED" });
}

/** Lets a call take an event at once, and does what its chart asks for. */
export function tellCall(system: ComposedBatch, call: CallState, event: EventObject): void {
  for (const { type } of take(call, event)) {
    if (type === "dispatch") {
      call.isDispatched = true;
      system.watcher.onDispatch?.(system, call);
    }
    if (type === "finish") send(system, call, { type: "FINISHED" });
    if (type === "settled") settle(system, call);
  }
}

function settle(system: ComposedBatch, call: CallState): void {
  call.settledCount += 1;
  system.watcher.onSettled?.(system, call);
  if (call.epoch !== system.epoch || system.epochActor === undefined) return;
  if (call.standing === "launched") {
    system.running -= 1;
    if (call.isWrite && !call.hasExecutorEnded) keepLanes(system, call);
    else releaseLanes(system, call);
  } else {
    withdraw(system, call);
  }
  if (isUncertain(call)) blockOthers(system, call);
  send(system, "epoch", { type: "CALL_SETTLED" });
}
