import type { KernelEvent } from "toolkernel";

/** What may hold arguments, results, or what tools and models say. */
const WITHHELD: ReadonlySet<string> = new Set(["result", "update", "message", "delta", "ask"]);

/** An event as one line of JSON, without anything a call was given or has answered (OBS-3). */
export function eventLine(event: KernelEvent): string {
  return JSON.stringify(Object.fromEntries(Object.entries(event).filter(([name]) => !WITHHELD.has(name))));
}
