import type { Hook } from "../domain/hooks.ts";
import type { Clock } from "../domain/ports.ts";
import { isPromiseLike } from "../domain/promise-like.ts";
import type { HookAnswer } from "../prepare/host-policy.ts";
import type { Deadlines } from "./deadlines.ts";

/** What bounds a hook. */
export interface HookBounds {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** In place of which a hook may have its own. */
  readonly timeoutMs: number;
  /** Fires when the run is cancelled. */
  readonly cancellation: AbortSignal;
  /** How long the hook may go on after a cancellation; 0: it is not waited for at all. */
  readonly graceMs: number;
}

/** A hook as one shape: its function, and its own time-out if it has one. */
export function readHook<Run>(hook: Hook<Run>): { readonly run: Run; readonly timeoutMs: number | null | undefined } {
  // A hook is a function or an object with one; the option check has refused everything else.
  return typeof hook === "object" && hook !== null && "run" in hook ? hook : { run: hook as Run, timeoutMs: undefined };
}

/**
 * Calls a hook, bounded by its time-out and by cancellation; never throws or rejects. The hook's signal
 * fires when either happens. An answer that comes after that is dropped (PREP-13).
 */
export function callHook<Input extends object, Answer>(
  hook: Hook<(input: Input & { readonly signal: AbortSignal }) => Answer | Promise<Answer>>,
  facts: Input,
  bounds: HookBounds,
): HookAnswer<Answer> | Promise<HookAnswer<Answer>> {
  const { run, timeoutMs = bounds.timeoutMs } = readHook(hook);
  const controller = new AbortController();
  let pending: Promise<Answer>;
  try {
    const answer = run({ ...facts, signal: controller.signal });
    if (!isPromiseLike(answer)) return { kind: "answered", answer };
    // A promise of the platform's own: one of any other make could throw when it is waited for.
    pending = Promise.resolve(answer);
  } catch (error) {
    return { kind: "threw", error };
  }
  return boundAnswer(pending, { ...bounds, timeoutMs: timeoutMs ?? Number.POSITIVE_INFINITY }, controller);
}

/** What a hook threw, as the cause of the error that tells of it. */
export function causeOf(answer: HookAnswer<unknown>): Pick<ErrorOptions, "cause"> {
  return answer.kind === "threw" ? { cause: answer.error } : {};
}

function boundAnswer<Answer>(
  pending: Promise<Answer>,
  bounds: HookBounds,
  controller: AbortController,
): Promise<HookAnswer<Answer>> {
  const { clock, deadlines, cancellation } = bounds;
  return new Promise((resolve) => {
    const end = (answer: HookAnswer<Answer>): void => {
      deadlines.disarm(deadline);
      cancellation.removeEventListener("abort", onCancel);
      resolve(answer);
    };
    const onTimeout = (): void => {
      controller.abort(new DOMException("The hook timed out.", "TimeoutError"));
      end({ kind: "timedOut" });
    };
    const arm = (atMs: number) => (Number.isFinite(atMs) ? deadlines.arm(atMs, onTimeout) : undefined);
    const overAtMs = clock.now() + bounds.timeoutMs;
    const onCancel = (): void => {
      controller.abort(cancellation.reason);
      deadlines.disarm(deadline);
      // The grace shortens the hook's time, it never lengthens it.
      if (bounds.graceMs > 0) deadline = arm(Math.min(overAtMs, clock.now() + bounds.graceMs));
      else end({ kind: "timedOut" });
    };
    let deadline = arm(overAtMs);
    pending.then(
      (answer) => end({ kind: "answered", answer }),
      (error: unknown) => end({ kind: "threw", error }),
    );
    if (cancellation.aborted) onCancel();
    else cancellation.addEventListener("abort", onCancel, { once: true });
  });
}
