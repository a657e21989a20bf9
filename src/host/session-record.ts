/**
 * A session's run in its store.
 * Owns: the claim, what an earlier process has left, which turns it has run and the result of the last; the others
 * are the store's, so that a long session does not hold all that was ever answered. Invariants: the run is claimed
 * before the first batch, and never once it is closed; a response is durable before any of its calls is prepared; a
 * batch that an earlier process left is resumed before anything else (RUN-6).
 */
import type { BatchResult } from "../domain/batch.ts";
import { invalidOption } from "../domain/check-options.ts";
import type { KernelError } from "../domain/errors.ts";
import type { RunFact, RunStore } from "../domain/run-store.ts";
import { UNCHECKED } from "../run/batch/check-repeats.ts";
import { batchEnd, closeBatch } from "../run/batch/close-batch.ts";
import type { BatchResponse } from "../run/batch/run-batch.ts";
import type { SessionCore } from "../run/session-core.ts";
import { FactRecorder } from "../run/store/fact-recorder.ts";
import { restoreCore, resultOf, settledCalls } from "../run/store/restore-run.ts";
import { storableCall } from "../run/store/storable.ts";
import { claimInTime } from "../run/store/store-time.ts";
import { foldRun, type StoredBatch, type StoredRun } from "../run/store/stored-run.ts";
import type { ExecuteOptions, ReadResponse } from "./read-response.ts";
import { type ComparedResponse, type GivenJob, isSameResponse } from "./same-response.ts";
import { checkStoredApprovals, isAgentsRun } from "./stored-runs.ts";

/** How a response is to be run: anew, resumed, or not at all since it has its result. */
export type RecordedStart =
  | { readonly kind: "run"; readonly turn: number; readonly stored: StoredBatch | undefined }
  | { readonly kind: "known"; readonly result: BatchResult };

/** A turn that has ended, with its result. */
interface EndedTurn {
  readonly response: ComparedResponse;
  readonly result: BatchResult;
}

/** See the file header. */
export class SessionRecord {
  readonly #core: SessionCore;
  readonly #store: RunStore;
  readonly #onLost: (error: KernelError) => void;
  /** What an earlier process has left; its open batch only until it is resumed. */
  #stored: StoredRun = foldRun([]);
  #facts: readonly RunFact[] = [];
  /** The turns that this session has run to their end. */
  readonly #ended = new Set<number>();
  /** The one that ended last. */
  #last: EndedTurn | undefined;
  /** The one that was asked for again last, as its store has it. */
  #recalled: EndedTurn | undefined;
  /** The latest of them; 0 before the first. */
  #latestEnded = 0;
  #opening: Promise<void> | undefined;
  #isClosed = false;
  /** The turn that was run or told of last. */
  #turn = 0;
  /** New evidence reached the model before it was known what an earlier process has left. */
  #hasEarlyEvidence = false;

  constructor(core: SessionCore, store: RunStore, onLost: (error: KernelError) => void) {
    this.#core = core;
    this.#store = store;
    this.#onLost = onLost;
  }

