import { writeSync } from "node:fs";

/**
 * Writes a line of JSON to standard output before it returns, so that a process that is killed next has said it.
 * A pipe whose reader is slow is full for a while, and is tried again.
 */
export function writeLine(line: object): void {
  let rest = Buffer.from(`${JSON.stringify(line)}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== "EAGAIN") throw error;
    }
  }
}
