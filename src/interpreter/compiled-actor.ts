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

/** Does what a chart asks for. */
export interface EffectPerformer {
  perform(emitted: EventObject): void;
}

/** What an actor is started with. */
export interface CompiledActorOptions {
  readonly id: string;
  readonly input: unknown;
  /** Told of every emitted event; further listeners may come by {@link CompiledActor.on}. */
  readonly driver: EffectPerformer;
}

/** See the file header. */
export class CompiledActor {
  readonly id: string;
  /** There is no XState actor behind it. */
  readonly ref = undefined;
  readonly #table: ChartTable;
  readonly #driver: EffectPerformer;
  #row: ChartRow;
  #context: object;
  #output: unknown;
  #snapshot: CompiledSnapshot | undefined;
  #mailbox: EventObject[] | undefined;
  #isProcessing = false;
  #observers: Set<SnapshotObserver> | undefined;
  #listeners: Map<string, Set<(emitted: EventObject) => void>> | undefined;

  constructor(table: ChartTable, { id, input, driver }: CompiledActorOptions) {
    this.id = id;
    this.#table = table;
    this.#driver = driver;
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

  /** The state value, without a snapshot. */
  get value(): string | object {
    return this.#row.value;
  }

  /** Processes an event, after those that are being processed. */
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
    this.#snapshot ??= new Snapshot(this.#row, this.#context, this.#output);
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
    const transition = this.#choose(event);
    this.#isProcessing = true;
    try {
      if (transition !== undefined) this.#take(transition, event);
      if (this.#observers !== undefined) this.#tellObservers(this.#observers);
    } finally {
      this.#isProcessing = false;
    }
  }

  #choose(event: EventObject): CompiledTransition | undefined {
    const candidates = this.#row.on.get(event.type);
    if (candidates === undefined) return undefined;
    for (const candidate of candidates) {
      if (candidate.guard === undefined || candidate.guard({ context: this.#context, event })) return candidate;
    }
    return undefined;
  }

  #take(transition: CompiledTransition, event: EventObject): void {
    const emitted = this.#apply(transition.actions, event);
    this.#row = transition.target;
    this.#snapshot = undefined;
    if (this.#row.isFinal) this.#output = this.#table.createOutput?.({ context: this.#context, event });
    this.#handOut(emitted);
  }

  /** Updates the context and returns what is to be emitted: nothing, one event, or a list of them. */
  #apply(actions: readonly CompiledAction[], event: EventObject): EventObject | readonly EventObject[] | undefined {
    let emitted: EventObject | EventObject[] | undefined;
    for (const action of actions) {
      if (action.kind === "assign") {
        this.#context = action.update({ context: this.#context, event });
        continue;
      }
      const made = action.event ?? action.make({ context: this.#context, event });
      if (emitted === undefined) emitted = made;
      else if (Array.isArray(emitted)) emitted.push(made);
      else emitted = [emitted, made];
    }
    return emitted;
  }

  #handOut(emitted: EventObject | readonly EventObject[] | undefined): void {
    if (emitted === undefined) return;
    if (!isList(emitted)) this.#tell(emitted);
    else for (const event of emitted) this.#tell(event);
  }

  #tell(event: EventObject): void {
    this.#driver.perform(event);
    if (this.#listeners === undefined) return;
    for (const listener of this.#listeners.get(event.type) ?? []) listener(event);
    for (const listener of this.#listeners.get("*") ?? []) listener(event);
  }

  #tellObservers(observers: ReadonlySet<SnapshotObserver>): void {
    const snapshot = this.getSnapshot();
    for (const observer of observers) observer.next?.(snapshot);
    if (!this.#row.isFinal) return;
    for (const observer of observers) observer.complete?.();
    this.#observers = undefined;
  }
}

/** One moment of an actor; its state is shared with the chart's table. */
class Snapshot implements CompiledSnapshot {
  readonly context: object;
  readonly output: unknown;
  readonly error = undefined;
  readonly #row: ChartRow;

  constructor(row: ChartRow, context: object, output: unknown) {
    this.#row = row;
    this.context = context;
    this.output = output;
  }

  get status(): "active" | "done" {
    return this.#row.isFinal ? "done" : "active";
  }

  get value(): string | object {
    return this.#row.value;
  }

  hasTag(tag: string): boolean {
    return this.#row.tags.has(tag);
  }

  can(event: EventObject): boolean {
    const scope = { context: this.context, event };
    return this.#row.on.get(event.type)?.some(({ guard }) => guard === undefined || guard(scope)) === true;
  }

  matches(value: string): boolean {
    const own = this.#row.value;
    return own === value || (typeof own === "object" && value in own);
  }

  toJSON(): object {
    return { status: this.status, value: this.value, context: this.context, output: this.output };
  }
}

function isList(emitted: EventObject | readonly EventObject[]): emitted is readonly EventObject[] {
  return Array.isArray(emitted);
}
