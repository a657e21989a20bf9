/**
 * The journal of tests and short lives: nothing outlives the process.
 * Owns: nothing itself; its tables hold everything. Does not own: waiting, deadlines, what receipts mean.
 * Upholds: ACT-2, ACT-4, ACT-5, ACT-10. Every step is one synchronous change, so steps never interleave.
 */
import { checkOptions, mustBeClock } from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";
import type {
  ClaimAnswer,
  ClaimRequest,
  DoubtRequest,
  FinishAnswer,
  FinishRequest,
  Journal,
  JournalEntry,
  JournalEvidence,
  JournalPage,
  JournalProtocol,
  ListOpenOptions,
  Released,
  SweepCount,
  TakeOverAnswer,
  TakeOverRequest,
  WithdrawAnswer,
  WithdrawRequest,
} from "../domain/journal.ts";
import type { Clock } from "../domain/ports.ts";
import { systemClock } from "../run/clock.ts";
import { judgeClaim, judgeFinish, judgeTakeOver, overtakenEvidence } from "./judge-steps.ts";
import { readPage, readTimeBefore } from "./keeping-options.ts";
import { pageOf } from "./list-page.ts";
import { MEMORY_OWNER, type MemoryScope, MemoryTables } from "./memory-tables.ts";
import { ReleasedSignal } from "./released-signal.ts";
import { readEntry, type StoredEntry } from "./stored-entry.ts";

/** Options of {@link memoryJournal}. */
export interface MemoryJournalOptions {
  /** Where the times of entries come from; default the platform's clock. */
  readonly clock?: Clock | undefined;
}

/** Makes a journal that lives in memory: for tests, and for runs whose writes need not outlive the process (ACT-10). */
export function memoryJournal(options: MemoryJournalOptions = {}): Journal {
  checkOptions(options, { clock: mustBeClock }, { path: "options" });
  return new MemoryJournal(options.clock ?? systemClock);
}

