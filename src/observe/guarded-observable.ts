/**
 * An rxjs Observable whose subscribers cannot hurt anybody.
 * rxjs reports what a subscriber throws, and an error nobody handles, in a timer of its own, which ends
 * most processes. Here both go to one place, and the subscriber is dropped (OBS-1). Operators are kept
 * inside the guard, so a throw in a `map` is caught as well.
 */

import { Observable, type Observer, type Operator, Subscriber, type Subscription } from "rxjs";
import { checkGiven, mustBeRecord, type OptionCheck } from "../domain/check-options.ts";

type Consumer<Value> = Partial<Observer<Value>> | ((value: Value) => void) | null | undefined;

const mustBeConsumer: OptionCheck = (value) => {
  if (value === null || value === undefined || typeof value === "function" || value instanceof Subscriber)
    return undefined;
  if (mustBeRecord(value) !== undefined) return "must be a function or an observer";
  const { next, error, complete } = value as Partial<Observer<unknown>>; // looked at, not trusted
  const areFunctions = [next, error, complete].every((each) => each === undefined || typeof each === "function");
  return areFunctions ? undefined : "must have only functions";
};

class GuardedObservable<Value> extends Observable<Value> {
  readonly #onFault: (error: unknown) => void;

  constructor(connect: ((subscriber: Subscriber<Value>) => () => void) | undefined, onFault: (error: unknown) => void) {
    super(connect);
    this.#onFault = onFault;
  }

  override lift<Result>(operator?: Operator<Value, Result>): Observable<Result> {
    const lifted = new GuardedObservable<Result>(undefined, this.#onFault);
    lifted.source = this;
    lifted.operator = operator;
    return lifted;
  }

  override subscribe(
    consumer?: Consumer<Value>,
    error?: ((fault: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    checkGiven(consumer, "observer", mustBeConsumer);
    // A Subscriber is one of rxjs's own, from an operator: the guard stands at the end of its chain.
    if (consumer instanceof Subscriber) return super.subscribe(consumer);
    return super.subscribe(this.#guard(consumer, error, complete));
  }

  #guard(
    consumer: Consumer<Value>,
    error: ((fault: unknown) => void) | null | undefined,
    complete: (() => void) | null | undefined,
  ): Subscriber<Value> {
    const observer: Partial<Observer<Value>> =
      typeof consumer === "function" || consumer === null || consumer === undefined
        ? { ...(consumer && { next: consumer }), ...(error && { error }), ...(complete && { complete }) }
        : consumer;
    const guarded: Subscriber<Value> = new Subscriber<Value>({
      next: (value) => this.#attempt(guarded, () => observer.next?.(value)),
      error: (fault: unknown) =>
        observer.error === undefined ? this.#onFault(fault) : this.#attempt(guarded, () => observer.error?.(fault)),
      complete: () => this.#attempt(guarded, () => observer.complete?.()),
    });
    return guarded;
  }

  #attempt(subscriber: Subscriber<Value>, call: () => void): void {
    try {
      call();
    } catch (fault) {
      subscriber.unsubscribe();
      this.#onFault(fault);
    }
  }
}

/**
 * Makes an Observable from a source that is connected anew for each subscriber and returns how to stop
 * it. `onFault` is told what subscribers throw.
 */
export function createGuardedObservable<Value>(
  connect: (next: (value: Value) => void, complete: () => void) => () => void,
  onFault: (error: unknown) => void,
): Observable<Value> {
  return new GuardedObservable<Value>((subscriber) => {
    const stop = connect(
      (value) => subscriber.next(value),
      () => subscriber.complete(),
    );
    return stop;
  }, onFault);
}
