/**
 * Steps that read top to bottom and wait only where something has to be waited for.
 * A call whose tool and hooks answer at once is prepared without a promise; the first promise makes the
 * rest asynchronous.
 */
import { ignoreRejection, isPromiseLike } from "../domain/promise-like.ts";

/** Work that may wait: a generator that yields the promises it waits for. */
export type Steps<Result> = Generator<PromiseLike<unknown>, Result, unknown>;

/** Waits for a value, if it is a promise: `const answer = yield* wait(hook())`. */
export function* wait<Value>(value: Value | PromiseLike<Value>): Steps<Value> {
  if (!isPromiseLike(value)) return value;
  return (yield value) as Value; // `runSteps` answers a yielded promise with what it resolved to
}

/** Runs steps to their end: at once when nothing had to be waited for, otherwise as a promise. */
export function runSteps<Result>(steps: Steps<Result>): Result | Promise<Result> {
  const first = steps.next();
  return first.done === true ? first.value : finishSteps(steps, first.value);
}

/**
 * Passes on what code has answered that may not wait. A promise is no answer, and whoever reads it will
 * say so; that it rejects must not end the process beside that.
 */
export function takeNow<Value>(answer: Value): Value {
  ignoreRejection(answer);
  return answer;
}

async function finishSteps<Result>(steps: Steps<Result>, pending: PromiseLike<unknown>): Promise<Result> {
  let next = await advance(steps, pending);
  while (next.done !== true) next = await advance(steps, next.value);
  return next.value;
}

async function advance<Result>(
  steps: Steps<Result>,
  pending: PromiseLike<unknown>,
): Promise<IteratorResult<PromiseLike<unknown>, Result>> {
  let value: unknown;
  try {
    value = await pending;
  } catch (error) {
    return steps.throw(error);
  }
  return steps.next(value);
}
