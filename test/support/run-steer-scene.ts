import type { KernelEvent, Run } from "toolkernel";
import { expect } from "vitest";
import { type AgentBenchOptions, ask, openAgentBench, say } from "./agent-bench.ts";

export const READ_ONCE = [ask("read"), say("one"), say("two")];

/** Plays a run in which something is said at one place: when a listener hears of an event, or a hook is asked. */
export async function playSaying(
  say_: (run: Run) => void,
  place: (event: KernelEvent) => boolean,
  options: AgentBenchOptions = {},
) {
  const bench = openAgentBench({ script: READ_ONCE, ...options });
  const { run, finish } = bench.start();
  let isSaid = false;
  run.subscribe((event) => {
    if (isSaid || !place(event)) return;
    isSaid = true;
    say_(run);
  });
  const played = await finish();
  expect(isSaid).toBe(true);
  return { ...played, requests: bench.requests };
}

export const steer = (run: Run): void => {
  expect(run.steer("look here")).toEqual({ accepted: true });
};

export const isAt = (kind: KernelEvent["kind"], turn: number) => (event: KernelEvent) =>
  event.kind === kind && event.turn === turn;
