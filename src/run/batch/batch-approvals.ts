/**
 * The approvals of one batch.
 * Owns: which calls wait for an answer, under which ids. Invariants: an id is bound to this run, turn,
 * call and these very arguments, since nobody else can know it (APP-2); a decision is final.
 */
import type { Approval, ApprovalDecision, ApprovalDecisions } from "../../domain/approval.ts";
import { NO_APPROVAL_TEXT } from "../../domain/fixed-texts.ts";
import type { StoredPreparation } from "../../domain/run-store.ts";
import { refuse } from "../../prepare/refuse.ts";
import type { CallRun } from "../call/run-call.ts";
import { createId } from "../clock.ts";
import { preparationOf } from "../store/restore-batch.ts";
import type { StoredBatch } from "../store/stored-run.ts";
import type { BatchRun } from "./run-batch.ts";

/** What is known of an approval. */
export type ApprovalStanding = "open" | "granted" | "blocked";

/** See the file header. */
export class BatchApprovals {
  readonly #batch: BatchRun;
  readonly #decided = new Map<string, ApprovalStanding>();
  readonly #open = new Map<string, { readonly call: CallRun; readonly approval: Approval }>();

  constructor(batch: BatchRun) {
    this.#batch = batch;
  }

  /** What nobody has answered yet, in source order. */
  get open(): readonly Approval[] {
    return [...this.#open.values()].map(({ approval }) => approval);
  }

  /** How an id stands; undefined: it is not of this batch. */
  standingOf(approvalId: string): ApprovalStanding | undefined {
    return this.#open.has(approvalId) ? "open" : this.#decided.get(approvalId);
  }

  /**
   * Makes an approval for every call that asks, records what was prepared, and returns how many there are.
   * Before anybody is asked it is durable (APP-1, RUN-6).
   */
  ask(): number | Promise<number> {
    for (const call of this.#batch.calls) this.#add(call, createId);
    const { recorder } = this.#batch.core;
    const undecided = this.#open.size;
    const announce = (): number => {
      this.#announce();
      return undecided;
    };
    if (recorder === undefined) return announce();
    const recorded = recorder.record([{ kind: "prepared", turn: this.#batch.turn, calls: this.#describeCalls() }]);
    if (undecided > 0) return recorded.then(announce, () => undecided);
    recorded.catch(() => undefined);
    return 0;
  }

  /** Takes up the approvals that an earlier process has asked for, under the same ids (APP-2, RUN-6). */
  restore({ preparations, decisions }: StoredBatch): number {
    for (const preparation of preparations ?? []) {
      const call = this.#batch.calls[preparation.index];
      if (call === undefined || preparation.kind === "refused") continue;
      const { approval } = preparation;
      const decision = decisions.get(preparation.index);
      if (decision !== undefined) {
        if (approval !== undefined) this.#note(approval.approvalId, decision.block === undefined);
        continue;
      }
      // A call whose tool is gone is refused, whatever anybody would answer.
      if (approval !== undefined && call.settled === undefined && call.refusal === undefined)
        this.#add(call, () => approval.approvalId);
    }
    return this.#open.size;
  }

  #announce(): void {
    for (const { call, approval } of this.#open.values()) {
      const { approvalId, ask } = approval;
      this.#batch.core.events.emitCall("approvalRequested", call, { approvalId, ask });
    }
  }

  /** Every call as a store keeps it, with the id of its approval. */
  #describeCalls(): readonly StoredPreparation[] {
    const ids = new Map([...this.#open.values()].map(({ call, approval }) => [call, approval.approvalId]));
    return this.#batch.calls.map((call) => preparationOf(call, ids.get(call)));
  }

  /** Takes answers for open approvals; with `blockOthers` the rest is refused. Ids are checked before. */
  decide(
    decisions: ApprovalDecisions,
    blockOthers: boolean,
  ): readonly { readonly index: number; readonly block?: string }[] {
    const decided: { readonly index: number; readonly block?: string }[] = [];
    for (const [approvalId, { call }] of this.#open) {
      const decision = Object.hasOwn(decisions, approvalId) ? decisions[approvalId] : undefined;
      const effective = decision ?? (blockOthers ? { block: NO_APPROVAL_TEXT } : undefined);
      if (effective === undefined) continue;
      this.#open.delete(approvalId);
      this.#note(approvalId, effective === true);
      this.#apply(call, effective);
      decided.push({ index: call.callIndex, ...(effective !== true && { block: effective.block }) });
    }
    return decided;
  }

  #note(approvalId: string, isGranted: boolean): void {
    this.#decided.set(approvalId, isGranted ? "granted" : "blocked");
  }

  #add(call: CallRun, makeId: () => string): void {
    const ask = call.prepared?.ask;
    if (ask === undefined || call.prepared === undefined) return;
    const { conflictKeys, arguments: prepared } = call.prepared;
    const { callId, callIndex, toolName, operationId } = call;
    const approvalId = makeId();
    const approval: Approval = {
      approvalId,
      operationId,
      callId,
      callIndex,
      toolName,
      arguments: prepared,
      conflictKeys,
      ask,
    };
    this.#open.set(approvalId, { call, approval });
  }

  #apply(call: CallRun, decision: ApprovalDecision): void {
    if (decision === true) {
      call.tell({ type: "GRANTED" });
      return;
    }
    const { core } = this.#batch;
    const facts = { tool: call.prepared?.tool, draft: call.prepared?.draft, repairs: call.prepared?.repairs ?? [] };
    const reason = decision.block === "" ? NO_APPROVAL_TEXT : decision.block;
    call.refusal = refuse("authorization", reason, facts);
    call.tell({ type: "DENIED" });
    core.events.emitCall("toolRefused", call, { failureCategory: "authorization", reason });
  }
}
