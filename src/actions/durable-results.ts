import type { DurableOutcome, DurableToolContext, GameActionIntent, ReceiptStatus } from "../domain/action.ts";
import type { DeclaredResult } from "../domain/content.ts";
import { durableResult } from "../domain/durable-result.ts";
import { KernelError } from "../domain/errors.ts";
import type { FailureCategory } from "../domain/failure.ts";
import { CANCELLED_TEXT } from "../domain/fixed-texts.ts";
import { canonicalReceipt, detailsWithoutReceipt } from "./canonical-receipt.ts";
import type { DispatchedCall } from "./dispatch-action.ts";

/** What a result is about, as far as it is known. */
export type ResultSubject = Pick<GameActionIntent, "operationId" | "moment">;

const CATEGORY_OF_STATUS: Readonly<Record<ReceiptStatus, FailureCategory | undefined>> = Object.freeze({
  committed: undefined,
  rejected: "ruleRejected",
  failed: "unspecified",
  uncertain: "internal",
});

/** Codes of errors that say: this id is taken. */
const TAKEN: readonly unknown[] = ["INTENT_MISMATCH", "OPERATION_FORGOTTEN"];

/** What is said of a call that was not dispatched, and nothing happened. */
const NOT_DISPATCHED = {
  conflictBlocked: {
    code: "conflict_blocked",
    failureCategory: "conflict",
    message: "not_executed: another action holds what this one touches. Nothing happened.",
  },
  cancelled: {
    code: "cancelled",
    failureCategory: "cancelled",
    message: CANCELLED_TEXT,
  },
  timeout: {
    code: "timeout",
    failureCategory: "timeout",
    message: "not_executed: the time-out passed before dispatch. Nothing happened.",
  },
} as const;

/**
 * The result of a call that was dispatched, replayed, or kept from being so. What its signal told it to stop
 * for is the reason that the result gives (CAN-3); the disposition is the same for both (ACT-3).
 */
export function resultOfDispatched(
  dispatched: DispatchedCall,
  stopCause?: DurableToolContext["stopCause"],
): DeclaredResult {
  const { intent, receipt, disposition, timings } = dispatched;
  if (receipt === undefined) {
    const why = disposition !== "cancelled" ? "conflictBlocked" : (stopCause ?? "cancelled");
    const { code, message, failureCategory } = NOT_DISPATCHED[why];
    return durableResult(
      {
        content: message,
        details: detailsWithoutReceipt(intent, { code, message, disposition }),
        isError: true,
        failureCategory,
      },
      { intent, code, disposition, timings },
    );
  }
  const canonical = canonicalReceipt({ receipt, disposition, timings });
  return durableResult(
    {
      content: [{ type: "json", value: canonical }],
      details: canonical,
      isError: receipt.status !== "committed",
      failureCategory: CATEGORY_OF_STATUS[receipt.status],
      outcomeUncertain: receipt.status === "uncertain",
    },
    { intent, receipt, disposition, timings },
  );
}

/**
 * The result of a call whose dispatch threw, or that could not be begun: certain, since the handler was
 * not called. The model sees a fixed code, the host the message.
 */
export function resultOfError(error: unknown, subject: ResultSubject | undefined): DeclaredResult {
  const errorCode = error instanceof KernelError ? error.code : "INTERNAL";
  const code = errorCode.toLowerCase();
  const message =
    error instanceof KernelError ? error.message : "A function of the tool threw before anything was dispatched.";
  const details = subject === undefined ? { status: code, message } : detailsWithoutReceipt(subject, { code, message });
  const outcome: DurableOutcome = { code };
  return durableResult(
    {
      content: `not_executed: ${code}. Nothing was dispatched.`,
      details,
      isError: true,
      failureCategory: TAKEN.includes(errorCode) ? "conflict" : "internal",
    },
    outcome,
  );
}
