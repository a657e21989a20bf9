import { planEpochs } from "../../plan/plan-epochs.ts";
import type { CallRun } from "../call/run-call.ts";
import type { BatchRun } from "./run-batch.ts";

/** An epoch of a plan; its number is the plan's, also where earlier epochs are behind it already. */
export interface PlannedEpoch {
  readonly epoch: number;
  readonly calls: readonly CallRun[];
}

/**
 * The epochs of the calls that may run, in order (EPOCH-2). What an earlier process has planned stands,
 * even if the tools are marked otherwise now (RUN-6).
 */
export function planBatch({ calls, core, turn, response }: BatchRun): readonly PlannedEpoch[] {
  const open = calls.filter((call) => call.state === "authorized");
  const known = response.stored?.epochs;
  if (known !== undefined) return restorePlan(known, open);
  const epochs = planEpochs(open, core.settings.toolExecution).map((planned, epoch) => ({ epoch, calls: planned }));
  if (core.recorder !== undefined) {
    const indices = epochs.map((planned) => planned.calls.map(({ callIndex }) => callIndex));
    // Needs no waiting for: a dispatch is recorded behind it.
    core.recorder.note({ kind: "planned", turn, epochs: indices });
  }
  return epochs;
}

function restorePlan(epochs: readonly (readonly number[])[], open: readonly CallRun[]): readonly PlannedEpoch[] {
  return epochs
    .map((indices, epoch) => ({ epoch, calls: open.filter(({ callIndex }) => indices.includes(callIndex)) }))
    .filter(({ calls }) => calls.length > 0);
}
