import { KernelError } from "../domain/errors.ts";
import type { JournalPage, ListOpenOptions } from "../domain/journal.ts";
import { readEntry, type StoredEntry } from "./stored-entry.ts";

/** Most entries of one page. */
const MAX_PAGE = 10_000;

/**
 * Checks how many entries a page may hold.
 * @throws KernelError `INVALID_OPTIONS` when `limit` is no whole number from 1 to 10,000.
 */
export function checkLimit({ limit }: ListOpenOptions): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE) return limit;
  throw new KernelError("INVALID_OPTIONS", `listOpen needs a limit from 1 to ${MAX_PAGE}.`, { subject: "limit" });
}

/** Makes a page of entries that were read with one more than the limit, in order of their ids. */
export function pageOf(stored: readonly StoredEntry[], limit: number): JournalPage {
  const shown = stored.slice(0, limit);
  const last = shown.at(-1);
  return {
    entries: shown.map(readEntry),
    ...(stored.length > limit && last !== undefined && { next: last.operationId }),
  };
}
