import type {
  ActionWatch,
  DispatchResult,
  Disposition,
  GameActionIntent,
  GameActionReceipt,
} from "../domain/action.ts";
import { KernelError } from "../domain/errors.ts";
import { claimAction } from "./claim-action.ts";
import type { DispatchParts } from "./dispatch-parts.ts";
import type { CheckedIntent } from "./intent.ts";
import { performAction } from "./perform-action.ts";
import { uncertainReceipt } from "./receipt.ts";
import { forgottenOperation, reconcileAction } from "./reconcile-action.ts";

/** How an action is to be dispatched. */
export interface DispatchManner {
  readonly signal: AbortSignal | undefined;
  /** Bounds the wait for keys beside the dispatcher's own time-out (ACT-3). */
  readonly maxWaitMs: number;
  /** See `Performance`. */
  readonly graceMs: number | undefined;
  /** Whether an uncertain id is asked about here, or by the kernel (UNC-7). */
  readonly asksRecover: boolean;
  /** Told of the action's life, where somebody inspects. */
  readonly watch?: ActionWatch | undefined;
}

/** An action to dispatch. */
export interface DispatchOrder {
  readonly startedMs: number;
  readonly checked: CheckedIntent;
  readonly manner: DispatchManner;
}

/** What a dispatch came to, with the intent as it is stored: a projection is made of that (PROJ-2). */
export interface DispatchedCall extends DispatchResult {
  readonly intent: GameActionIntent;
}

/**
 * Performs an action once, or returns what became of it before (ACT-1, ACT-3).
 * @throws KernelError `INTENT_MISMATCH`, `OPERATION_FORGOTTEN`, `JOURNAL_*`; the handler was not called then.
 */
export async function dispatchAction(parts: DispatchParts, order: DispatchOrder): Promise<DispatchedCall> {
  const { checked, manner, startedMs } = order;
  const { signal, graceMs } = manner;
  const answer = (dispatched: Dispatched): DispatchedCall => answerWith(parts, startedMs, dispatched);
  if (signal?.aborted === true) return answer({ intent: checked.intent, disposition: "cancelled" });
  const waitMs = Math.min(parts.conflictWaitTimeoutMs, manner.maxWaitMs);
  const claimed = await claimAction(parts, { checked, signal, untilMs: startedMs + waitMs, watch: manner.watch });
  switch (claimed.kind) {
    case "claimed": {
      const performed = await performAction(parts, {
        claimed,
        signal: signal ?? new AbortController().signal,
        graceMs,
      });
      return answer({ intent: claimed.intent, disposition: "executed", ...performed });
    }
    case "notDispatched":
      return answer({ intent: claimed.intent, disposition: claimed.why });
    case "final":
      return answer({ ...claimed.entry, disposition: "replayed" });
    case "uncertain":
      return answer(await lookIntoUncertain(parts, claimed.entry.intent, manner));
    case "inFlight":
      return answer({ ...claimed, receipt: uncertainReceipt(claimed.intent, "in_flight"), disposition: "replayed" });
    case "mismatch":
      throw mismatch(checked.intent.operationId);
    case "forgotten":
      throw forgottenOperation(checked.intent.operationId);
  }
}

interface Dispatched {
  readonly intent: GameActionIntent;
  readonly receipt?: GameActionReceipt;
  readonly disposition: Disposition;
  readonly hostMs?: number;
}

async function lookIntoUncertain(
  parts: DispatchParts,
  intent: GameActionIntent,
  manner: DispatchManner,
): Promise<Dispatched> {
  const { clock, journal } = parts;
  const askedMs = clock.now();
  const reconciled = manner.asksRecover ? await reconcileAction(parts, intent.operationId, manner.signal) : undefined;
  const hostMs = clock.now() - askedMs;
  if (reconciled !== undefined) return { ...reconciled, hostMs };
  const entry = await journal.find(intent.operationId);
  return {
    intent,
    hostMs,
    receipt: entry?.receipt ?? uncertainReceipt(intent, "outcome_unknown"),
    disposition: "replayed",
  };
}

function answerWith({ clock }: DispatchParts, startedMs: number, dispatched: Dispatched): DispatchedCall {
  const { intent, receipt, disposition, hostMs = 0 } = dispatched;
  const totalMs = Math.max(clock.now() - startedMs, hostMs);
  const timings = { totalMs, hostMs, frameworkMs: totalMs - hostMs };
  return { intent, ...(receipt !== undefined && { receipt }), disposition, timings };
}

function mismatch(operationId: string): KernelError {
  return new KernelError(
    "INTENT_MISMATCH",
    `Operation ${operationId} is in the journal with another intent; nothing was executed. Give this one an id of its own.`,
    { subject: operationId },
  );
}
