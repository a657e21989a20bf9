/**
 * Calls one executor and reports what it answers.
 * Owns: the executor's promise or iterator. Does not own: time-outs, the grace, what an answer means.
 * Invariants: exactly one report per executor, whatever it does; a report never comes from inside
 * `dispatch` itself; nothing it throws or rejects with escapes.
 */

import { isPromiseLike } from "../../domain/promise-like.ts";
import type { AnyTool, ToolContext } from "../../domain/tool.ts";
import { nextTask } from "../clock.ts";

/** How an executor ended. `interrupted`: an async iterable that was told to return. */
export type ExecutorEnd =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "interrupted" };

/** Whoever has an executor called. */
export interface ExecutorWatcher {
  createContext(): ToolContext;
  readonly signal: AbortSignal;
  /** Told of every value that an async iterable yields before its signal fires. */
  progress(update: unknown): void;
  end(end: ExecutorEnd): void;
}

/** After so many values in a row timers and input have their turn: values that are there at once would keep them out. */
const PULLS_PER_TASK = 1_024;

/** Calls the executor. Its end is reported in a later microtask. */
export function dispatch(tool: AnyTool, prepared: object, watcher: ExecutorWatcher): void {
  let answer: unknown;
  try {
    // `never` stands for the tool's own argument type; its schema has checked these very arguments.
    answer = tool.execute(prepared as never, watcher.createContext());
  } catch (error) {
    queueMicrotask(() => watcher.end({ kind: "threw", error }));
    return;
  }
  if (isReadable(answer, isPromiseLike)) void watchPromise(answer as PromiseLike<unknown>, watcher);
  else queueMicrotask(() => watchValue(answer, watcher));
}

/**
 * A thenable of the tool's own may throw, call back at once or twice; awaiting makes one answer of it. Never
 * rejects, since a watcher does not throw.
 */
async function watchPromise(answer: PromiseLike<unknown>, watcher: ExecutorWatcher): Promise<void> {
  let value: unknown;
  try {
    value = await answer;
  } catch (error) {
    watcher.end({ kind: "threw", error });
    return;
  }
  watchValue(value, watcher);
}

function watchValue(value: unknown, watcher: ExecutorWatcher): void {
  if (!isReadable(value, isAsyncIterable)) {
    watcher.end({ kind: "returned", value });
    return;
  }
  drain(value as AsyncIterable<unknown>, watcher).then(
    (end) => watcher.end(end),
    (error: unknown) => watcher.end({ kind: "threw", error }),
  );
}

/**
 * Reads an async iterable to its end. Once the signal fires it is told to return, and only what it was
 * already about to answer counts: an end is its real result, a value is dropped (CAN-2). It is pulled at a pace
 * that lets its time-out fire (CAN-3).
 */
async function drain(iterable: AsyncIterable<unknown>, watcher: ExecutorWatcher): Promise<ExecutorEnd> {
  const iterator = iterable[Symbol.asyncIterator]();
  const { signal } = watcher;
  let closing: Promise<void> | undefined;
  const close = (): void => {
    closing ??= tellToReturn(iterator);
    closing.then(undefined, () => undefined);
  };
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
  let last: unknown;
  try {
    for (let pulls = 1; ; pulls++) {
      const next = await iterator.next();
      if (next.done === true) {
        // A generator that is told to return still answers the `next` before it with an end of its own.
        const endedItself = closing === undefined || next.value !== undefined || isGenerator(iterator);
        if (!endedItself) return { kind: "interrupted" };
        return { kind: "returned", value: next.value === undefined ? last : next.value };
      }
      if (closing === undefined) {
        last = next.value;
        watcher.progress(last);
      }
      if (pulls % PULLS_PER_TASK === 0) await nextTask();
      if (closing !== undefined) {
        await closing;
        return { kind: "interrupted" };
      }
    }
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** Async, so that a `return` that throws at once is a rejection too: a signal's listener must not throw. */
async function tellToReturn(iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.();
}

function isGenerator(iterator: AsyncIterator<unknown>): boolean {
  return (iterator as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === "AsyncGenerator";
}

function isAsyncIterable(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { [Symbol.asyncIterator]?: unknown })[Symbol.asyncIterator] === "function"
  );
}

/** A test that reads a tool's value, where reading may throw. */
function isReadable(value: unknown, test: (value: unknown) => boolean): boolean {
  try {
    return test(value);
  } catch {
    return false;
  }
}
