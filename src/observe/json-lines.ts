import {
  checkGiven,
  checkOptions,
  mustBeBoolean,
  mustBeFunction,
  type OptionCheck,
  readGiven,
} from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";
import type { Telemetry, TraceRecord } from "../domain/ports.ts";
import { ignoreRejection } from "../domain/promise-like.ts";
import { readTrace } from "./read-trace.ts";
import type { RecordedEvent } from "./recorded-event.ts";

/** Options of {@link recordJsonLines}. */
export interface RecordOptions {
  /** Records the conflict keys of calls too, which are made from arguments; default only lane numbers (OBS-3). */
  readonly conflictKeys?: boolean | undefined;
}

const OPTION_CHECKS: Readonly<Record<keyof RecordOptions, OptionCheck>> = { conflictKeys: mustBeBoolean };

const FORMAT = "toolkernel.trace";
const VERSION = 1;

/**
 * Telemetry that records runs as JSON Lines, for any number of sessions and Agents: first a line that
 * names format and version, then one trace record a line (OBS-3). It is enough for {@link summarize}.
 * **shape**: `write` is given each line with its line end, the first one at once; what it throws later is
 * swallowed by the kernel, as is what a promise of it rejects with. Nobody waits for such a promise.
 * @throws KernelError `INVALID_OPTIONS` for anything but a function, and naming the option.
 */
export function recordJsonLines(write: (line: string) => void, options: RecordOptions = {}): Telemetry {
  checkGiven(write, "write", mustBeFunction);
  checkOptions(options, OPTION_CHECKS, { path: "options" });
  const writeLine = (value: object): void => ignoreRejection(write(`${JSON.stringify(value)}\n`));
  writeLine({ format: FORMAT, version: VERSION });
  return { record: writeLine, wantsConflictKeys: options.conflictKeys === true };
}

/**
 * Reads a recording back: its text, or its lines or pieces of whole lines. Recordings may follow each other
 * in one text, each with its first line. Records of no event are left out, and so is a last line that was
 * torn off in the middle.
 * @throws KernelError `INVALID_OPTIONS` naming the line, when it is not a recording, one of a version that is
 * not known, or damaged.
 */
export function readJsonLines(recording: string | Iterable<string>): readonly RecordedEvent[] {
  const pieces = typeof recording === "string" ? [recording] : readGiven("recording", () => [...recording]);
  const lines = readGiven("recording", () => pieces.flatMap((piece) => piece.split("\n")));
  const lastLine = lines.findLastIndex((line) => line.trim() !== "");
  const events: RecordedEvent[] = [];
  let hasHeader = false;
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const value = parseLine(line);
    if (value === undefined && index === lastLine && hasHeader) break;
    if (isHeader(value)) {
      if (value.version !== VERSION) throw recordingError(index, `is of a version this reader does not know`);
      hasHeader = true;
      continue;
    }
    if (!hasHeader) throw recordingError(index, `does not begin a recording of format ${FORMAT}`);
    const event = readLine(value, index);
    if (event !== undefined) events.push(event);
  }
  return events;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function isHeader(value: unknown): value is { readonly version: unknown } {
  return (value as { format?: unknown } | null | undefined)?.format === FORMAT;
}

function readLine(value: unknown, index: number): RecordedEvent | undefined {
  if (!isTraceRecord(value)) throw recordingError(index, "is not a trace record");
  const event = readTrace(value);
  if (event !== undefined && "fault" in event) throw recordingError(index, `has no valid attribute ${event.fault}`);
  return event;
}

function isTraceRecord(value: unknown): value is TraceRecord {
  if (typeof value !== "object" || value === null) return false;
  const { name, timeMs, runId, attributes } = value as Partial<Record<keyof TraceRecord, unknown>>; // looked at, not trusted
  const hasAttributes = typeof attributes === "object" && attributes !== null;
  return typeof name === "string" && Number.isFinite(timeMs) && typeof runId === "string" && hasAttributes;
}

function recordingError(index: number, fault: string): KernelError {
  const message = `Line ${index + 1} of the recording ${fault}; give readJsonLines what recordJsonLines wrote.`;
  return new KernelError("INVALID_OPTIONS", message, { subject: "recording" });
}
