/** Visits every state that a scope can reach, by every stimulus in every state, and holds each to the invariants. */
import type { ComposedBatch } from "./composed-batch.ts";
import { applyStimulus, startScope, stimuliOf } from "./composed-steps.ts";
import { faultOfDispatch, faultOfMoment, faultOfResult } from "./invariants.ts";
import type { SchedulerParts, Scope, Stimulus } from "./scheduler-state.ts";

/** What an exploration came to. */
export interface Exploration {
  readonly states: number;
  readonly steps: number;
  /** The first broken invariant, with the way there. */
  readonly fault: string | undefined;
}

/** Explores a scope to its end, or to the first broken invariant. */
export function explore(parts: SchedulerParts, scope: Scope): Exploration {
  let fault: string | undefined;
  const watcher = {
    onDispatch: (system: ComposedBatch, call: Parameters<typeof faultOfDispatch>[1]) => {
      fault ??= faultOfDispatch(system, call);
    },
    onSettled: (system: ComposedBatch, call: Parameters<typeof faultOfResult>[1]) => {
      fault ??= faultOfResult(system, call);
    },
  };
  const start = startScope(parts, scope, watcher);
  fault ??= faultOfMoment(start);
  if (fault !== undefined) fault = `${fault}\n    at the start\n    in ${describeScope(scope)}`;
  const seen = new Set([start.key()]);
  const open: { readonly system: ComposedBatch; readonly way: Way | undefined }[] = [{ system: start, way: undefined }];
  let steps = 0;
  for (let next = open.pop(); next !== undefined && fault === undefined; next = open.pop()) {
    for (const stimulus of stimuliOf(next.system)) {
      const system = next.system.clone();
      const way = { stimulus, before: next.way };
      applyStimulus(system, stimulus);
      steps += 1;
      const key = system.key();
      const isNew = !seen.has(key);
      if (isNew) fault ??= faultOfMoment(system);
      if (fault !== undefined) {
        fault = `${fault}\n    after ${describeWay(way)}\n    in ${describeScope(scope)}`;
        break;
      }
      if (!isNew) continue;
      seen.add(key);
      open.push({ system, way });
    }
  }
  return { states: seen.size, steps, fault };
}

/** A scope in words: `parallel, 2 at once: write k, read | write k`. */
export function describeScope({ batches, mode, cap }: Scope): string {
  const calls = batches.map((kinds) => kinds.map(({ name }) => name).join(", ")).join(" | ");
  return `${mode}, ${cap} at once: ${calls}`;
}

/** A stimulus in words: `TIMED_OUT of 2`. */
export function describeStimulus(stimulus: Stimulus): string {
  if (stimulus.kind === "cancel") return "CANCEL";
  return stimulus.kind === "call" ? `${stimulus.fact} of ${stimulus.call}` : `end of the hold of ${stimulus.call}`;
}

interface Way {
  readonly stimulus: Stimulus;
  readonly before: Way | undefined;
}

function describeWay(way: Way): string {
  const steps: string[] = [];
  for (let place: Way | undefined = way; place !== undefined; place = place.before)
    steps.unshift(describeStimulus(place.stimulus));
  return steps.join(", ");
}
