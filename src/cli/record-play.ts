/**
 * Records a play for `--record` and `--report`.
 * Owns: the open file of the recording, the lines that the report is made of. Invariants: a line is in the
 * file before the play goes on; the report is written once, at the end, also when the play was interrupted.
 */
import { closeSync, writeSync } from "node:fs";
import { type RunRecorder, readRecording, recordRun, timelineReport } from "toolkernel/inspect";
import { openToWrite, writeText } from "./write-file.ts";

/** Where a play is recorded to. */
export interface RecordFlags {
  /** The JSON Lines file, if one is wanted. */
  readonly record: string | undefined;
  /** The HTML file, if one is wanted. */
  readonly report: string | undefined;
  /** Whether arguments and results are recorded too. */
  readonly content: boolean;
}

/** A recording under way. */
export interface PlayRecording {
  readonly recorder: RunRecorder;
  /** Writes the report and closes the recording; returns the paths that were written. */
  finish(title: string): readonly string[];
}

/**
 * Begins to record, if that is asked.
 * @throws KernelError `INVALID_OPTIONS` when a file cannot be written, before anything is played
 */
export function beginRecording({ record, report, content }: RecordFlags): PlayRecording | undefined {
  if (record === undefined && report === undefined) return undefined;
  const lines: string[] = [];
  const file = record === undefined ? undefined : openToWrite(record, "--record");
  try {
    // An empty file now rather than a surprise at the end.
    if (report !== undefined) closeSync(openToWrite(report, "--report"));
  } catch (error) {
    if (file !== undefined) closeSync(file);
    throw error;
  }
  const recorder = recordRun(
    (line) => {
      if (file !== undefined) writeSync(file, line);
      if (report !== undefined) lines.push(line);
    },
    { arguments: content, results: content, conflictKeys: content },
  );
  return {
    recorder,
    finish(title) {
      if (file !== undefined) closeSync(file);
      if (report !== undefined) writeText(report, "--report", timelineReport(readRecording(lines.join("")), { title }));
      return [record, report].filter((path) => path !== undefined);
    },
  };
}
