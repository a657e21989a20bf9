/**
 * The shortest time in which the rules let a response be done: an ideal scheduler that costs nothing.
 * Written from the rules and without any code of the kernel, so that the two can be held against each other.
 */
import type { BenchCall } from "../contender.ts";
import { kindOf } from "./mixed-calls.ts";

/** How calls are run. */
export interface IdealOptions {
  /** How many may run at once (EPOCH-3). */
  readonly cap: number;
  readonly durationMs: (call: BenchCall) => number;
}

/** Milliseconds from the first start to the last end. */
export function idealMakespan(calls: readonly BenchCall[], options: IdealOptions): number {
  return epochsOf(calls).reduce((nowMs, epoch) => playEpoch(epoch, nowMs, options), 0);
}

/** A barrier stands alone; what lies between two barriers is one epoch (EPOCH-2). */
function epochsOf(calls: readonly BenchCall[]): readonly (readonly BenchCall[])[] {
  const epochs: BenchCall[][] = [];
  let isOpen = false;
  for (const call of calls) {
    const isBarrier = kindOf(call).kind === "barrier";
    if (isBarrier || !isOpen) epochs.push([]);
    epochs.at(-1)?.push(call);
    isOpen = !isBarrier;
  }
  return epochs;
}

/** Starts what may start, in source order, whenever a slot or a key is free; answers when the last has ended. */
function playEpoch(epoch: readonly BenchCall[], startMs: number, { cap, durationMs }: IdealOptions): number {
  const waiting = [...epoch];
  const running: { readonly endMs: number; readonly key: string | undefined }[] = [];
  let nowMs = startMs;
  while (waiting.length > 0 || running.length > 0) {
    for (let next = findStartable(waiting, running, cap); next !== -1; next = findStartable(waiting, running, cap)) {
      const [call] = waiting.splice(next, 1);
      if (call !== undefined) running.push({ endMs: nowMs + durationMs(call), key: kindOf(call).key });
    }
    nowMs = Math.min(...running.map(({ endMs }) => endMs));
    for (let place = running.length - 1; place >= 0; place--) {
      if (running[place]?.endMs === nowMs) running.splice(place, 1);
    }
  }
  return nowMs;
}

/** The first call, in source order, that has a slot and heads the line for its key (EPOCH-4, EPOCH-5). */
function findStartable(
  waiting: readonly BenchCall[],
  running: readonly { readonly key: string | undefined }[],
  cap: number,
): number {
  if (running.length >= cap) return -1;
  const taken = new Set(running.map(({ key }) => key));
  return waiting.findIndex((call) => {
    const { key } = kindOf(call);
    return key === undefined || !taken.has(key);
  });
}
