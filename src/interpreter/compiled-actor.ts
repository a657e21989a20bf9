/**
 * An actor over a compiled chart.
 * Owns: its state, its context, its mailbox. Invariants, as of XState's own actor: one event at a time, to
 * its end; what is emitted is handed out after the state has changed, in order, before observers are told;
 * observers are told of the start and of every event, also an ignored one; after a final state nothing is processed.
 */
import type { EventObject } from "xstate";
import type { ChartRow, ChartTable, CompiledAction, CompiledTransition } from "./compile-chart.ts";

/** What an actor shows of itself; the fields of an XState snapshot. */
export interface CompiledSnapshot {
  readonly status: "active" | "done";
  readonly value: string | object;
  readonly context: object;
  readonly output: unknown;
  readonly error: undefined;
  hasTag(tag: string): boolean;
  can(event: EventObject): boolean;
  matches(value: string): boolean;
}

/** Somebody who watches snapshots. */
export interface SnapshotObserver {
  readonly next?: ((snapshot: CompiledSnapshot) => void) | undefined;
  readonly complete?: (() => void) | undefined;
}

/** What an actor is started with. */
export interface CompiledActorOptions {
  readonly id: string;
  readonly input: unknown;
  readonly onEmitted: (emitted: EventObject) => void;
}

/** See the file header. */
export class CompiledActor {
  readonly id: string;
  /** There is no XState actor behind it. */
  readonly ref = undefined;
  readonly #table: ChartTable;
  readonly #onEmitted: (emitted: EventObject) => void;
  #row: ChartRow;
  #context: object;
  #output: unknown;
  #snapshot: CompiledSnapshot | undefined;
  #mailbox: EventObject[] | undefined;
  #isProcessing = false;
  #observers: Set<SnapshotObserver> | undefined;
  #listeners: Map<string, Set<(emitted: EventObject) => void>> | undefined;

  /** `onEmitted` is told of every emitted event; further listeners may come by {@link CompiledActor.on}. */
  constructor(table: ChartTable, { id, input, onEmitted }: CompiledActorOptions) {
    this.id = id;
    this.#table = table;
    this.#onEmitted = onEmitted;
    this.#row = table.initial;
    this.#context = table.createContext(input);
  }

  /** Enters the initial state; what that emits is handed out now. */
  start(): this {
    this.#isProcessing = true;
    try {
      this.#handOut(this.#apply(this.#table.initialActions, { type: "xstate.init" }));
      if (this.#observers !== undefined) this.#tellObservers(this.#observers);
    } finally {
      this.#isProcessing = false;
    }
    this.#deliver();
    return this;
  }

  get isDone(): boolean {
    return this.#row.isFinal;
  }

  /** Processes an event, behind those that are being processed. */
  send(event: EventObject): void {
    if (this.#isProcessing) {
      this.#mailbox ??= [];
      this.#mailbox.push(event);
      return;
    }
    this.#process(event);
    this.#deliver();
  }

  getSnapshot(): CompiledSnapshot {
    this.#snapshot ??= createSnapshot(this.#row, this.#context, this.#output);
    return this.#snapshot;
  }

  /** Watches snapshots, from the next event on. */
  subscribe(observer: SnapshotObserver | ((snapshot: CompiledSnapshot) => void)): { unsubscribe(): void } {
    const watching = typeof observer === "function" ? { next: observer } : observer;
    if (this.isDone) {
      watching.complete?.();
      return { unsubscribe: () => undefined };
    }
    this.#observers ??= new Set();
    this.#observers.add(watching);
    return { unsubscribe: () => this.#observers?.delete(watching) };
  }

  /** Listens to emitted events of a type, or with `*` to all. */
  on(type: string, listener: (emitted: EventObject) => void): { unsubscribe(): void } {
    this.#listeners ??= new Map();
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(listener));
    return { unsubscribe: () => listeners.delete(listener) };
  }

  #deliver(): void {
    if (this.#mailbox === undefined) return;
    for (let next = this.#mailbox.shift(); next !== undefined; next = this.#mailbox.shift()) this.#process(next);
  }

  #process(event: EventObject): void {
    if (this.#row.isFinal) return;
    const scope = { context: this.#context, event };
    const transition = this.#row.on.get(event.type)?.find(({ guard }) => guard === undefined || guard(scope));
    this.#isProcessing = true;
    try {
      if (transition !== undefined) this.#take(transition, event);
      if (this.#observers !== undefined) this.#tellObservers(this.#observers);
    } finally {
      this.#isProcessing = false;
    }
  }

  #take(transition: CompiledTransition, event: EventObject): void {
    const emitted = this.#apply(transition.actions, event);
    this.#row = transition.target;
    this.#snapshot = undefined;
    if (this.#row.isFinal) this.#output = this.#table.createOutput?.({ context: this.#context, event });
    this.#handOut(emitted);
  }

  /** Updates the context and answers what is to be emitted. */
  #apply(actions: readonly CompiledAction[], event: EventObject): readonly EventObject[] | undefined {
    let emitted: EventObject[] | undefined;
    for (const action of actions) {
      const scope = { context: this.#context, event };
      if (action.kind === "assign") {
        this.#context = action.update(scope);
      } else {
        emitted ??= [];
        emitted.push(action.make(scope));
      }
    }
    return emitted;
  }

  #handOut(emitted: readonly EventObject[] | undefined): void {
    if (emitted === undefined) return;
    for (const event of emitted) {
      this.#onEmitted(event);
      if (this.#listeners === undefined) continue;
      for (const listener of this.#listeners.get(event.type) ?? []) listener(event);
      for (const listener of this.#listeners.get("*") ?? []) listener(event);
    }
  }

  #tellObservers(observers: ReadonlySet<SnapshotObserver>): void {
    const snapshot = this.getSnapshot();
    for (const observer of observers) observer.next?.(snapshot);
    if (!this.#row.isFinal) return;
    for (const observer of observers) observer.complete?.();
    this.#observers = undefined;
  }
}

function createSnapshot(row: ChartRow, context: object, output: unknown): CompiledSnapshot {
  return {
    status: row.isFinal ? "done" : "active",
    value: row.value,
    context,
    output,
    error: undefined,
    hasTag: (tag) => row.tags.has(tag),
    can: (event) =>
      row.on.get(event.type)?.some(({ guard }) => guard === undefined || guard({ context, event })) === true,
    matches: (value) => row.value === value || (typeof row.value === "object" && value in row.value),
  };
}
