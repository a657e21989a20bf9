import type { JournalPage } from "../domain/journal.ts";
import { readEntry, type StoredEntry } from "./stored-entry.ts";

/** Makes a page of entries that were read with one more than the limit, in order of their ids. */
export function pageOf(stored: readonly StoredEntry[], limit: number): JournalPage {
  const shown = stored.slice(0, limit);
  const last = shown.at(-1);
  return {
    entries: shown.map(readEntry),
    ...(stored.length > limit && last !== undefined && { next: last.operationId }),
  };
}