  /**
   * Claims the run, once; tries again after a failure. Rejects with `RUN_CLAIMED`, `JOURNAL_*`, and with
   * `INVALID_OPTIONS` where it was closed before it was ever open.
   */
  async open(): Promise<void> {
    if (this.#isClosed && this.#opening === undefined)
      throw invalidOption("resolveUncertain", "was called on a session that is closed; create another");
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** As {@link open}; and reads anew what the store alone still has of the turn that a response is given for. */
  async ready({ response, options }: GivenJob): Promise<void> {
    await this.open();
    const turn = options.turn ?? this.#turn + 1;
    const given = { ...response, turn };
    if (!this.#ended.has(turn) || (this.#last !== undefined && isSameResponse(this.#last.response, given))) return;
    const { recorder, settings } = this.#core;
    const facts = await recorder?.reread(() => this.#store.claim(settings.runId, { create: false }));
    const batch = findBatch(foldRun(facts ?? []), given);
    if (batch === undefined) return;
    const result = resultOf(batch);
    this.#recalled = result === undefined ? undefined : { response: batch.response, result };
  }

  /** New evidence has reached the model (REP-7). */
  noteEvidence(): void {
    const { recorder } = this.#core;
    if (recorder === undefined) this.#hasEarlyEvidence = true;
    else recorder.note({ kind: "evidence" });
  }

  async #open(): Promise<void> {
    const core = this.#core;
    const { runId, steady } = core.settings;
    const claim = await claimInTime(steady, this.#store.claim(runId, { create: true }));
    if (isAgentsRun(foldRun(claim.facts))) {
      await claim.release();
      throw invalidOption("runId", "belongs to an Agent; resume it with agent.resume");
    }
    core.recorder = new FactRecorder(claim, steady, this.#onLost);
    if (claim.facts.length === 0) core.recorder.note({ kind: "begun", earlier: [] }, { status: "running", turn: 0 });
    if (this.#hasEarlyEvidence) this.noteEvidence();
    this.#restore([...claim.facts, ...(this.#hasEarlyEvidence ? [{ kind: "evidence" } as const] : [])]);
    const { open, turn } = this.#stored;
    this.#turn = open === undefined ? turn : open.response.turn - 1;
  }

  #restore(facts: readonly RunFact[]): void {
    this.#facts = facts;
    this.#stored = foldRun(facts);
    restoreCore(this.#core, this.#stored, this.#core.tools);
  }

  /**
   * Finds out how a response is to be run. Rejects with `INVALID_OPTIONS` for another response while one is
   * open, and for an approval id that is not.
   */
  start(response: ReadResponse, options: ExecuteOptions): RecordedStart {
    const { open } = this.#stored;
    const turn = options.turn ?? this.#nextTurn(response);
    const known = this.#findResult(response, turn);
    if (known !== undefined) {
      this.#turn = turn;
      return { kind: "known", result: known };
    }
    checkStoredApprovals(this.#stored, options.approvals ?? {});
    const isLeft = open !== undefined && isSameResponse(open.response, { ...response, turn });
    if (open !== undefined && !isLeft) this.#endLeft(open, turn);
    this.#stored = { ...this.#stored, open: undefined };
    this.#turn = turn;
    return { kind: "run", turn, stored: isLeft ? open : undefined };
  }

  /**
   * Ends a batch whose every call has settled, since its host continues with a later turn: it has been told, and
   * its process died before that was recorded. @throws KernelError `INVALID_OPTIONS` for a batch that is open.
   */
  #endLeft(open: StoredBatch, turn: number): void {
    const left = open.response.turn;
    const settled = settledCalls(open);
    if (turn <= left || settled.length < open.response.calls.length) {
      const fault = `is not that of turn ${left}, which an earlier process left unfinished; execute that one first`;
      throw invalidOption("response", fault);
    }
    const isProjectionFailed = [...open.settled.values()].some((fact) => fact.isProjectionFailed);
    const facts = { repeats: UNCHECKED, refusal: undefined, isProjectionFailed };
    const end = batchEnd(left, closeBatch(settled, facts));
    this.#core.recorder?.note(end);
    this.#restore([...this.#facts, end]);
  }

  /** The turn after the last one, also while the story is told again; what is not part of it gets a turn of its own. */
  #nextTurn(response: ReadResponse): number {
    const next = this.#turn + 1;
    if (this.#findResult(response, next) !== undefined) return next;
    const { open, turn } = this.#stored;
    return Math.max(next, open === undefined ? turn + 1 : next, this.#latestEnded + 1);
  }

  /** The result of a response that has ended, whoever ran it: a host may well tell its story from the start. */
  #findResult(response: ReadResponse, turn: number): BatchResult | undefined {
    const given = { ...response, turn };
    const own = [this.#last, this.#recalled].find((ended) => ended && isSameResponse(ended.response, given));
    if (own !== undefined) return own.result;
    const known = findBatch(this.#stored, given);
    return known && resultOf(known);
  }

  /** Keeps the result of the turn that has ended last, in case its response is given again. */
  keep(response: BatchResponse, result: BatchResult): void {
    this.#ended.add(response.turn);
    this.#last = { response, result };
    this.#recalled = undefined;
    this.#latestEnded = Math.max(this.#latestEnded, response.turn);
  }

  /** Makes a response durable. Rejects with what the store says. */
  async record({ calls, hasDuplicateIds, stopReason, turn }: BatchResponse): Promise<void> {
    const stored = calls.map(storableCall);
    const fact = { kind: "response", turn, calls: stored, hasDuplicateIds, stopReason, totalTokens: 0 } as const;
    await this.#core.recorder?.record([fact], { status: "running", turn });
  }

  /** Says that the run waits for approvals, or goes on. */
  noteStatus(status: "running" | "awaitingApproval"): void {
    this.#core.recorder?.noteProgress({ status, turn: this.#turn });
  }

  /** Gives the run back; ended, unless something of it is still open. */
  async close({ isOpen }: { readonly isOpen: boolean }): Promise<void> {
    this.#isClosed = true;
    // A claim that is still under way would be nobody's to give back.
    await this.#opening?.catch(() => undefined);
    const { recorder, settings, toolCalls } = this.#core;
    if (recorder === undefined) return;
    const turn = this.#turn;
    if (!isOpen && this.#stored.open === undefined && recorder.lost === undefined) {
      const outcome = { runId: settings.runId, status: "stopped", undelivered: [], turns: turn, toolCalls } as const;
      recorder.note({ kind: "ended", outcome, added: 0 }, { status: "stopped", turn });
    }
    await recorder.release().catch(() => undefined);
  }
}

/** The batch of a response. A turn may have had several, when a host gave another response for it. */
function findBatch({ history }: StoredRun, given: ComparedResponse): StoredBatch | undefined {
  return history.findLast((batch) => batch !== null && isSameResponse(batch.response, given)) ?? undefined;
}
