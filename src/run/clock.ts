/** The one place where real time and chance come from. */
import { checkGiven, mustBeFunction, type OptionCheck } from "../domain/check-options.ts";
import type { Clock } from "../domain/ports.ts";

/** Longest delay a timer of the platform takes; a later time is reached in several. */
const MAX_DELAY_MS = 2_147_483_647;

const mustBeTime: OptionCheck = (value) =>
  typeof value === "number" && !Number.isNaN(value) ? undefined : "must be a time in milliseconds";

/** The clock of the platform. */
export const systemClock: Clock = clockOf(() => Date.now());

/** Time as it passes on the platform, from some beginning on: it never jumps, and says no date. */
const passingTime: Clock = clockOf(() => Math.round(performance.now()));

/**
 * The clock to measure waits, time-outs and leases by: the one that was injected, or where that is the
 * platform's, one that does not follow when somebody sets the platform's to another time.
 */
export function steadyClock(clock: Clock = systemClock): Clock {
  return clock === systemClock ? passingTime : clock;
}

function clockOf(now: () => number): Clock {
  return Object.freeze({
    now,
    setTimer(atMs: number, run: () => void): () => void {
      checkGiven(atMs, "atMs", mustBeTime);
      checkGiven(run, "run", mustBeFunction);
      let timer: ReturnType<typeof setTimeout>;
      const arm = (): void => {
        const delayMs = Math.max(0, atMs - now());
        timer = delayMs > MAX_DELAY_MS ? setTimeout(arm, MAX_DELAY_MS) : setTimeout(run, delayMs);
      };
      arm();
      return () => clearTimeout(timer);
    },
  });
}

/**
 * Lets the platform do what else is due, timers and input, and then goes on. By the platform's own timers
 * whatever clock was injected: no time passes, and one that stands still would hold everything up.
 */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.setTimer(0, resolve);
  });
}

/** A new id that nobody can guess; for runs and approvals. */
export function createId(): string {
  return globalThis.crypto.randomUUID();
}
