import { createLanes, type Lanes } from "toolkernel";
import type { ControllableTool, SimulatedClock } from "toolkernel/testing";
import { type Bench, keyedTool, openBench } from "./execution-bench.ts";
import { call } from "./run-calls.ts";
import { trackedClock } from "./tracked.ts";

export const keyed = (name: string, keys: string | readonly string[] | null, id: string) =>
  call(name, keys === null ? {} : { keys: keys as string }, id);

export const TIMEOUT_MS = 100;

export interface LaneBench extends Bench {
  readonly write: ControllableTool;
  readonly read: ControllableTool;
}

/** Sessions on one clock that share lanes; only the first has a write that times out. */
export function openSessions(count: number): LaneBench[] {
  const simulated = trackedClock();
  const lanes = createLanes();
  return Array.from({ length: count }, (_, place) => openSession(simulated, { lanes, place }));
}

export function openSession(
  simulated: SimulatedClock,
  { lanes, place }: { readonly lanes: Lanes | undefined; readonly place: number },
): LaneBench {
  const timeoutMs = place === 0 ? TIMEOUT_MS : undefined;
  const write = keyedTool({ name: "write", executionMode: "parallel", timeoutMs });
  const read = keyedTool({ name: "read", risk: "readOnly" });
  return { ...openBench({ simulated, tools: [write, read], lanes, runId: `run${place}` }), write, read };
}

/** Two of them, under short names. */
export function openTwo(): { readonly one: LaneBench; readonly two: LaneBench } {
  const [one, two] = openSessions(2) as [LaneBench, LaneBench];
  return { one, two };
}
