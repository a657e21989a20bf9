/**
 * The state of batches under the pure scheduler, which can be copied and told from any other: the charts of batch,
 * epoch and call on their compiled tables, with the very functions of `src/plan` that the kernel runs. What happens
 * to it stands in `composed-steps.ts`, what must be true of it in `invariants.ts`.
 * Owns: where every call stands. Does not own: time (a deadline passes when the explorer says so), prepared
 * arguments, executors (they answer when the explorer says so).
 */
import type { EventObject } from "xstate";
import type { Lanes } from "../../src/plan/lanes.ts";
import {
  type ActorState,
  type CallState,
  CODES,
  codeOf,
  copyLanes,
  type SchedulerParts,
  type Scope,
} from "./scheduler-state.ts";

/** A place in the machinery that invariants look at. */
export interface SchedulerWatcher {
  onDispatch?(system: ComposedBatch, call: CallState): void;
  onSettled?(system: ComposedBatch, call: CallState): void;
}

/** Whom an event is for. */
export type Addressee = CallState | "epoch" | "batch";

/** What is under way inside, in the order in which it was sent; nothing is while the system rests. */
export type Mail =
  | { readonly kind: "event"; readonly to: Addressee; readonly event: EventObject }
  /** What the chart of the batch asks for. */
  | { readonly kind: "batchEffect"; readonly effect: BatchEffect }
  /** A call that has a slot, and is dispatched if it still may be. */
  | { readonly kind: "launch"; readonly call: CallState };

/** What the chart of the batch emits; `epoch` where it names one. */
export type BatchEffect = EventObject & { readonly epoch?: number };

/** What the constructor needs: what stays the same for as long as a scope is explored. */
export type ComposedSetting = Pick<ComposedBatch, "parts" | "scope" | "watcher">;

/** See the file header. Only the steps write it. */
export class ComposedBatch {
  readonly parts: SchedulerParts;
  readonly scope: Scope;
  readonly watcher: SchedulerWatcher;
  readonly calls: readonly CallState[];
  isCancelled = false;
  isOver = false;
  batch = 0;
  epoch = -1;
  /** Indices of calls by epoch; never changed once made. */
  plan: readonly (readonly number[])[] = [];
  batchActor: ActorState;
  epochActor: ActorState | undefined;
  lanes: Lanes<CallState>;
  /** How many slots are taken. */
  running = 0;
  readonly mail: Mail[] = [];

  constructor({ parts, scope, watcher }: ComposedSetting, calls: readonly CallState[]) {
    this.parts = parts;
    this.scope = scope;
    this.watcher = watcher;
    this.calls = calls;
    this.lanes = parts.lanes.createLanes<CallState>();
    this.batchActor = { row: parts.batch.initial, context: {} };
  }

  /** The calls of the batch that runs. */
  get current(): readonly CallState[] {
    return this.calls.filter(({ batch }) => batch === this.batch);
  }

  callAt(index: number): CallState {
    const call = this.calls[index];
    if (call === undefined) throw new Error(`there is no call ${index}`);
    return call;
  }

  /** The calls of an epoch of the batch that runs. */
  callsOf(epoch: number): CallState[] {
    return (this.plan[epoch] ?? []).map((index) => this.callAt(index));
  }

  /** A copy that shares nothing that changes. Only of a system that rests. */
  clone(): ComposedBatch {
    const copy = new ComposedBatch(
      this,
      this.calls.map((call) => ({ ...call })),
    );
    copy.isCancelled = this.isCancelled;
    copy.isOver = this.isOver;
    copy.batch = this.batch;
    copy.epoch = this.epoch;
    copy.plan = this.plan;
    copy.batchActor = { ...this.batchActor };
    copy.epochActor = this.epochActor && { ...this.epochActor };
    copy.lanes = copyLanes(this.lanes, (call) => copy.callAt(call.index));
    copy.running = this.running;
    return copy;
  }

  /** Two systems of one scope with the same key can do the same from here on. */
  key(): number {
    let key = (this.batch * 8 + this.epoch + 1) * 2 + (this.isCancelled ? 1 : 0);
    for (const call of this.calls) key = key * CODES + codeOf(call);
    return key;
  }
}

/** Has an event taken once all that was sent before has been. */
export function send(system: ComposedBatch, to: Addressee, event: EventObject): void {
  system.mail.push({ kind: "event", to, event });
}
