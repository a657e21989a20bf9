/**
 * The events of one batch or run: kept for late readers, handed to listeners.
 * Owns: the event log, the listeners, whether it has ended. Does not own: sequence numbers and times
 * (given with each event). Invariants (OBS-1): every listener sees every event once, from the first on,
 * in order, and as it was emitted, since what is handed out is frozen; calls of one listener never overlap; a listener that throws or rejects is reported once and
 * dropped; no listener slows or breaks another, or the run.
 */
import type { Observable } from "rxjs";
import { checkGiven, mustBeFunction } from "../domain/check-options.ts";
import type { KernelEvent } from "../domain/event.ts";
import { isPromiseLike } from "../domain/promise-like.ts";
import { createGuardedObservable } from "./guarded-observable.ts";

/** A listener. *Contract*: may be async, then its next event waits for it; a throw drops it. */
export type EventListener = (event: KernelEvent) => unknown;

interface Subscriber {
  readonly listener: EventListener;
  readonly onEnd: (() => void) | undefined;
  /** Place in the log of the next event it gets. */
  next: number;
  isBusy: boolean;
  isDropped: boolean;
}

/** See the file header. */
export class EventHub {
  readonly #log: KernelEvent[] = [];
  readonly #subscribers = new Set<Subscriber>();
  readonly #onFault: (error: unknown) => void;
  #hasEnded = false;
  #events$: Observable<KernelEvent> | undefined;

  /** `onFault` is told once of each listener that was dropped for throwing. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Adds an event and hands it out; nothing a listener does comes back from here. */
  emit(event: KernelEvent): void {
    this.#log.push(event);
    if (this.#subscribers.size === 0) return;
    for (const subscriber of this.#subscribers) this.#deliver(subscriber);
  }

  /** No event follows; readers end once they have read all. */
  end(): void {
    this.#hasEnded = true;
    for (const subscriber of this.#subscribers) this.#deliver(subscriber);
  }

  /**
   * Every event from the first on, as they come; returns a function that stops it.
   * @throws KernelError `INVALID_OPTIONS` for a listener that is not a function.
   */
  subscribe(listener: EventListener, onEnd?: () => void): () => void {
    checkGiven(listener, "listener", mustBeFunction);
    const subscriber: Subscriber = { listener, onEnd, next: 0, isBusy: false, isDropped: false };
    this.#subscribers.add(subscriber);
    this.#deliver(subscriber);
    return () => this.#drop(subscriber);
  }

  /** The same as an rxjs Observable; a subscriber that throws is dropped, never an uncaught exception. */
  get events$(): Observable<KernelEvent> {
    this.#events$ ??= createGuardedObservable(
      (next, complete) => this.subscribe(next, complete),
      (error) => this.#onFault(error),
    );
    return this.#events$;
  }

  /** The same as an async iterator; leaving it early changes nothing for anybody else. */
  async *iterate(): AsyncGenerator<KernelEvent, void, undefined> {
    let wake: () => void = () => undefined;
    const stop = this.subscribe(
      () => wake(),
      () => wake(),
    );
    try {
      for (let index = 0; ; index++) {
        while (index >= this.#log.length) {
          if (this.#hasEnded) return;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const event = this.#log[index];
        if (event !== undefined) yield Object.freeze(event);
      }
    } finally {
      stop();
    }
  }

  #deliver(subscriber: Subscriber): void {
    if (subscriber.isBusy) return;
    subscriber.isBusy = true;
    while (!subscriber.isDropped) {
      const event = this.#log[subscriber.next];
      if (event === undefined) break;
      subscriber.next += 1;
      const answer = this.#call(subscriber, event);
      if (answer === undefined) continue;
      // A promise makes one later answer of any thenable, which may call back at once or twice, or throw.
      new Promise((resolve) => resolve(answer)).then(
        () => this.#resume(subscriber),
        (error) => this.#fail(subscriber, error),
      );
      return;
    }
    subscriber.isBusy = false;
    if (this.#hasEnded && !subscriber.isDropped) this.#finish(subscriber);
  }

  /** Calls the listener; returns its promise when it is still at work. */
  #call(subscriber: Subscriber, event: KernelEvent): PromiseLike<unknown> | undefined {
    try {
      const answer = subscriber.listener(Object.freeze(event));
      return isPromiseLike(answer) ? answer : undefined;
    } catch (error) {
      this.#fail(subscriber, error);
      return undefined;
    }
  }

  #resume(subscriber: Subscriber): void {
    subscriber.isBusy = false;
    this.#deliver(subscriber);
  }

  #fail(subscriber: Subscriber, error: unknown): void {
    this.#drop(subscriber);
    this.#onFault(error);
  }

  #finish(subscriber: Subscriber): void {
    this.#drop(subscriber);
    try {
      subscriber.onEnd?.();
    } catch (error) {
      this.#onFault(error);
    }
  }

  #drop(subscriber: Subscriber): void {
    subscriber.isDropped = true;
    this.#subscribers.delete(subscriber);
  }
}
