/** The one place where real time and chance come from. */
import type { Clock } from "../domain/ports.ts";

/** Longest delay a timer of the platform takes; a later time is reached in several. */
const MAX_DELAY_MS = 2_147_483_647;

/** The clock of the platform. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  setTimer(atMs: number, run: () => void): () => void {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (): void => {
      const delayMs = Math.max(0, atMs - Date.now());
      timer = delayMs > MAX_DELAY_MS ? setTimeout(arm, MAX_DELAY_MS) : setTimeout(run, delayMs);
    };
    arm();
    return () => clearTimeout(timer);
  },
});

/** A new id that nobody can guess; for runs and approvals. */
export function createId(): string {
  return globalThis.crypto.randomUUID();
}
