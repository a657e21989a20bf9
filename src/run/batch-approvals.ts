/**
 * The approvals of one batch.
 * Owns: which calls wait for an answer, under which ids. Invariants: an id is bound to this run, turn,
 * call and these very arguments, since nobody else can know it (APP-2); a decision is final.
 */
import type { Approval, ApprovalDecision, ApprovalDecisions } from "../domain/approval.ts";
import { refuse } from "../prepare/refuse.ts";
import { createId } from "./clock.ts";
import type { BatchRun } from "./run-batch.ts";
import type { CallRun } from "./run-call.ts";

const BLOCKED_TEXT = "not_executed: no approval was given for this call.";

/** See the file header. */
export class BatchApprovals {
  readonly #batch: BatchRun;
  readonly #open = new Map<string, { readonly call: CallRun; readonly approval: Approval }>();

  constructor(batch: BatchRun) {
    this.#batch = batch;
  }

  /** What nobody has answered yet, in source order. */
  get open(): readonly Approval[] {
    return [...this.#open.values()].map(({ approval }) => approval);
  }

  /** Whether an id is one of the open ones. */
  has(approvalId: string): boolean {
    return this.#open.has(approvalId);
  }

  /** Makes an approval for every call that asks, and answers how many there are. */
  collect(): number {
    for (const call of this.#batch.calls) {
      const ask = call.prepared?.ask;
      if (ask === undefined || call.prepared === undefined) continue;
      const { conflictKeys, arguments: prepared } = call.prepared;
      const approval: Approval = {
        approvalId: createId(),
        operationId: call.operationId,
        callId: call.call.id,
        callIndex: call.callIndex,
        toolName: call.call.name,
        arguments: prepared,
        conflictKeys,
        ask,
      };
      this.#open.set(approval.approvalId, { call, approval });
      const { approvalId } = approval;
      this.#batch.core.events.emitCall("approvalRequested", call, { approvalId, ask });
    }
    return this.#open.size;
  }

  /** Takes answers for open approvals; with `blockOthers` the rest is refused. Ids are checked before. */
  decide(decisions: ApprovalDecisions, blockOthers: boolean): void {
    for (const [approvalId, { call }] of this.#open) {
      const decision = Object.hasOwn(decisions, approvalId) ? decisions[approvalId] : undefined;
      const effective = decision ?? (blockOthers ? { block: BLOCKED_TEXT } : undefined);
      if (effective === undefined) continue;
      this.#open.delete(approvalId);
      this.#apply(call, effective);
    }
  }

  #apply(call: CallRun, decision: ApprovalDecision): void {
    if (decision === true) {
      call.tell({ type: "GRANTED" });
      return;
    }
    const { core } = this.#batch;
    const facts = { tool: call.prepared?.tool, draft: call.prepared?.draft, repairs: call.prepared?.repairs ?? [] };
    const reason = decision.block === "" ? BLOCKED_TEXT : decision.block;
    call.refusal = refuse("authorization", reason, facts);
    call.tell({ type: "DENIED" });
    core.events.emitCall("toolRefused", call, { failureCategory: "authorization", reason });
  }
}
