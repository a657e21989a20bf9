import { closeSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type InspectorServer, RecordingReader, serveInspector, writeInspectorPage } from "toolkernel/inspect";
import { readRecordingFile } from "./read-recording-file.ts";
import { readText } from "./read-text.ts";
import type { Output } from "./screen.ts";
import { writeText } from "./write-file.ts";

/** What `toolkernel inspect` is asked. */
export interface InspectOptions {
  readonly path: string;
  /** Where the page is written to; without it the page is served. */
  readonly out: string | undefined;
}

const LOOK_EVERY_MS = 300;
const PIECE_BYTES = 1_000_000;

/**
 * Shows a recording: writes the page, or serves it and follows the file until `interrupt` fires.
 * @throws KernelError `INVALID_OPTIONS` for a file that is not a recording
 */
export async function inspectRecording(
  { path, out }: InspectOptions,
  output: Output,
  interrupt: AbortSignal,
): Promise<void> {
  if (out !== undefined) {
    writeText(out, "--out", writeInspectorPage(readRecordingFile(path), { title: basename(path) }));
    output.write(`${out} is written\n`);
    return;
  }
  // One that is about to be written may still be empty.
  if (readText(path) !== "") readRecordingFile(path);
  await using server = await serveInspector({ title: basename(path) });
  output.write(`The inspector is at ${server.url} until you press Ctrl-C.\n`);
  await followFile(path, server, interrupt);
}

/** Shows every whole line of the file, and those that come. */
async function followFile(path: string, server: InspectorServer, interrupt: AbortSignal): Promise<void> {
  const file = openSync(path, "r");
  const reader = new RecordingReader();
  const decoder = new TextDecoder();
  let rest = "";
  let lines = 0;
  try {
    while (!interrupt.aborted) {
      rest += readMore(file, decoder);
      const whole = rest.split("\n");
      rest = whole.pop() ?? "";
      for (const line of whole) {
        const entry = reader.read(line, lines++);
        if (entry !== undefined) server.add(entry);
      }
      await pause(LOOK_EVERY_MS, undefined, { signal: interrupt }).catch(() => undefined);
    }
  } finally {
    closeSync(file);
  }
}

/** What has been written to the file since it was last read. */
function readMore(file: number, decoder: InstanceType<typeof TextDecoder>): string {
  const piece = new Uint8Array(PIECE_BYTES);
  let text = "";
  for (let size = readSync(file, piece); size > 0; size = readSync(file, piece)) {
    text += decoder.decode(piece.subarray(0, size), { stream: true });
  }
  return text;
}
