import type { PreparedCall } from "../../domain/call.ts";
import { NO_APPROVAL_TEXT } from "../../domain/fixed-texts.ts";
import type { StoredPreparation } from "../../domain/run-store.ts";
import type { AnyTool } from "../../domain/tool.ts";
import { freezeArguments } from "../../prepare/freeze-arguments.ts";
import { refuse } from "../../prepare/refuse.ts";
import { nameCall } from "../batch/prepare-batch.ts";
import type { BatchRun } from "../batch/run-batch.ts";
import type { CallRun } from "../call/run-call.ts";
import { FACTS } from "../facts.ts";
import { type FactOf, type StoredBatch, toSettled } from "./stored-run.ts";

const PREPARED_FACTS = ["FOUND", "SHAPED", "VALID", "KEPT", "REFINED", "KEYED"] as const;
const MISSING_TEXT = "unknown_tool: the tool of this call is no longer there, so the call was not run.";

/**
 * Brings the calls of a batch to where an earlier process left them (RUN-6): prepared arguments are taken
 * as stored and never transformed again, settled calls keep their results, and nobody is asked anew. Events tell
 * of those that go on as prepared.
 * Returns how many calls have settled.
 */
export function restoreCalls(batch: BatchRun, stored: StoredBatch): number {
  for (const preparation of stored.preparations ?? []) {
    const call = batch.calls[preparation.index];
    if (call === undefined) continue;
    call.preparedAtMs = batch.core.settings.steady.now();
    if (preparation.kind === "refused") restoreRefusal(call, preparation);
    else restorePrepared(call, preparation, stored.decisions.get(preparation.index));
  }
  for (const fact of stored.settled.values()) {
    const call = batch.calls[fact.index];
    if (call !== undefined) restoreSettled(call, fact);
  }
  for (const call of batch.calls) tellPrepared(batch, call);
  return stored.settled.size;
}

/** Who watches this process alone is told of each call that it resumes, and of its keys. */
function tellPrepared({ core }: BatchRun, call: CallRun): void {
  const { prepared, refusal, settled } = call;
  if (prepared === undefined || refusal !== undefined || settled !== undefined) return;
  core.events.emitCall("toolPrepared", call, { conflictKeys: prepared.conflictKeys });
}

/** A settled call as it was settled; its chart has nothing more to do. */
function restoreSettled(call: CallRun, fact: FactOf<"settled">): void {
  const repairs = call.prepared?.repairs ?? call.refusal?.repairs ?? [];
  call.operationId = fact.operationId;
  call.isProjectionFailed = fact.isProjectionFailed === true;
  call.settled = toSettled(fact, { call: call.call, conflictKeys: call.conflictKeys, repairs });
  if (fact.outcome === "uncertain" && !call.owner.core.resolved.has(fact.operationId)) call.owner.onUncertain(call);
  call.tell(FACTS.CANCEL);
}

function restoreRefusal(call: CallRun, preparation: Extract<StoredPreparation, { kind: "refused" }>): void {
  const { failureCategory, reason, terminate, draft, repairs } = preparation;
  call.refusal = refuse(failureCategory, reason, { draft, repairs, terminate, tool: toolOf(call) });
  call.tell(FACTS.REFUSED);
}

function restorePrepared(
  call: CallRun,
  preparation: Extract<StoredPreparation, { kind: "prepared" }>,
  decision: { readonly block?: string } | undefined,
): void {
  const tool = toolOf(call);
  const facts = { tool, draft: preparation.draft, repairs: preparation.repairs };
  call.prepared = toPrepared(preparation, tool ?? missingTool(call.toolName));
  const isMissing = tool === undefined && decision?.block === undefined;
  const refusal = isMissing ? refuse("invalidArguments", MISSING_TEXT, facts) : nameCall(call);
  if (refusal !== undefined && call.earlierDispatch === undefined) {
    call.refusal = refusal;
    call.tell(FACTS.REFUSED);
    return;
  }
  // Its journal cannot be asked, so nobody knows what became of it.
  if (refusal !== undefined) call.prepared = toPrepared(preparation, missingTool(call.toolName));
  for (const fact of PREPARED_FACTS) call.tell(FACTS[fact]);
  call.tell(preparation.approval === undefined ? FACTS.ALLOWED : FACTS.ASKED);
  if (decision === undefined) return;
  if (decision.block === undefined) {
    call.tell(FACTS.GRANTED);
    return;
  }
  call.refusal = refuse("authorization", decision.block === "" ? NO_APPROVAL_TEXT : decision.block, facts);
  call.tell(FACTS.DENIED);
}

function toPrepared(preparation: Extract<StoredPreparation, { kind: "prepared" }>, tool: AnyTool): PreparedCall {
  const { draft, conflictKeys, repairs, approval } = preparation;
  const frozen = freezeArguments(preparation.arguments, { owned: true });
  return {
    kind: "prepared",
    tool,
    draft,
    // What a store gives back was a JSON object when it was recorded.
    arguments: frozen.ok ? frozen.arguments : {},
    conflictKeys,
    repairs,
    ...(approval !== undefined && { ask: approval.ask }),
  };
}

function toolOf(call: CallRun): AnyTool | undefined {
  const registered = call.owner.tools.get(call.toolName);
  return registered?.unavailable === undefined ? registered?.tool : undefined;
}

/** Stands for the tool of a call that was dispatched and that nobody can ask any more; it is never called. */
function missingTool(name: string): AnyTool {
  return {
    name,
    description: "",
    inputSchema: {},
    execute: () => {
      throw new Error("a tool that is no longer there was called");
    },
  };
}

/** What a store keeps of a call once it is prepared or refused. */
export function preparationOf(call: CallRun, approvalId: string | undefined): StoredPreparation {
  const index = call.callIndex;
  const { prepared, refusal } = call;
  if (prepared !== undefined) {
    const { draft, conflictKeys, repairs, ask } = prepared;
    const approval = ask === undefined || approvalId === undefined ? {} : { approval: { approvalId, ask } };
    return { kind: "prepared", index, arguments: prepared.arguments, draft, conflictKeys, repairs, ...approval };
  }
  const {
    failureCategory = "internal",
    reason = "not_executed",
    terminate = false,
    repairs = [],
    draft,
  } = refusal ?? {};
  return {
    kind: "refused",
    index,
    failureCategory,
    reason,
    terminate,
    repairs,
    ...(draft !== undefined && { draft }),
  };
}
