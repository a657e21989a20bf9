import type { Disposition, GameActionIntent, GameActionReceipt } from "../domain/action.ts";
import { KernelError } from "../domain/errors.ts";
import type { JournalEntry } from "../domain/journal.ts";
import { FACT_OF_STATUS } from "./action-life.ts";
import { beginLife, type DispatchParts, insistOnStep } from "./dispatch-parts.ts";
import { readReceipt } from "./receipt.ts";

/** A receipt that ends an operation, and where it came from; undefined: the outcome is still unknown. */
export type Reconciled =
  | { readonly intent: GameActionIntent; readonly receipt: GameActionReceipt; readonly disposition: Disposition }
  | undefined;

/** How long `handler.recover` may take. */
const RECOVER_TIMEOUT_MS = 30_000;
/** How much longer than the question a reconciler keeps others away, for saving the answer. */
const HOLD_MARGIN_MS = 5_000;

/**
 * Asks the handler what became of an uncertain operation, under a raised fence (ACT-5). A final entry
 * returns its receipt; one that is not uncertain, cannot be asked about, or stays unknown returns undefined.
 * @throws KernelError `OPERATION_UNKNOWN`, `OPERATION_FORGOTTEN`, or `JOURNAL_*`.
 */
export async function reconcileAction(
  parts: DispatchParts,
  operationId: string,
  signal?: AbortSignal,
): Promise<Reconciled> {
  const entry = await lookAfter(parts, operationId);
  if (entry.state !== "uncertain") return settledBy(entry);
  if (parts.handler.recover === undefined || signal?.aborted === true) return undefined;
  const taken = await takeOverInTurn(parts, operationId, signal);
  return taken === undefined || taken.state !== "uncertain"
    ? taken && settledBy(taken)
    : askHandler(parts, taken, signal);
}

/**
 * Finds an entry, after having made sure that it is not one that a dead process left dispatched.
 * @throws KernelError `OPERATION_UNKNOWN`, `OPERATION_FORGOTTEN`, or `JOURNAL_*`.
 */
export async function lookAfter({ journal }: DispatchParts, operationId: string): Promise<JournalEntry> {
  if (typeof operationId !== "string")
    throw new KernelError("INVALID_OPTIONS", "The operation id is not a string.", { subject: "operationId" });
  const found = await journal.find(operationId);
  const isUnderWay = found?.state === "dispatched" || found?.state === "prepared";
  if (isUnderWay) await journal.protocol.sweep();
  const entry = isUnderWay ? await journal.find(operationId) : found;
  if (entry === undefined) {
    throw new KernelError("OPERATION_UNKNOWN", `The journal holds no operation ${operationId}.`, {
      subject: operationId,
    });
  }
  if (entry.forgotten === true) throw forgottenOperation(operationId);
  return entry;
}

/** The error for an operation whose content was pruned (ACT-10). */
export function forgottenOperation(operationId: string): KernelError {
  return new KernelError(
    "OPERATION_FORGOTTEN",
    `Operation ${operationId} has ended and its receipt was pruned; it is never executed again.`,
    { subject: operationId },
  );
}

function settledBy({ intent, state, receipt }: JournalEntry): Reconciled {
  const isFinal = state === "committed" || state === "rejected" || state === "failed";
  return isFinal && receipt !== undefined ? { intent, receipt, disposition: "replayed" } : undefined;
}

/**
 * Takes the entry over, or waits for another reconciler to be done with it; undefined when that takes too long,
 * or when the signal fires meanwhile.
 */
async function takeOverInTurn(
  parts: DispatchParts,
  operationId: string,
  signal: AbortSignal | undefined,
): Promise<JournalEntry | undefined> {
  const { clock, journal, room, conflictWaitTimeoutMs } = parts;
  const { protocol } = journal;
  const holdMs = RECOVER_TIMEOUT_MS + parts.receiptCommitTimeoutMs + HOLD_MARGIN_MS;
  const place = room.enter({
    operationId,
    lines: [`operation:${operationId}`],
    untilMs: clock.now() + conflictWaitTimeoutMs,
    signal,
    poll: protocol.poll,
  });
  try {
    for (;;) {
      const answer = await protocol.takeOver({ operationId, by: "reconciler", holdMs });
      if (answer.kind === "taken" || answer.kind === "settled") return answer.entry;
      if (answer.kind === "unknown" || (await place.next()) !== "look") return undefined;
    }
  } finally {
    room.leave(place);
  }
}

async function askHandler(
  parts: DispatchParts,
  taken: JournalEntry,
  signal: AbortSignal | undefined,
): Promise<Reconciled> {
  const { intent, fence } = taken;
  const { operationId } = intent;
  const { protocol } = parts.journal;
  const receipt = await recover(parts, taken, signal);
  if (receipt === undefined) {
    await insistOnStep(parts, () => protocol.endTakeOver({ operationId, fence }));
    return undefined;
  }
  const saved = await insistOnStep(parts, () => protocol.finish({ operationId, fence, receipt }));
  if (saved.kind === "gaveUp") return undefined;
  if (saved.answer.kind === "overtaken") return settledBy(saved.answer.entry);
  beginLife(parts, "uncertain").tell(FACT_OF_STATUS[receipt.status]);
  return { intent, receipt, disposition: "recovered" };
}

/** The handler's answer if it ends the operation; undefined for all that leaves it unknown. Never rejects. */
async function recover(
  parts: DispatchParts,
  { intent, fence }: JournalEntry,
  signal: AbortSignal | undefined,
): Promise<GameActionReceipt | undefined> {
  // It may have fired while the journal handed the entry over; then nobody waits for an answer.
  if (signal?.aborted === true) return undefined;
  const { clock, handler, live } = parts;
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  signal?.addEventListener("abort", stop);
  const stopTimer = clock.setTimer(clock.now() + RECOVER_TIMEOUT_MS, stop);
  const given = new Promise<undefined>((resolve) => {
    controller.signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  try {
    const answered = Promise.resolve(handler.recover?.(intent, { signal: controller.signal, fence }));
    const answer = await Promise.race([answered, given]);
    if (answer === undefined) return undefined;
    const receipt = readReceipt(answer, intent);
    // While the handler itself may still be at work here, only good news is certain (UNC-7).
    const isAtWork = live.get(intent.operationId)?.phase === "handling";
    return receipt.status === "uncertain" || (isAtWork && receipt.status !== "committed") ? undefined : receipt;
  } catch {
    return undefined; // "I do not know", said loudly (ACT-5)
  } finally {
    stopTimer();
    signal?.removeEventListener("abort", stop);
  }
}
