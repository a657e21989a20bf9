import { KernelError } from "../domain/errors.ts";
import type { Clock } from "../domain/ports.ts";

/** What a repeated step came to: its answer, or the last error when the time was over or repeating was no use. */
export type Insisted<Answer> =
  | { readonly kind: "done"; readonly answer: Answer }
  | { readonly kind: "gaveUp"; readonly error: unknown };

/** A step of the journal to repeat; it must be one that may be taken twice. */
export interface InsistRequest<Answer> {
  readonly clock: Clock;
  readonly step: () => Promise<Answer>;
  /** When to give up; a step that has not answered by then is left to itself. */
  readonly untilMs: number;
  /** Asked before every repetition: whether it can still be of use. */
  readonly isUseful: () => boolean;
}

const FIRST_DELAY_MS = 5;
const LONGEST_DELAY_MS = 1_000;

/**
 * Takes a step of the journal and repeats it, ever more slowly, while the journal cannot be reached or is
 * full. Never rejects. Any other error ends it at once.
 */
export async function insist<Answer>(request: InsistRequest<Answer>): Promise<Insisted<Answer>> {
  const { clock, step, untilMs, isUseful } = request;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)) {
    const tried = await tryOnce(clock, step, untilMs);
    if (tried.kind === "done" || !isPassing(tried.error) || !isUseful()) return tried;
    const nextMs = clock.now() + delayMs;
    if (nextMs >= untilMs) return tried;
    await new Promise<void>((resolve) => {
      clock.setTimer(nextMs, resolve);
    });
  }
}

/** Whether an error of the journal may pass by itself. */
export function isPassing(error: unknown): boolean {
  return error instanceof KernelError && (error.code === "JOURNAL_UNAVAILABLE" || error.code === "JOURNAL_FULL");
}

async function tryOnce<Answer>(clock: Clock, step: () => Promise<Answer>, untilMs: number): Promise<Insisted<Answer>> {
  let stopTimer = (): void => undefined;
  const timeout = new Promise<Insisted<Answer>>((resolve) => {
    if (untilMs === Number.POSITIVE_INFINITY) return;
    stopTimer = clock.setTimer(untilMs, () => {
      const error = new KernelError("JOURNAL_UNAVAILABLE", "The journal did not answer in time.");
      resolve({ kind: "gaveUp", error });
    });
  });
  const tried = attempt(step);
  const ended = await Promise.race([tried, timeout]);
  stopTimer();
  return ended;
}

async function attempt<Answer>(step: () => Promise<Answer>): Promise<Insisted<Answer>> {
  try {
    return { kind: "done", answer: await step() };
  } catch (error) {
    return { kind: "gaveUp", error };
  }
}
