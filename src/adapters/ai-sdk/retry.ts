import { systemClock } from "toolkernel";
import { isFields } from "../wire/draft-call.ts";

/** What {@link retrying} needs beside the attempt. */
export interface RetryOptions {
  readonly maxRetries: number;
  readonly signal: AbortSignal;
  /** Asked after each failure: whether nothing of the failed attempt has been seen yet. */
  readonly mayRetry: () => boolean;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;

/**
 * Tries until an attempt succeeds, fails for good, or the retries are used up; rejects with the last
 * failure. Waits in between; the signal ends the wait and rejects with its reason.
 */
export async function retrying<Result>(attempt: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (retries >= options.maxRetries || options.signal.aborted || !isWorthRetry(error) || !options.mayRetry()) {
        throw error;
      }
      await wait(askedWaitMs(error) ?? Math.min(FIRST_WAIT_MS * 2 ** retries, LONGEST_WAIT_MS), options.signal);
    }
  }
}

/** Provider packages mark what may pass by itself: rate limits, overload, a broken connection. */
function isWorthRetry(error: unknown): boolean {
  return error instanceof Error && "isRetryable" in error && error.isRetryable === true;
}

/** How long the provider asks to wait, if it does and that is bearable. */
function askedWaitMs(error: unknown): number | undefined {
  const headers: unknown = error instanceof Error && "responseHeaders" in error ? error.responseHeaders : undefined;
  if (!isFields(headers)) {
    return undefined;
  }
  const asked = [numberOf(headers["retry-after-ms"]), numberOf(headers["retry-after"]) * 1_000];
  return asked.find((waitMs) => waitMs >= 0 && waitMs <= LONGEST_WAIT_MS);
}

function numberOf(header: unknown): number {
  return typeof header === "string" && header.trim() !== "" ? Number(header) : Number.NaN;
}

function wait(waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      disarm();
      reject(signal.reason);
    };
    const disarm = systemClock.setTimer(systemClock.now() + waitMs, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
