import type {
  DoubtRequest,
  FinishAnswer,
  FinishRequest,
  TakeOverAnswer,
  TakeOverRequest,
  WithdrawAnswer,
  WithdrawRequest,
} from "../../domain/journal.ts";
import { judgeFinish, judgeTakeOver, overtakenEvidence } from "../judge-steps.ts";
import { readEntry } from "../stored-entry.ts";
import type { Ledger } from "./ledger.ts";

/** See `JournalProtocol.finish`; runs in a write transaction (ACT-2, ACT-5). */
export function finishStep(ledger: Ledger, request: FinishRequest): FinishAnswer {
  const { operationId, fence, receipt, evidence } = request;
  const stored = ledger.need(operationId);
  const verdict = judgeFinish(stored, request);
  if (verdict === "alreadySaved") return { kind: "saved" };
  if (verdict === "overtaken") {
    ledger.noteWrite();
    ledger.entries.addEvidence(operationId, { ...overtakenEvidence(request), atMs: ledger.now() });
    return { kind: "overtaken", entry: readEntry(stored) };
  }
  ledger.change(stored, { state: receipt.status, receiptText: JSON.stringify(receipt), heldUntilMs: null });
  if (evidence !== undefined) {
    ledger.entries.addEvidence(operationId, { kind: "resolution", fence, content: evidence, atMs: ledger.now() });
  }
  for (const scope of ledger.scopesOf(stored)) {
    if (scope.holder === operationId) ledger.scopes.change(scope, { fence: scope.fence, holder: null });
  }
  ledger.noteRelease(stored);
  return { kind: "saved" };
}

/** See `JournalProtocol.doubt`; runs in a write transaction. */
export function doubtStep(ledger: Ledger, request: DoubtRequest): boolean {
  const stored = ledger.entries.find(request.operationId);
  if (stored?.state !== "dispatched" || stored.fence !== request.fence) return false;
  ledger.change(stored, { state: "uncertain", receiptText: JSON.stringify(request.receipt) });
  ledger.noteRelease(stored);
  return true;
}

/** See `JournalProtocol.abandon`; runs in a write transaction. */
export function abandonStep(ledger: Ledger, operationId: string): boolean {
  const stored = ledger.entries.find(operationId);
  if (stored?.state !== "prepared") return false;
  ledger.change(stored, { state: "abandoned" });
  ledger.scopes.leaveLines(operationId);
  ledger.noteRelease(stored);
  return true;
}

/** See `JournalProtocol.withdraw`; runs in a write transaction (ACT-3). */
export function withdrawStep(ledger: Ledger, { operationId, claimId, receipt }: WithdrawRequest): WithdrawAnswer {
  const stored = ledger.entries.find(operationId);
  if (stored?.claimId !== claimId) return "nothing";
  if (stored.state === "prepared") return abandonStep(ledger, operationId) ? "abandoned" : "nothing";
  if (stored.state !== "dispatched") return "nothing";
  finishStep(ledger, { operationId, fence: stored.fence, receipt });
  return "closed";
}

/** See `JournalProtocol.takeOver`; runs in a write transaction (ACT-5). */
export function takeOverStep(ledger: Ledger, request: TakeOverRequest): TakeOverAnswer {
  const stored = ledger.entries.find(request.operationId);
  if (stored === undefined) return { kind: "unknown" };
  const verdict = judgeTakeOver(stored, request, ledger.now());
  if (verdict !== "take") return verdict;
  const fence = stored.fence + 1;
  for (const scope of ledger.scopesOf(stored)) ledger.scopes.change(scope, { fence, holder: scope.holder });
  const changed = ledger.change(stored, { fence, heldUntilMs: ledger.now() + request.holdMs });
  return { kind: "taken", entry: readEntry(changed) };
}

/** See `JournalProtocol.endTakeOver`; runs in a write transaction. */
export function endTakeOverStep(ledger: Ledger, operationId: string, fence: number): void {
  const stored = ledger.entries.find(operationId);
  if (stored?.state !== "uncertain" || stored.fence !== fence) return;
  ledger.change(stored, { heldUntilMs: null });
  ledger.noteRelease(stored);
}
