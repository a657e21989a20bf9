/** What follows where the chart of the batch asks for it: batches one after another, and the epochs of each in order. */
import type { EventObject } from "xstate";
import { type BatchEffect, type ComposedBatch, send } from "./composed-batch.ts";
import { startEpoch } from "./epoch-steps.ts";
import { toolOf } from "./scheduler-state.ts";

/** Starts a batch of the scope, whose calls are prepared. */
export function startBatch(system: ComposedBatch, batch: number): void {
  system.batch = batch;
  system.isCancelled = false;
  system.epoch = -1;
  system.epochActor = undefined;
  const context = system.parts.batch.createContext({ turn: batch + 1, calls: system.current.length });
  system.batchActor = { row: system.parts.batch.initial, context };
  for (const event of [{ type: "PREPARED", undecided: 0 }, { type: "CHECKED" }]) {
    send(system, "batch", event as EventObject);
  }
}

/** Does what the chart asks for. */
export function performBatch(system: ComposedBatch, { type, epoch }: BatchEffect): void {
  switch (type) {
    case "planEpochs":
      planEpochs(system);
      break;
    case "startEpoch":
      startEpoch(system, epoch ?? 0);
      break;
    case "cancelEpoch":
      send(system, "epoch", { type: "CANCEL" });
      break;
    case "cancelCalls":
      for (const call of system.current) send(system, call, { type: "CANCEL" });
      send(system, "batch", { type: "CALLS_SETTLED" });
      break;
    case "settled":
      endBatch(system);
      break;
  }
}

function planEpochs(system: ComposedBatch): void {
  const plannable = system.current.map((call) => ({ call, tool: toolOf(call.kind) }));
  const plan = system.parts.planEpochs(plannable, system.scope.mode);
  system.plan = plan.map((epoch) => epoch.map(({ call }) => call.index));
  for (const place of system.plan.keys()) {
    for (const call of system.callsOf(place)) {
      call.epoch = place;
      send(system, call, { type: "PLANNED" });
    }
  }
  send(system, "batch", { type: "PLANNED", epochs: system.plan.length } as EventObject);
}

function endBatch(system: ComposedBatch): void {
  if (system.batch + 1 < system.scope.batches.length) startBatch(system, system.batch + 1);
  else system.isOver = true;
}
