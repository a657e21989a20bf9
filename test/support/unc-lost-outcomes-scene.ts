import { OutcomeUnknownError, type SettledCall, type ToolRisk } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { openBench, runningCall } from "./execution-bench.ts";
import { call } from "./run-calls.ts";
import { trackedSignal } from "./tracked.ts";

export const WARNING =
  "The outcome of this call is unknown: it may have happened. Check the current state before doing anything else; do not repeat the call.";

export type ThrowMeans = "failed" | "uncertain" | undefined;

/** How a hand-driven executor ends: at once, or after its signal has fired. */
export type Ending = (end: { resolve(value?: unknown): void; reject(error: unknown): void }) => void;

export interface Scene {
  readonly risk?: ToolRisk | undefined;
  readonly throwMeans?: ThrowMeans;
  /** What fires the signal before the executor ends; nothing when absent. */
  readonly signalledBy?: "timeout" | "abort" | undefined;
  readonly ending?: Ending | undefined;
}

/** Plays one call to its end and gives what it settled as. */
export async function settle({ risk, throwMeans, signalledBy, ending }: Scene): Promise<SettledCall> {
  const tool = controllableTool({ name: "tool", risk, throwMeans, timeoutMs: 100 });
  const bench = openBench({ tools: [tool] });
  const { signal, abort } = trackedSignal();
  const running = await bench.start([call("tool")], { signal });
  if (signalledBy === "timeout") await bench.advance(100);
  if (signalledBy === "abort") abort();
  ending?.(runningCall(tool, 0));
  await bench.advance(ending === undefined ? 1_000 : 0);
  const [settled] = (await running.result).settled;
  if (settled === undefined) throw new Error("the call has no result");
  return settled;
}

export const verdict = ({ outcome, result: { failureCategory, isError, outcomeUncertain } }: SettledCall): string =>
  [outcome, failureCategory, isError && "error", outcomeUncertain && "uncertain"].filter(Boolean).join(" ");

export const throwsError: Ending = ({ reject }) => reject(new Error("broken pipe"));

export const throwsUnknown: Ending = ({ reject }) => reject(new OutcomeUnknownError("the line went dead"));
