/**
 * What can happen to composed batches, and all that follows from it by itself, as `src/run` puts the same parts
 * together. `batches.test.ts` holds it to the real kernel, step by step.
 */
import { performBatch, startBatch } from "./batch-steps.ts";
import { type Addressee, ComposedBatch, type Mail, type SchedulerWatcher, send } from "./composed-batch.ts";
import { launch, performEpoch, tellCall } from "./epoch-steps.ts";
import { recheck, releaseLanes } from "./lane-steps.ts";
import {
  callOf,
  factsFor,
  LATER_MS,
  NOW_MS,
  type SchedulerParts,
  type Scope,
  type Stimulus,
  take,
} from "./scheduler-state.ts";

/** Starts the first batch of a scope. */
export function startScope(parts: SchedulerParts, scope: Scope, watcher: SchedulerWatcher = {}): ComposedBatch {
  const kinds = scope.batches.flatMap((batch, place) => batch.map((kind) => ({ kind, batch: place })));
  const calls = kinds.map(({ kind, batch }, index) => callOf(parts, { kind, batch, index }));
  const system = new ComposedBatch({ parts, scope, watcher }, calls);
  startBatch(system, 0);
  deliverAll(system);
  return system;
}

/** Everything that can happen now. */
export function stimuliOf(system: ComposedBatch): Stimulus[] {
  const stimuli: Stimulus[] = system.isOver || system.isCancelled ? [] : [{ kind: "cancel" }];
  for (const call of system.calls) {
    for (const fact of factsFor(call)) stimuli.push({ kind: "call", call: call.index, fact });
    if (!call.hasLeft && call.heldUntilMs === LATER_MS) stimuli.push({ kind: "holdOver", call: call.index });
  }
  return stimuli;
}

/** Lets something happen, and all that follows from it by itself. */
export function applyStimulus(system: ComposedBatch, stimulus: Stimulus): void {
  switch (stimulus.kind) {
    case "cancel":
      system.isCancelled = true;
      send(system, "batch", { type: "CANCEL" });
      break;
    case "holdOver":
      endHold(system, stimulus.call);
      break;
    case "call":
      tellFact(system, stimulus);
      break;
  }
  deliverAll(system);
}

function endHold(system: ComposedBatch, index: number): void {
  const call = system.callAt(index);
  call.heldUntilMs = NOW_MS;
  call.isHoldOver = true;
  recheck(system);
}

function tellFact(system: ComposedBatch, { call: index, fact }: Stimulus & { readonly kind: "call" }): void {
  const call = system.callAt(index);
  if (fact !== "TIMED_OUT" && fact !== "GRACE_OVER") call.hasExecutorEnded = true;
  send(system, call, { type: fact });
  if (fact !== "EXECUTOR_ENDED") return;
  deliverAll(system);
  if (call.heldUntilMs !== undefined) releaseLanes(system, call);
  recheck(system);
}

function deliverAll(system: ComposedBatch): void {
  // What is delivered may send more, which comes behind.
  for (const mail of system.mail) deliver(system, mail);
  system.mail.length = 0;
}

function deliver(system: ComposedBatch, mail: Mail): void {
  switch (mail.kind) {
    case "event":
      tell(system, mail);
      break;
    case "batchEffect":
      performBatch(system, mail.effect);
      break;
    case "launch":
      launch(system, mail.call);
      break;
  }
}

function tell(system: ComposedBatch, { to, event }: Mail & { readonly kind: "event"; readonly to: Addressee }): void {
  if (to === "batch") {
    for (const effect of take(system.batchActor, event)) system.mail.push({ kind: "batchEffect", effect });
  } else if (to === "epoch") {
    if (system.epochActor === undefined) return;
    for (const effect of take(system.epochActor, event)) performEpoch(system, effect);
  } else {
    tellCall(system, to, event);
  }
}
