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
    if (verdict.from === "prepared") showAlive(ledger, owner);
    else enterLine(ledger, request, { stored, owner, state: "prepared", fence: stored?.fence ?? 0 });
    return { kind: "waiting" };
  }
  const fence = Math.max(stored?.fence ?? 0, ...scopes.map((scope) => scope.fence)) + 1;
  if (verdict.from === "prepared") ledger.scopes.leaveLines(request.operationId);
  ledger.put(request, { stored, owner, state: "dispatched", fence });
  for (const scope of scopes) ledger.scopes.change(scope, { fence, holder: request.operationId });
  return { kind: "claimed", fence };
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

/** Shows that this process is alive to those who wait behind its waiters. */
function showAlive(ledger: Ledger, owner: string): void {
  const { scopes, now } = ledger;
  const oldestMs = scopes.oldestSeenAtMs(owner);
  if (oldestMs === undefined || Math.abs(now() - oldestMs) < SHOW_EVERY_MS) return;
  ledger.noteWrite();
  scopes.seeAll(owner, now());
}
