import type { ClaimAnswer, ClaimRequest } from "../../domain/journal.ts";
import { judgeClaim } from "../judge-steps.ts";
import type { Ledger, Put } from "./ledger.ts";
import type { StoredScope } from "./scope-table.ts";

/** A waiter that has not shown itself for so long no longer keeps others behind it. */
const UNSEEN_MS = 3_000;
/** How often a process that waits shows itself. */
const SHOW_EVERY_MS = 1_000;

/** What a claim asks of the world outside the tables, only when it is about to write. */
export interface ClaimPorts {
  /** The owner under whose name it writes. */
  readonly owner: () => string;
  /** @throws KernelError `JOURNAL_FULL` when nothing new may be dispatched. */
  readonly checkSpace: () => void;
}

/** See `JournalProtocol.claim`; runs in a write transaction (ACT-1, ACT-4, ACT-7). */
export function claimStep(ledger: Ledger, request: ClaimRequest, ports: ClaimPorts): ClaimAnswer {
  const stored = ledger.entries.find(request.operationId);
  const verdict = judgeClaim(stored, request);
  if (verdict.kind === "answer") return verdict.answer;
  const scopes = request.scopes.map((scope) => ledger.scopes.find(scope));
  ports.checkSpace();
  const owner = ports.owner();
  if (!scopes.every((scope) => isFree(ledger, scope, request.operationId))) {
    if (verdict.from === "prepared") showAlive(ledger, request.operationId, owner);
    else enterLine(ledger, request, { stored, owner, state: "prepared", fence: stored?.fence ?? 0 });
    return { kind: "waiting" };
  }
  const fence = Math.max(stored?.fence ?? 0, ...scopes.map((scope) => scope.fence)) + 1;
  if (verdict.from === "prepared") ledger.scopes.leaveLines(request.operationId);
  ledger.put(request, { stored, owner, state: "dispatched", fence });
  for (const scope of scopes) ledger.scopes.change(scope, { fence, holder: request.operationId });
  return { kind: "claimed", fence };
}

/**
 * Whether asking again would change nothing: the attempt stands in line, its scopes are not free, and its
 * process has shown itself lately. A look that takes no lock, for those who look often.
 */
export function stillWaits(ledger: Ledger, request: ClaimRequest): boolean {
  const stored = ledger.entries.find(request.operationId);
  if (stored?.state !== "prepared" || stored.claimId !== request.claimId) return false;
  if (isShowDue(ledger, stored.operationId)) return false;
  return !request.scopes.every((scope) => isFree(ledger, ledger.scopes.find(scope), request.operationId));
}

function isFree(ledger: Ledger, { id, holder }: StoredScope, operationId: string): boolean {
  if (holder !== null) return false;
  const first = ledger.scopes.firstInLine(id, ledger.now() - UNSEEN_MS);
  return first === undefined || first === operationId;
}

function enterLine(ledger: Ledger, request: ClaimRequest, put: Put): void {
  ledger.put(request, put);
  const waiter = { operationId: request.operationId, owner: put.owner, seenAtMs: ledger.now() };
  ledger.scopes.enterLines(
    request.scopes.map(({ id }) => id),
    waiter,
  );
}

/** Shows that this process is alive to those who wait behind its waiters, all of them. */
function showAlive(ledger: Ledger, operationId: string, owner: string): void {
  if (!isShowDue(ledger, operationId)) return;
  ledger.noteWrite();
  ledger.scopes.seeAll(owner, ledger.now());
}

function isShowDue({ scopes, now }: Ledger, operationId: string): boolean {
  const seenAtMs = scopes.seenAtMs(operationId);
  return seenAtMs !== undefined && Math.abs(now() - seenAtMs) >= SHOW_EVERY_MS;
}
