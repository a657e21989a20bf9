/**
 * A session's run in its store.
 * Owns: the claim, what an earlier process has left. Invariants: the run is claimed before the first
 * batch; a response is durable before any of its calls is prepared; a batch that an earlier process left
 * is gone on with before anything else (RUN-6).
 */
import type { BatchResult } from "../domain/batch.ts";
import type { KernelError } from "../domain/errors.ts";
import type { RunStore } from "../domain/run-store.ts";
import { Recorder } from "../run/recorder.ts";
import { restoreCore, resultOf } from "../run/restore-run.ts";
import type { BatchResponse } from "../run/run-batch.ts";
import type { SessionCore } from "../run/session-core.ts";
import { foldRun, type StoredBatch, type StoredRun } from "../run/stored-run.ts";
import { invalidOption } from "./check-options.ts";
import type { ExecuteOptions, ReadResponse } from "./read-response.ts";
import { isSameResponse } from "./same-response.ts";
import { checkOpenApprovals } from "./stored-runs.ts";

/** How a response is to be run: anew, gone on with, or not at all since it has its result. */
export type RecordedStart =
  | { readonly kind: "run"; readonly turn: number; readonly stored: StoredBatch | undefined }
  | { readonly kind: "known"; readonly result: BatchResult };

/** See the file header. */
export class SessionRecord {
  readonly #core: SessionCore;
  readonly #store: RunStore;
  readonly #onLost: (error: KernelError) => void;
  /** What an earlier process has left; its open batch only until it is gone on with. */
  #stored: StoredRun = foldRun([]);
  #isClaimed = false;
  #turn = 0;

  constructor(core: SessionCore, store: RunStore, onLost: (error: KernelError) => void) {
    this.#core = core;
    this.#store = store;
    this.#onLost = onLost;
  }

  /** Claims the run, once. Rejects with `RUN_CLAIMED`, `JOURNAL_*`. */
  async open(): Promise<void> {
    if (this.#isClaimed) return;
    const { runId, clock } = this.#core.settings;
    const claim = await this.#store.claim(runId, { create: true });
    this.#isClaimed = true;
    this.#stored = foldRun(claim.facts);
    this.#turn = this.#stored.turn;
    this.#core.recorder = new Recorder(claim, clock, this.#onLost);
    restoreCore(this.#core, this.#stored, this.#core.tools);
    if (claim.facts.length === 0)
      this.#core.recorder.note({ kind: "begun", earlier: [] }, { status: "running", turn: 0 });
  }

  /**
   * Finds out how a response is to be run. Rejects with `INVALID_OPTIONS` for another response while one is
   * open, and for an approval id that is not.
   */
  start(response: ReadResponse, options: ExecuteOptions): RecordedStart {
    const { open } = this.#stored;
    const turn = options.turn ?? open?.response.turn ?? this.#turn + 1;
    const known = this.#findResult(response, turn);
    if (known !== undefined) return { kind: "known", result: known };
    checkOpenApprovals(open, options.approvals ?? {});
    if (open !== undefined && !isSameResponse(open.response, { ...response, turn })) {
      const fault = `is another one than that of turn ${open.response.turn}, which an earlier process left unfinished; execute that one first`;
      throw invalidOption("response", fault);
    }
    this.#stored = { ...this.#stored, open: undefined };
    this.#turn = turn;
    return { kind: "run", turn, stored: open };
  }

  /** The result of a response that has ended, whoever ran it: a host may well tell its story from the start. */
  #findResult(response: ReadResponse, turn: number): BatchResult | undefined {
    const known = this.#stored.history.findLast((batch) => batch !== null && batch.response.turn === turn);
    const isKnown = known !== undefined && known !== null && isSameResponse(known.response, { ...response, turn });
    return isKnown ? resultOf(known) : undefined;
  }

  /** Makes a response durable. Rejects with what the store says. */
  async record({ calls, hasDuplicateIds, stopReason, turn }: BatchResponse): Promise<void> {
    const fact = { kind: "response", turn, calls, hasDuplicateIds, stopReason, totalTokens: 0 } as const;
    await this.#core.recorder?.record([fact], { status: "running", turn });
  }

  /** Says that the run waits for approvals, or goes on. */
  noteStatus(status: "running" | "awaitingApproval"): void {
    this.#core.recorder?.noteProgress({ status, turn: this.#turn });
  }

  /** Gives the run back; ended, unless something of it is still open. */
  async close({ isOpen }: { readonly isOpen: boolean }): Promise<void> {
    const { recorder, settings, toolCalls } = this.#core;
    if (recorder === undefined) return;
    const turn = this.#turn;
    if (!isOpen && recorder.lost === undefined) {
      const outcome = { runId: settings.runId, status: "stopped", undelivered: [], turns: turn, toolCalls } as const;
      recorder.note({ kind: "ended", outcome }, { status: "stopped", turn });
    }
    await recorder.release().catch(() => undefined);
  }
}
