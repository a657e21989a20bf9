/**
 * What must be true of scheduled batches at every moment, said without any of the scheduler's own code.
 * Each function answers the rule that is broken, or undefined.
 */
import type { ComposedBatch } from "./composed-batch.ts";
import type { CallKind, CallState, Scope } from "./scheduler-state.ts";

/** What is wrong when a call has just been dispatched. */
export function faultOfDispatch(system: ComposedBatch, call: CallState): string | undefined {
  const { scope } = system;
  const earlier = system.current.filter(({ index }) => index < call.index);
  if (system.isCancelled) return `CAN-1: call ${call.index} was dispatched after the cancellation`;
  const flying = system.calls.filter(isInFlight);
  if (flying.length > scope.cap) return `EPOCH-3: ${flying.length} calls run`;
  const unsettled = earlier.find((other) => !isSettled(other) && !mayShareEpoch(scope, other, call));
  if (unsettled !== undefined)
    return `EPOCH-2: call ${call.index} was dispatched before ${unsettled.index} had settled`;
  const blocker = system.current.find((other) => isUncertain(other) && blocks(other.kind, call.kind));
  if (blocker !== undefined) return `UNC-2, UNC-3: call ${call.index} was dispatched behind uncertain ${blocker.index}`;
  const owner = earlier.find((other) => !isSettled(other) && sharesKey(other.kind, call.kind));
  if (owner !== undefined) return `EPOCH-4: call ${call.index} was dispatched before ${owner.index} had settled`;
  const holder = system.calls.find((other) => isHeld(other) && keepsBack(other.kind, call.kind));
  if (holder !== undefined) return `EPOCH-8: write ${call.index} was dispatched while ${holder.index} may be alive`;
  return call.settledCount > 0 ? `CAN-4: call ${call.index} was dispatched after it had settled` : undefined;
}

/** What is wrong when a call has just settled. */
export function faultOfResult(_system: ComposedBatch, call: CallState): string | undefined {
  if (call.settledCount !== 1) return `CAN-4: call ${call.index} settled ${call.settledCount} times`;
  const outcome = String(call.row.value);
  const wasDispatched = call.isDispatched;
  if (outcome === "blocked" && wasDispatched) return `UNC-5: call ${call.index} ran and was blocked`;
  if (outcome === "blocked" && !call.isWrite) return `UNC-1: read ${call.index} was blocked`;
  if (outcome === "uncertain" && (!call.isWrite || !wasDispatched)) return `UNC-1: call ${call.index} is uncertain`;
  if (outcome === "cancelled" && wasDispatched && call.isWrite)
    return `CAN-2: write ${call.index} was merely cancelled`;
  return undefined;
}

/** What is wrong at a moment when nothing happens by itself any more. */
export function faultOfMoment(system: ComposedBatch): string | undefined {
  const { scope } = system;
  const flying = system.calls.filter(isInFlight);
  if (flying.length > scope.cap) return `EPOCH-3: ${flying.length} calls run`;
  const clash = pairs(flying).find(([one, other]) => sharesKey(one.kind, other.kind));
  if (clash !== undefined) return `EPOCH-4: calls ${clash[0].index} and ${clash[1].index} share a key and run`;
  const apart = pairs(flying).find(([one, other]) => !mayShareEpoch(scope, one, other));
  if (apart !== undefined)
    return `EPOCH-2: calls ${apart[0].index} and ${apart[1].index} run, and a barrier is between`;
  return system.isOver ? faultOfEnd(system) : faultOfWaiting(system, flying);
}

function faultOfEnd(system: ComposedBatch): string | undefined {
  const without = system.calls.find(({ settledCount }) => settledCount !== 1);
  return without === undefined ? undefined : `CAN-4: call ${without.index} has ${without.settledCount} results`;
}

function faultOfWaiting(system: ComposedBatch, flying: readonly CallState[]): string | undefined {
  if (flying.length === 0 && !system.calls.some(isHeld)) return "CAN-4: nothing runs and the batch is not over";
  const waiting = system.current.filter((call) => !isSettled(call) && !isInFlight(call));
  const due = waiting.filter((call) =>
    system.current.every(
      (other) => other.index >= call.index || isSettled(other) || mayShareEpoch(system.scope, other, call),
    ),
  );
  const blocked = due.find((call) =>
    system.current.some((other) => isUncertain(other) && blocks(other.kind, call.kind)),
  );
  if (blocked !== undefined) return `UNC-5: call ${blocked.index} waits though it is blocked`;
  const startable = due.find((call) => isStartable(system, call));
  if (startable !== undefined && flying.length < system.scope.cap && !system.isCancelled)
    return `EPOCH-5: call ${startable.index} could start and a slot is free`;
  return system.isCancelled && due.length > 0
    ? `CAN-1: call ${due[0]?.index} waits though all is cancelled`
    : undefined;
}

function isStartable(system: ComposedBatch, call: CallState): boolean {
  const isInLine = system.current.some(
    (other) => other.index < call.index && !isSettled(other) && sharesKey(other.kind, call.kind),
  );
  const isKeptBack = system.calls.some((other) => isHeld(other) && keepsBack(other.kind, call.kind));
  return !isInLine && !isKeptBack;
}

function pairs<Item>(items: readonly Item[]): (readonly [Item, Item])[] {
  return items.flatMap((one, place) => items.slice(place + 1).map((other) => [one, other] as const));
}

/** Whether two calls could be in one epoch: they and all between them may overlap (EPOCH-1, EPOCH-2). */
function mayShareEpoch({ mode, batches }: Scope, one: CallState, other: CallState): boolean {
  if (one.batch !== other.batch) return false;
  const first = batches.slice(0, one.batch).reduce((sum, { length }) => sum + length, 0);
  const kinds = (batches[one.batch] ?? []).slice(one.index - first, other.index - first + 1);
  return kinds.every((kind) => {
    if (mode === "sequential" || kind.executionMode === "sequential") return false;
    return mode === "parallel" || kind.executionMode === "parallel" || !kind.isWrite;
  });
}

function sharesKey(one: CallKind, other: CallKind): boolean {
  return one.conflictKeys.some((key) => other.conflictKeys.includes(key));
}

/** Whether an uncertain write blocks a later call of its batch (UNC-2, UNC-3). */
function blocks(uncertain: CallKind, later: CallKind): boolean {
  if (!later.isWrite) return false;
  return uncertain.conflictKeys.length === 0 || later.conflictKeys.length === 0 || sharesKey(uncertain, later);
}

/** Whether an abandoned write that may be alive keeps a later call waiting (EPOCH-8). */
function keepsBack(abandoned: CallKind, later: CallKind): boolean {
  return later.isWrite && (abandoned.conflictKeys.length === 0 || sharesKey(abandoned, later));
}

function isSettled({ settledCount }: CallState): boolean {
  return settledCount > 0;
}

function isInFlight(call: CallState): boolean {
  return call.isDispatched && !isSettled(call);
}

function isUncertain(call: CallState): boolean {
  return call.row.value === "uncertain";
}

/** An abandoned write whose executor may be alive and whose time is not over (EPOCH-8). */
function isHeld({ isDispatched, hasExecutorEnded, isHoldOver, isWrite, settledCount }: CallState): boolean {
  return isWrite && isDispatched && settledCount > 0 && !hasExecutorEnded && !isHoldOver;
}