class MemoryJournal implements Journal, JournalProtocol {
  readonly protocol: JournalProtocol = this;
  readonly poll = undefined;
  readonly sweepEveryMs = undefined;
  readonly #tables: MemoryTables;
  readonly #released = new ReleasedSignal();
  #claims = 0;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#tables = new MemoryTables(clock);
  }

  newClaimId(): string {
    this.#claims += 1;
    return `${MEMORY_OWNER}:${this.#claims}`;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  holdsLease(): boolean {
    return !this.#isClosed;
  }

  onReleased(listener: (released: Released) => void): () => void {
    return this.#released.add(listener);
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    const tables = this.#open();
    const stored = tables.find(request.operationId);
    const verdict = judgeClaim(stored, request);
    if (verdict.kind === "answer") return verdict.answer;
    const scopes = request.scopes.map(({ id }) => tables.scope(id));
    if (!scopes.every((scope) => isFreeFor(scope, request.operationId))) {
      if (verdict.from !== "prepared") tables.put(request, "prepared", stored?.fence ?? 0);
      for (const scope of scopes) scope.line.add(request.operationId);
      return { kind: "waiting" };
    }
    const fence = Math.max(stored?.fence ?? 0, ...scopes.map((scope) => scope.fence)) + 1;
    tables.put(request, "dispatched", fence);
    for (const scope of scopes) {
      scope.line.delete(request.operationId);
      scope.holder = request.operationId;
      scope.fence = fence;
    }
    return { kind: "claimed", fence };
  }

  async finish(request: FinishRequest): Promise<FinishAnswer> {
    const tables = this.#open();
    const { operationId, fence, receipt, evidence } = request;
    const stored = tables.need(operationId);
    const verdict = judgeFinish(stored, request);
    if (verdict === "alreadySaved") return { kind: "saved" };
    if (verdict === "overtaken") {
      tables.addEvidence(operationId, overtakenEvidence(request));
      return { kind: "overtaken", entry: readEntry(stored) };
    }
    tables.change(stored, { state: receipt.status, receiptText: JSON.stringify(receipt), heldUntilMs: null });
    if (evidence !== undefined) tables.addEvidence(operationId, { kind: "resolution", fence, content: evidence });
    for (const id of stored.scopes) {
      const scope = tables.scope(id);
      if (scope.holder === operationId) scope.holder = undefined;
    }
    this.#tell(stored);
    return { kind: "saved" };
  }

  async doubt(request: DoubtRequest): Promise<boolean> {
    const tables = this.#open();
    const stored = tables.find(request.operationId);
    if (stored?.state !== "dispatched" || stored.fence !== request.fence) return false;
    tables.change(stored, { state: "uncertain", receiptText: JSON.stringify(request.receipt) });
    this.#tell(stored);
    return true;
  }

  async abandon(operationId: string): Promise<boolean> {
    const tables = this.#open();
    const stored = tables.find(operationId);
    if (stored?.state !== "prepared") return false;
    tables.change(stored, { state: "abandoned" });
    for (const id of stored.scopes) tables.scope(id).line.delete(operationId);
    this.#tell(stored);
    return true;
  }

  async withdraw({ operationId, claimId, receipt }: WithdrawRequest): Promise<WithdrawAnswer> {
    const stored = this.#open().find(operationId);
    if (stored?.claimId !== claimId) return "nothing";
    if (stored.state === "prepared") return (await this.abandon(operationId)) ? "abandoned" : "nothing";
    if (stored.state !== "dispatched") return "nothing";
    await this.finish({ operationId, fence: stored.fence, receipt });
    return "closed";
  }

  async sweep(): Promise<SweepCount> {
    this.#open();
    return { uncertain: 0, abandoned: 0 };
  }

  async takeOver(request: TakeOverRequest): Promise<TakeOverAnswer> {
    const tables = this.#open();
    const stored = tables.find(request.operationId);
    if (stored === undefined) return { kind: "unknown" };
    const verdict = judgeTakeOver(stored, request, tables.now());
    if (verdict !== "take") return verdict;
    const fence = stored.fence + 1;
    for (const id of stored.scopes) tables.scope(id).fence = fence;
    const changed = tables.change(stored, { fence, heldUntilMs: tables.now() + request.holdMs });
    return { kind: "taken", entry: readEntry(changed) };
  }

  async endTakeOver({ operationId, fence }: { readonly operationId: string; readonly fence: number }): Promise<void> {
    const tables = this.#open();
    const stored = tables.find(operationId);
    if (stored?.state !== "uncertain" || stored.fence !== fence) return;
    tables.change(stored, { heldUntilMs: null });
    this.#tell(stored);
  }

  async listEvidence(operationId: string): Promise<readonly JournalEvidence[]> {
    return this.#open().evidenceOf(operationId);
  }

  async find(operationId: string): Promise<JournalEntry | undefined> {
    const stored = this.#open().find(operationId);
    return stored && readEntry(stored);
  }

  async listOpen(options: ListOpenOptions): Promise<JournalPage> {
    const { limit, after } = readPage(options);
    return pageOf(this.#open().listOpen(after), limit);
  }

  async prune(options: { readonly finalBefore: number }): Promise<number> {
    return this.#open().prune(readTimeBefore(options, "finalBefore"));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #open(): MemoryTables {
    if (this.#isClosed) throw new KernelError("JOURNAL_UNAVAILABLE", "The journal is closed; open it again.");
    return this.#tables;
  }

  #tell({ operationId, scopes }: StoredEntry): void {
    this.#released.tell({ operationId, scopes });
  }
}

/** Nobody holds the scope, and nobody else is first in line for it. */
function isFreeFor(scope: MemoryScope, operationId: string): boolean {
  if (scope.holder !== undefined) return false;
  const [first] = scope.line;
  return first === undefined || first === operationId;
}
