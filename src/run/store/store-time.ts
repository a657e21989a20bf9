/**
 * How long a run store may take.
 * Owns: the timer of one step. Upholds: CAN-1, CAN-4: whoever waits for a step that is never answered would wait
 * for ever, whatever is cancelled.
 */
import { KernelError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/ports.ts";
import type { RunClaim } from "../../domain/run-store.ts";

/** How long a store may take for one step: as long as a journal for a receipt (ACT-6). */
const STORE_TIMEOUT_MS = 10_000;

/** Whether the step was made nobody knows: it is not tried again here, and whoever resumes reads what there is. */
export const NO_ANSWER = new Error(`the run store did not answer within ${STORE_TIMEOUT_MS} ms`);

/** What a step of a store comes to; rejects with {@link NO_ANSWER} when it takes too long. */
export async function inTime<Value>(clock: Clock, step: Promise<Value>): Promise<Value> {
  let stopTimer = (): void => undefined;
  const late = new Promise<never>((_resolve, reject) => {
    stopTimer = clock.setTimer(clock.now() + STORE_TIMEOUT_MS, () => reject(NO_ANSWER));
  });
  try {
    return await Promise.race([step, late]);
  } finally {
    stopTimer();
  }
}

/** A claim that comes in time; one that comes too late is given back. Rejects with `JOURNAL_UNAVAILABLE`, or as the store does. */
export async function claimInTime(clock: Clock, claim: Promise<RunClaim>): Promise<RunClaim> {
  try {
    return await inTime(clock, claim);
  } catch (error) {
    if (error !== NO_ANSWER) throw error;
    claim.then((late) => late.release()).catch(() => undefined);
    const message = `The run store did not answer within ${STORE_TIMEOUT_MS} ms, so the run was not taken; try again when the store is back.`;
    throw new KernelError("JOURNAL_UNAVAILABLE", message, { subject: "runStore", cause: error });
  }
}
