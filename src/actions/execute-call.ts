/**
 * What the executor of a durable tool does for one call.
 * Owns: nothing. Upholds: ACT-3, ACT-7, ACT-9, and RUN-6 for calls that an earlier process has dispatched:
 * nothing is certain of those until the journal has answered.
 */
import type { DurableToolContext, GameActionIntent } from "../domain/action.ts";
import type { DeclaredResult } from "../domain/content.ts";
import { KernelError } from "../domain/errors.ts";
import type { JournalEntry } from "../domain/journal.ts";
import type { ToolContext } from "../domain/tool.ts";
import type { DispatchedCall } from "./dispatch-action.ts";
import type { GameActionDispatcher } from "./dispatcher.ts";
import { resultOfDispatched, resultOfError } from "./durable-results.ts";
import { forgottenReceipt, uncertainReceipt } from "./receipt.ts";

/** One call, and what is needed to execute it. */
export interface DurableExecution {
  readonly dispatcher: Pick<GameActionDispatcher, "dispatchCall" | "findCall">;
  readonly intent: GameActionIntent;
  readonly context: ToolContext & DurableToolContext;
  /** Asks the host which state the action is decided on. */
  readonly askRevision: () => number | undefined | Promise<number | undefined>;
}

/** Never rejects. */
export async function executeCall(execution: DurableExecution): Promise<DeclaredResult> {
  const { context, intent } = execution;
  try {
    if (context.wasDispatched === true) return await goOn(execution);
    return resultOfDispatched(await dispatchAnew(execution), context.stopCause);
  } catch (error) {
    return resultOfError(error, intent);
  }
}

/** As {@link executeCall}, where an earlier process may have done it: the journal decides (RUN-6). */
async function goOn(execution: DurableExecution): Promise<DeclaredResult> {
  const { dispatcher, intent, context } = execution;
  let entry: JournalEntry | undefined;
  try {
    entry = await dispatcher.findCall(intent.operationId);
    if (mayBeDone(entry)) {
      // The expected revision that is stored stands (ACT-7), and nobody is asked again.
      const dispatched = await dispatch(execution, intent);
      return dispatched.receipt === undefined ? doubt(intent) : resultOfDispatched(dispatched, context.stopCause);
    }
  } catch (error) {
    if (isMisfit(error)) throw error;
    // What it came to is known for ever, also when its receipt is not (ACT-10).
    const receipt = entry?.forgotten === true ? forgottenReceipt(intent, entry.state) : undefined;
    return receipt === undefined ? doubt(intent) : resultOfDispatched(replay(intent, receipt));
  }
  return resultOfDispatched(await dispatchAnew(execution), context.stopCause);
}

/** Whether the journal does not prove that nothing was dispatched. */
function mayBeDone(entry: JournalEntry | undefined): boolean {
  return entry !== undefined && entry.state !== "prepared" && entry.state !== "abandoned";
}

/** Another action has the id, so that this one was refused before anything ran (ACT-7). */
function isMisfit(error: unknown): boolean {
  return error instanceof KernelError && error.code === "INTENT_MISMATCH";
}

function doubt(intent: GameActionIntent): DeclaredResult {
  return resultOfDispatched(replay(intent, uncertainReceipt(intent, "journal_silent")));
}

function replay(intent: GameActionIntent, receipt: NonNullable<DispatchedCall["receipt"]>): DispatchedCall {
  return { intent, receipt, disposition: "replayed", timings: { totalMs: 0, hostMs: 0, frameworkMs: 0 } };
}

/** A question that is not answered when the signal fires dispatches nothing, and that is certain. */
async function dispatchAnew(execution: DurableExecution): Promise<DispatchedCall> {
  const { intent, askRevision, context } = execution;
  const expectedRevision = await untilAborted(askRevision(), context.signal);
  return dispatch(execution, { ...intent, ...(expectedRevision !== undefined && { expectedRevision }) });
}

function dispatch({ dispatcher, context }: DurableExecution, intent: GameActionIntent): Promise<DispatchedCall> {
  const { conflictWaitMs = Number.POSITIVE_INFINITY } = context; // now, since a question may have taken its time
  const { signal, watchAction: watch } = context;
  return dispatcher.dispatchCall(intent, { signal, maxWaitMs: conflictWaitMs, watch });
}

/** What a promise came to, or undefined once the signal has fired. */
async function untilAborted<Value>(value: Value | Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  let stop = (): void => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([value, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
