import { existsSync, readFileSync } from "node:fs";

const FOLDER = new URL("../../../shared/data/tool-calls/raw/", import.meta.url);

/** Whether the recordings are there; they are not part of the project. */
export const hasRecordings: boolean = existsSync(FOLDER);

/** A recorded file as text. */
export function recording(file: string): string {
  return readFileSync(new URL(file, FOLDER), "utf8");
}

/** The JSON values of a file that has one a line. */
export function chunksOf(file: string): readonly Record<string, unknown>[] {
  return recording(file)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line));
}

/** Chunks as the event stream that a provider sends, each event named by its type where it has one. */
export function eventStream(chunks: readonly Record<string, unknown>[], end = ""): string {
  const events = chunks.map((chunk) => {
    const name = typeof chunk.type === "string" ? `event: ${chunk.type}\n` : "";
    return `${name}data: ${JSON.stringify(chunk)}\n\n`;
  });
  return events.join("") + end;
}
