import type { ControllableTool } from "toolkernel/testing";
import { expect } from "vitest";
import { type Bench, keyedTool, openBench } from "./execution-bench.ts";
import { call, outcomesOf } from "./run-calls.ts";

export const keyed = (name: string, keys: string | readonly string[] | null, id: string) =>
  call(name, keys === null ? {} : { keys: keys as string }, id);

/** Times out 100 ms after dispatch; with the default grace it is abandoned at 1,100. */
export const TIMEOUT_MS = 100;

export const ABANDONED_MS = 1_100;

/** The default `limits.abandonAfterMs`, from the signal. */
export const HOLD_OVER_MS = 30_100;

export interface HoldBench extends Bench {
  readonly write: ControllableTool;
  readonly read: ControllableTool;
}

/** A session with writes that time out and reads, both keyed by their arguments. */
export function openHoldBench(options: Partial<Parameters<typeof openBench>[0]> = {}): HoldBench {
  const write = keyedTool({
    name: "write",
    executionMode: "parallel",
    timeoutMs: TIMEOUT_MS,
    trackExactRepeats: false,
  });
  const read = keyedTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
  return { ...openBench({ tools: [write, read], ...options }), write, read };
}

/** Runs a batch of one write that never answers, up to its abandonment at {@link ABANDONED_MS}. */
export async function abandonWrite(bench: HoldBench, keys: string | readonly string[] | null): Promise<void> {
  const running = await bench.start([keyed("write", keys, "lost")]);
  await bench.advance(ABANDONED_MS);
  expect(outcomesOf(await running.result)).toEqual(["uncertain"]);
}
