import {
  checkGiven,
  checkOptions,
  mustBeBoolean,
  mustBeList,
  type OptionCheck,
  readGiven,
} from "../domain/check-options.ts";
import { entryWords } from "./entry-words.ts";
import type { RecordingEntry } from "./recording/entry.ts";
import type { Recording } from "./recording/read-recording.ts";

/** Options of {@link replayText}. */
export interface ReplayOptions {
  /** Whether the events that charts took are told too; default no. */
  readonly charts?: boolean | undefined;
}

const OPTION_CHECKS: Readonly<Record<keyof ReplayOptions, OptionCheck>> = { charts: mustBeBoolean };

const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/**
 * A recording as plain text, a line an entry: milliseconds since the first one, what it is about, what
 * happened. **order**: as recorded; runs that overlap stay interleaved, each named where it takes over.
 * **shape**: each line without its line end, and without control characters.
 * @throws KernelError `INVALID_OPTIONS` for anything but a recording, and naming the option.
 */
export function replayText(recording: Recording, options: ReplayOptions = {}): Generator<string, void> {
  checkOptions(options, OPTION_CHECKS, { path: "options" });
  const entries = readGiven("recording", () => recording.entries);
  checkGiven(entries, "recording.entries", mustBeList);
  return readLines(tellEntries(entries, options.charts === true));
}

/** What is not an entry is found where it is told. */
function* readLines(lines: Iterator<string, void>): Generator<string, void> {
  for (;;) {
    const next = readGiven("recording", () => lines.next());
    if (next.done === true) return;
    yield next.value;
  }
}

function* tellEntries(entries: readonly RecordingEntry[], charts: boolean): Generator<string, void> {
  const actorIds = new Map<string, Map<number, string>>();
  const startMs = entries[0] === undefined ? 0 : baseOf(entries[0]).timeMs;
  let shownRun: string | undefined;
  for (const entry of entries) {
    const { runId, timeMs } = baseOf(entry);
    const ids = actorIds.get(runId) ?? new Map<number, string>();
    actorIds.set(runId, ids);
    if (entry.type === "actor") ids.set(entry.actor, entry.id);
    if (!charts && entry.type !== "event") continue;
    if (runId !== shownRun) yield plain(`run ${runId}`);
    shownRun = runId;
    const { scope, what, text } = entryWords(entry, ids);
    const time = `+${Math.round(timeMs - startMs)}`.padStart(8);
    yield plain(`${time}  ${scope.padEnd(6)}  ${what}${text === "" ? "" : `  ${text}`}`);
  }
}

function baseOf(entry: RecordingEntry): { readonly runId: string; readonly timeMs: number } {
  return entry.type === "event" ? entry.event : entry;
}

/** Names of tools and ids of calls are what models and hosts have written. */
function plain(text: string): string {
  return text.toWellFormed().replaceAll(CONTROLS, " ").trimEnd();
}
