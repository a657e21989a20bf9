import { holdLanes, joinLanes, type LaneEntry, leaveLanes } from "../../plan/lanes.ts";
import type { SessionCore } from "../session-core.ts";
import type { CallRun } from "./run-call.ts";

/** Takes a call out of its lanes and wakes whoever is next, of this session or another (EPOCH-9). */
export function releaseLanes(core: SessionCore, call: CallRun): void {
  // Behind a call that stands in no lane nobody waits, whatever the time.
  const nowMs = call.conflictKeys.length === 0 ? 0 : core.settings.steady.now();
  wakeNext(call, leaveLanes(core.lanes, call, nowMs));
}

/**
 * Keeps the keys of an abandoned write against later writes, or without keys holds back every later
 * write of the session, until `abandonAfterMs` after its signal fired (EPOCH-8).
 */
export function keepLanes(core: SessionCore, call: CallRun): void {
  const nowMs = core.settings.steady.now();
  const untilMs = holdEnd(core, call);
  if (call.conflictKeys.length === 0) core.keylessHolds.add(call);
  wakeNext(call, holdLanes(core.lanes, call, { untilMs, nowMs }));
}

/** Whether the executor of a write that has its result may still be at work. */
export function mayBeAlive({ isWrite, execution }: CallRun): boolean {
  return isWrite && execution?.hasEnded === false;
}

/** Until when an abandoned write keeps others back. */
export function holdEnd(core: SessionCore, { execution }: CallRun): number {
  return (execution?.signalledAtMs ?? core.settings.steady.now()) + core.settings.limits.abandonAfterMs;
}

/** A moment of the clock that never jumps, as another process reads it. */
export function dateOf({ settings: { clock, steady } }: SessionCore, atMs: number): number {
  return clock.now() + (atMs - steady.now());
}

/** What an abandoned write keeps back goes on being kept: who abandoned it may have given its run back and live. */
export function restoreHold(
  core: SessionCore,
  hold: Pick<LaneEntry, "conflictKeys"> & { readonly untilDateMs: number },
): void {
  const { clock, steady } = core.settings;
  const nowMs = steady.now();
  const untilMs = nowMs + (hold.untilDateMs - clock.now());
  const { conflictKeys } = hold;
  if (untilMs <= nowMs) return;
  // Nobody waits for it or tells it anything: of a call it is no more than its place in the lanes.
  const entry = { conflictKeys, isWrite: true, hasLeft: false, heldUntilMs: untilMs } as unknown as CallRun;
  joinLanes(core.lanes, entry);
  if (conflictKeys.length === 0) core.keylessHolds.add(entry);
  holdLanes(core.lanes, entry, { untilMs, nowMs });
}

/**
 * Tells those next in line. An epoch whose own call has settled admits by itself; others are woken, ready
 * or not: one that now waits for a hold to end has to mind the time itself, since nobody comes to tell it.
 */
function wakeNext(call: CallRun, next: readonly CallRun[]): void {
  for (const waiting of next) {
    waiting.epochRun?.consider(waiting);
    if (waiting.epochRun !== call.epochRun) waiting.epochRun?.wake();
  }
}
