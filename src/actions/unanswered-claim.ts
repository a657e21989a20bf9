import { KernelError } from "../domain/errors.ts";
import { ANSWER_LOST, NOTHING_WRITTEN } from "../domain/journal.ts";
import type { Clock } from "../domain/ports.ts";

/** Whether a claim was asked for, and only its answer was lost. */
export function isAnswerLost(error: unknown): boolean {
  return error instanceof KernelError && error.subject === ANSWER_LOST;
}

/** Waits, and no longer than until the signal fires. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stopTimer();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const stopTimer = clock.setTimer(clock.now() + delayMs, end);
    signal?.addEventListener("abort", end, { once: true });
  });
}

/** Whether a claim that was not answered may have been made all the same. */
export function mayHaveClaimed(error: unknown): boolean {
  return error instanceof KernelError && error.code === "JOURNAL_UNAVAILABLE" && error.subject !== NOTHING_WRITTEN;
}
