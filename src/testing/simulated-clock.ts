/**
 * A clock that stands still until a test moves it.
 *
 * Owns: the current simulated time and the timers that wait on it. Does not own: microtasks; between two
 * timers it only gives the event loop a turn, which runs all that promises alone can reach.
 *
 * Invariants: `now()` never goes back; timers run in order of their time, those of one time in the order
 * they were set; a timer runs at most once, and never after it was taken back.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, KernelError } from "toolkernel";
import { checkGiven, mustBeFunction, type OptionCheck } from "../domain/check-options.ts";

/** What {@link simulatedClock} gives. */
export interface SimulatedClock {
  /** Give this to a session, agent or dispatcher. */
  readonly clock: Clock;
  /**
   * Moves time on by `ms` milliseconds (0 or more) and runs, in order, every timer that comes due,
   * also those that are set on the way. Resolves when what they set going by promises alone is done.
   *
   * @throws KernelError `INVALID_OPTIONS` (as a rejection) when `ms` is negative or not a finite number.
   */
  advance(ms: number): Promise<void>;
  /** How many timers wait. */
  pendingTimers(): number;
}

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

const START_MS = 1_767_225_600_000;

const mustBeTime: OptionCheck = (value) =>
  typeof value === "number" && !Number.isNaN(value) ? undefined : "must be a time in milliseconds";

/** Makes a clock for tests; it starts at 2026-01-01T00:00:00Z, always. */
export function simulatedClock(): SimulatedClock {
  const timers = new Set<Timer>();
  let nowMs = START_MS;
  let moving: Promise<void> = Promise.resolve();

  async function moveTo(distanceMs: number): Promise<void> {
    await nextTurn();
    const targetMs = nowMs + distanceMs;
    for (let timer = nextDue(timers, targetMs); timer !== undefined; timer = nextDue(timers, targetMs)) {
      timers.delete(timer);
      nowMs = Math.max(nowMs, timer.atMs);
      timer.run();
      await nextTurn();
    }
    nowMs = targetMs;
  }

  function setTimer(atMs: number, run: () => void): () => void {
    checkGiven(run, "run", mustBeFunction);
    checkGiven(atMs, "atMs", mustBeTime);
    const timer: Timer = { atMs, run };
    timers.add(timer);
    return () => {
      timers.delete(timer);
    };
  }

  async function advance(ms: number): Promise<void> {
    if (!Number.isFinite(ms) || ms < 0) {
      throw new KernelError("INVALID_OPTIONS", "advance(ms) needs a finite number of milliseconds, 0 or more.", {
        subject: "ms",
      });
    }
    // Two calls at once move one after the other, and a timer that throws stops only its own.
    const moved = moving.then(() => moveTo(ms));
    moving = moved.catch(() => undefined);
    await moved;
  }

  return { clock: { now: () => nowMs, setTimer }, advance, pendingTimers: () => timers.size };
}

// A set keeps the order in which timers were set, so the first of the smallest time is the right one.
function nextDue(timers: ReadonlySet<Timer>, targetMs: number): Timer | undefined {
  let next: Timer | undefined;
  for (const timer of timers) {
    if (timer.atMs <= targetMs && (next === undefined || timer.atMs < next.atMs)) {
      next = timer;
    }
  }
  return next;
}
