/** What `listOpen` and `prune` of every store are given, held to what they take. */
import { checkOptions, mayBeAnything } from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";

/** Most entries, or runs, of one page. */
const MAX_PAGE = 10_000;

/** A page to read: how long it may be, and the id after which it begins. */
export interface Page {
  readonly limit: number;
  readonly after: string;
}

/**
 * Reads the options of a `listOpen`.
 * @throws KernelError `INVALID_OPTIONS` when `limit` is not a whole number from 1 to 10,000, or `after` not a string.
 */
export function readPage(given: unknown): Page {
  const { limit, after } = checkOptions(
    given ?? {},
    { limit: mayBeAnything, after: mayBeAnything },
    { path: "options" },
  );
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
    throw invalid("limit", `listOpen needs a limit from 1 to ${MAX_PAGE}.`);
  if (after !== undefined && typeof after !== "string")
    throw invalid("after", "listOpen needs after to be the next of the previous page.");
  return { limit, after: after ?? "" };
}

/**
 * Reads the time before which a `prune` forgets. What is not a number is refused and not passed on: to a
 * database a string may well be later than every time there is, and what was forgotten does not come back.
 * @throws KernelError `INVALID_OPTIONS` naming the option.
 */
export function readTimeBefore(given: unknown, option: "finalBefore" | "endedBefore"): number {
  const { [option]: time } = checkOptions(given ?? {}, { [option]: mayBeAnything }, { path: "options" });
  if (typeof time === "number" && !Number.isNaN(time))
    return Math.min(Math.max(Math.ceil(time), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  throw invalid(option, `prune needs ${option} to be a time in milliseconds since the epoch, such as Date.now().`);
}

function invalid(subject: string, message: string): KernelError {
  return new KernelError("INVALID_OPTIONS", message, { subject });
}
