import { KernelError, readJsonLines } from "toolkernel";
import { checkGiven, mustBeString, wholeNumber } from "../../domain/check-options.ts";
import {
  type ActorEntry,
  type ContentEntry,
  INSPECTION_VERSION,
  RECORD_NAMES,
  type RecordingEntry,
  type TransitionEntry,
} from "./entry.ts";

/** A recording, read: its entries in their order. */
export interface Recording {
  readonly entries: readonly RecordingEntry[];
}

/**
 * Reads what {@link recordRun} of this entry or `recordJsonLines` of the core has written; a last line that
 * was torn off in the middle is left out.
 * @throws KernelError `INVALID_OPTIONS` naming the line, as `readJsonLines` does.
 */
export function readRecording(recording: string): Recording {
  checkGiven(recording, "recording", mustBeString);
  // Looks at every line, and names the one at fault.
  readJsonLines(recording);
  const reader = new RecordingReader();
  const entries = recording.split("\n").flatMap((line, index) => {
    const entry = reader.read(line, index);
    return entry === undefined ? [] : [entry];
  });
  return { entries };
}

/** Reads a recording line by line, as it grows. Owns: the first line, which every other is read with. */
export class RecordingReader {
  #header = "";

  /** The entry of a line; `undefined` for a first line and for what is of no interest here. */
  read(line: string, index: number): RecordingEntry | undefined {
    checkGiven(line, "line", mustBeString);
    checkGiven(index, "index", wholeNumber(0, Number.MAX_SAFE_INTEGER));
    const value = parse(line);
    if (value === undefined) return undefined;
    if (value.format !== undefined) {
      this.#header = line;
      return undefined;
    }
    if (String(value.name).startsWith("inspect.")) return readInspection(value, index);
    const [event] = readJsonLines([this.#header, line]);
    return event === undefined ? undefined : { type: "event", event };
  }
}

type Fields = Readonly<Record<string, unknown>>;

function parse(line: string): Fields | undefined {
  try {
    return line.trim() === "" ? undefined : (JSON.parse(line) as Fields);
  } catch {
    return undefined;
  }
}

function readInspection({ name, timeMs, runId, attributes }: Fields, index: number): RecordingEntry | undefined {
  const fields = attributes as Fields; // readJsonLines takes no record without them
  const base = { timeMs, runId, ...fields };
  switch (name) {
    case RECORD_NAMES.start:
      if (fields.version === INSPECTION_VERSION) return undefined;
      throw recordingError(index, "begins records of a version this reader does not know");
    case RECORD_NAMES.actor:
      insist(index, [isCount(fields.actor), isText(fields.id), isText(fields.chart)]);
      return { type: "actor", ...base } as ActorEntry; // its fields have just been looked at
    case RECORD_NAMES.transition:
      insist(index, [isCount(fields.actor), isText(fields.event), isText(fields.state), isFlag(fields.isDone)]);
      insist(index, [typeof fields.facts === "object" && fields.facts !== null]);
      return { type: "transition", ...base } as TransitionEntry; // its fields have just been looked at
    case RECORD_NAMES.content:
      insist(index, [isCount(fields.turn), isCount(fields.callIndex), isText(fields.text), isFlag(fields.isCut)]);
      insist(index, [fields.part === "arguments" || fields.part === "result"]);
      return { type: "content", ...base } as ContentEntry; // its fields have just been looked at
    default:
      return undefined;
  }
}

function insist(index: number, answers: readonly boolean[]): void {
  if (answers.includes(false)) throw recordingError(index, "has invalid attributes");
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isFlag(value: unknown): boolean {
  return typeof value === "boolean";
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function recordingError(index: number, fault: string): KernelError {
  const message = `Line ${index + 1} of the recording ${fault}; give it what recordRun wrote.`;
  return new KernelError("INVALID_OPTIONS", message, { subject: "recording" });
}
