/**
 * What lets a call start once a slot is free.
 * Owns: nothing; reads the lanes and the holds of its session. Upholds: EPOCH-4, EPOCH-8, RUN-6.
 */
import { headsItsLanes, type LaneEntry, type Lanes } from "./lanes.ts";

/** What may keep a call back, beside slots. Holds that are over are forgotten when they are looked at. */
export interface StartConditions<Entry extends LaneEntry> {
  readonly lanes: Lanes<Entry>;
  /** Abandoned writes without a key whose executor may still be alive. */
  readonly keylessHolds: Set<Entry>;
  /** Calls of which an earlier process has left nothing but their dispatch, and that cannot be asked about. */
  readonly lost: ReadonlySet<Entry>;
}

/**
 * Whether nothing but a slot keeps a call back: what became of lost calls is known (RUN-6), no abandoned
 * write without a key may still be at work where it writes (EPOCH-8), and it heads all its lanes (EPOCH-4).
 * The time is asked for only where it matters.
 */
export function isStartable<Entry extends LaneEntry>(
  call: Entry,
  conditions: StartConditions<Entry>,
  now: () => number,
): boolean {
  const { lanes, keylessHolds, lost } = conditions;
  if (lost.size > 0 && !lost.has(call)) return false;
  if (!call.isWrite && call.conflictKeys.length === 0) return true;
  const nowMs = now();
  if (call.isWrite && keylessHoldEnd(keylessHolds, nowMs) !== undefined) return false;
  return headsItsLanes(lanes, call, nowMs);
}

/** When abandoned writes without a key stop holding back every later write at the latest; undefined: none does. */
export function keylessHoldEnd<Entry extends LaneEntry>(holds: Set<Entry>, nowMs: number): number | undefined {
  let endMs: number | undefined;
  for (const holder of holds) {
    const { heldUntilMs } = holder;
    if (heldUntilMs === undefined || heldUntilMs <= nowMs) holds.delete(holder);
    else endMs = Math.max(endMs ?? 0, heldUntilMs);
  }
  return endMs;
}
