/**
 * What a memory journal holds.
 * Owns: entries, scopes with their lines of waiters, evidence. Does not own: who may do what, which
 * `judge-steps` says. Invariant: no entry changes its state against ACT-2, whatever the caller believes.
 */
import { KernelError } from "../domain/errors.ts";
import type { ClaimRequest, JournalEvidence, JournalState } from "../domain/journal.ts";
import type { Clock } from "../domain/ports.ts";
import { unknownOperation } from "./judge-steps.ts";
import { forgetArguments, newAttempt, type StoredEntry } from "./stored-entry.ts";
import { isFinalState, NEXT_STATES, OPEN_STATES, type StateBefore } from "./transitions.ts";

/** The one owner of everything in a memory journal. */
export const MEMORY_OWNER = "memory";

/** A conflict scope: who holds it, the highest fence it has seen, and who waits for it, first in line first. */
export interface MemoryScope {
  fence: number;
  holder: string | undefined;
  readonly line: Set<string>;
}

/** See the file header. */
export class MemoryTables {
  readonly #clock: Clock;
  readonly #entries = new Map<string, StoredEntry>();
  readonly #scopes = new Map<string, MemoryScope>();
  readonly #evidence = new Map<string, JournalEvidence[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The store's clock. */
  now(): number {
    return this.#clock.now();
  }

  /** The entry of an operation id, if there is one. */
  find(operationId: string): StoredEntry | undefined {
    return this.#entries.get(operationId);
  }

  /** @throws KernelError `OPERATION_UNKNOWN` when there is none. */
  need(operationId: string): StoredEntry {
    const stored = this.#entries.get(operationId);
    if (stored === undefined) throw unknownOperation(operationId);
    return stored;
  }

  /** Open entries after an id, in order of their ids. */
  listOpen(after: string): StoredEntry[] {
    return [...this.#entries.values()]
      .filter(({ operationId, state }) => OPEN_STATES.includes(state) && operationId > after)
      .sort((one, other) => (one.operationId < other.operationId ? -1 : 1));
  }

  /** Writes an attempt: a new entry, or a new attempt of one that is prepared or abandoned. */
  put(request: ClaimRequest, state: "prepared" | "dispatched", fence: number): void {
    const stored = this.#entries.get(request.operationId);
    checkChange(stored?.state ?? "new", state);
    const facts = { stored, owner: MEMORY_OWNER, state, fence, nowMs: this.#clock.now() };
    this.#entries.set(request.operationId, newAttempt(request, facts));
  }

  /** Changes an entry; the answer is what stands there now. */
  change(stored: StoredEntry, change: Partial<StoredEntry>): StoredEntry {
    if (change.state !== undefined) checkChange(stored.state, change.state);
    const changed = { ...stored, ...change, updatedAtMs: this.#clock.now() };
    this.#entries.set(stored.operationId, changed);
    return changed;
  }

  /** Makes final entries last changed before a time forget arguments, receipt and evidence. */
  prune(finalBefore: number): number {
    const old = [...this.#entries.values()].filter(
      (stored) => isFinalState(stored.state) && !stored.isForgotten && stored.updatedAtMs < finalBefore,
    );
    for (const stored of old) {
      const intentText = forgetArguments(stored.intentText);
      this.#entries.set(stored.operationId, { ...stored, intentText, receiptText: null, isForgotten: true });
      this.#evidence.delete(stored.operationId);
    }
    return old.length;
  }

  /** A scope by its id, made when it is first named. */
  scope(id: string): MemoryScope {
    const known = this.#scopes.get(id);
    if (known !== undefined) return known;
    const scope: MemoryScope = { fence: 0, holder: undefined, line: new Set() };
    this.#scopes.set(id, scope);
    return scope;
  }

  /** Keeps something beside the receipt of an operation. */
  addEvidence(operationId: string, evidence: Omit<JournalEvidence, "atMs">): void {
    // Detached from the caller; receipts and evidence are JSON already.
    const copy = JSON.parse(JSON.stringify(evidence)) as typeof evidence;
    this.#evidence.set(operationId, [...this.evidenceOf(operationId), { ...copy, atMs: this.#clock.now() }]);
  }

  /** What was kept, oldest first. */
  evidenceOf(operationId: string): readonly JournalEvidence[] {
    return this.#evidence.get(operationId) ?? [];
  }
}

function checkChange(before: StateBefore, after: JournalState): void {
  if (NEXT_STATES[before].includes(after)) return;
  throw new KernelError("KERNEL_STUCK", `The journal refuses to make an entry ${after} that is ${before} (ACT-2).`);
}
