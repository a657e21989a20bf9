import stableStringify from "fast-json-stable-stringify";
import type { GameActionReceipt } from "../domain/action.ts";
import { KernelError } from "../domain/errors.ts";
import type {
  ClaimAnswer,
  ClaimRequest,
  FinishRequest,
  JournalEvidence,
  TakeOverAnswer,
  TakeOverRequest,
} from "../domain/journal.ts";
import type { JsonValue } from "../domain/json.ts";
import { readEntry, type StoredEntry } from "./stored-entry.ts";
import { isFinalState } from "./transitions.ts";

/** What a claim may do: nothing but answer, or try to take the scopes. */
export type ClaimVerdict =
  | { readonly kind: "answer"; readonly answer: ClaimAnswer }
  | { readonly kind: "take"; readonly from: "new" | "prepared" | "abandoned" };

/** Judges a claim by what stands in the journal (ACT-2, ACT-7, ACT-10). The scopes are not looked at. */
export function judgeClaim(stored: StoredEntry | undefined, request: ClaimRequest): ClaimVerdict {
  if (stored === undefined) return { kind: "take", from: "new" };
  if (stored.intentHash !== request.intentHash) return answer({ kind: "mismatch" });
  if (stored.isForgotten) return answer({ kind: "forgotten" });
  const isOwnClaim = stored.claimId === request.claimId;
  switch (stored.state) {
    case "committed":
    case "rejected":
    case "failed":
      return answer({ kind: "final", entry: readEntry(stored) });
    case "uncertain":
      return answer({ kind: "uncertain", entry: readEntry(stored) });
    case "dispatched":
      // The claim was committed, its answer was lost, and it asks again.
      return answer(isOwnClaim ? { kind: "claimed", fence: stored.fence } : { kind: "inFlight" });
    case "prepared":
      return isOwnClaim ? { kind: "take", from: "prepared" } : answer({ kind: "inFlight" });
    case "abandoned":
      return isOwnClaim ? answer({ kind: "withdrawn" }) : judgeRenewal(stored, request);
  }
}

/** What saving a receipt may do. */
export type FinishVerdict = "save" | "alreadySaved" | "overtaken";

/**
 * Judges a receipt by what stands in the journal (ACT-2).
 * @throws KernelError `RECEIPT_IMMUTABLE` when another one stands there under the same fence,
 * `RECEIPT_MISMATCH` when it is of another operation or of one that was not dispatched.
 */
export function judgeFinish(stored: StoredEntry, request: FinishRequest): FinishVerdict {
  checkReceipt(stored.operationId, request.receipt);
  if (isFinalState(stored.state)) return judgeSecondEnding(stored, request);
  if (stored.fence !== request.fence) return "overtaken";
  if (stored.state === "dispatched" || stored.state === "uncertain") return "save";
  throw new KernelError(
    "RECEIPT_MISMATCH",
    `Operation ${stored.operationId} is ${stored.state}, not dispatched; a receipt cannot end it.`,
    { subject: stored.operationId },
  );
}

/** What is kept of a receipt that was overtaken; a person's word keeps the evidence that it came with (ACT-5). */
export function overtakenEvidence(request: FinishRequest): Omit<JournalEvidence, "atMs"> {
  const { fence, evidence } = request;
  const receipt = request.receipt as unknown as JsonValue; // a receipt is JSON
  return evidence === undefined
    ? { kind: "lateReceipt", fence, content: receipt }
    : { kind: "lateResolution", fence, content: { receipt, evidence } };
}

/** Judges a take-over (ACT-5); "take" raises the fence. */
export function judgeTakeOver(stored: StoredEntry, request: TakeOverRequest, nowMs: number): "take" | TakeOverAnswer {
  if (stored.state !== "uncertain") return { kind: "settled", entry: readEntry(stored) };
  const isHeld = stored.heldUntilMs !== null && stored.heldUntilMs > nowMs;
  return isHeld && request.by === "reconciler" ? { kind: "busy" } : "take";
}

/**
 * Checks that a receipt is of this operation and ends it.
 * @throws KernelError `RECEIPT_MISMATCH`
 */
export function checkReceipt(operationId: string, receipt: GameActionReceipt): void {
  if (receipt.operationId === operationId && receipt.status !== "uncertain") return;
  throw new KernelError(
    "RECEIPT_MISMATCH",
    `The receipt given for operation ${operationId} does not end that operation.`,
    {
      subject: operationId,
    },
  );
}

/** The error of a step that names an operation the journal does not hold. */
export function unknownOperation(operationId: string): KernelError {
  return new KernelError("OPERATION_UNKNOWN", `The journal holds no operation ${operationId}.`, {
    subject: operationId,
  });
}

function judgeRenewal(stored: StoredEntry, request: ClaimRequest): ClaimVerdict {
  const isSameScopes =
    stored.scopes.length === request.scopes.length &&
    stored.scopes.every((id, index) => id === request.scopes[index]?.id);
  return isSameScopes ? { kind: "take", from: "abandoned" } : answer({ kind: "rescoped", entry: readEntry(stored) });
}

function judgeSecondEnding(stored: StoredEntry, request: FinishRequest): FinishVerdict {
  const isEqual =
    stored.receiptText !== null && stableStringify(JSON.parse(stored.receiptText)) === stableStringify(request.receipt);
  if (isEqual) return "alreadySaved";
  if (stored.fence !== request.fence) return "overtaken";
  throw new KernelError(
    "RECEIPT_IMMUTABLE",
    `Operation ${stored.operationId} has its final receipt already; a different one cannot replace it.`,
    { subject: stored.operationId },
  );
}

function answer(claimAnswer: ClaimAnswer): ClaimVerdict {
  return { kind: "answer", answer: claimAnswer };
}
