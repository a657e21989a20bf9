/**
 * Calls one executor and reports what it answers.
 * Owns: the executor's promise or iterator. Does not own: time-outs, the grace, what an answer means.
 * Invariants: exactly one report per executor, whatever it does; a report never comes from inside
 * `dispatch` itself; nothing it throws or rejects with escapes.
 */
import type { AnyTool, ToolContext } from "../domain/tool.ts";
import { isPromiseLike } from "../prepare/steps.ts";

/** How an executor ended. `interrupted`: an async iterable that was told to return. */
export type ExecutorEnd =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "interrupted" };

/** What one dispatch needs. */
export interface Dispatch {
  readonly tool: AnyTool;
  readonly arguments: object;
  readonly context: ToolContext;
  /** Told of every value that an async iterable yields before its signal fires. */
  readonly onProgress: (update: unknown) => void;
  readonly onEnd: (end: ExecutorEnd) => void;
}

/** Calls the executor. Its end is reported in a later microtask. */
export function dispatch(given: Dispatch): void {
  const { tool, context, onEnd } = given;
  let answer: unknown;
  try {
    // `never` stands for the tool's own argument type; its schema has checked these very arguments.
    answer = tool.execute(given.arguments as never, context);
  } catch (error) {
    queueMicrotask(() => onEnd({ kind: "threw", error }));
    return;
  }
  watch(given, answer);
}

function watch(given: Dispatch, answer: unknown): void {
  const { onEnd } = given;
  if (isReadable(answer, isPromiseLike)) {
    (answer as PromiseLike<unknown>).then(
      (value) => watchIterable(given, value),
      (error: unknown) => onEnd({ kind: "threw", error }),
    );
    return;
  }
  queueMicrotask(() => watchIterable(given, answer));
}

function watchIterable(given: Dispatch, value: unknown): void {
  if (!isReadable(value, isAsyncIterable)) {
    given.onEnd({ kind: "returned", value });
    return;
  }
  drain(value as AsyncIterable<unknown>, given).then(given.onEnd, (error: unknown) =>
    given.onEnd({ kind: "threw", error }),
  );
}

/**
 * Reads an async iterable to its end. Once the signal fires it is told to return, and only what it was
 * already about to answer counts: an end is its real result, a value is dropped (CAN-2).
 */
async function drain(iterable: AsyncIterable<unknown>, { context, onProgress }: Dispatch): Promise<ExecutorEnd> {
  const iterator = iterable[Symbol.asyncIterator]();
  const { signal } = context;
  let closing: PromiseLike<unknown> | undefined;
  const close = (): void => {
    closing ??= Promise.resolve(iterator.return?.());
    closing.then(undefined, () => undefined);
  };
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
  let last: unknown;
  try {
    for (;;) {
      const next = await iterator.next();
      if (next.done === true) {
        // A generator that is told to return still answers the `next` before it with an end of its own.
        const endedItself = closing === undefined || next.value !== undefined || isGenerator(iterator);
        if (!endedItself) return { kind: "interrupted" };
        return { kind: "returned", value: next.value === undefined ? last : next.value };
      }
      if (closing === undefined) {
        last = next.value;
        onProgress(last);
      }
      if (closing !== undefined) {
        await closing;
        return { kind: "interrupted" };
      }
    }
  } finally {
    signal.removeEventListener("abort", close);
  }
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
