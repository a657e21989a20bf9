/**
 * What a durable action needs of the kernel beyond being executed: its own operation id, a longer grace
 * while its receipt is saved, an end to its journal entry when it is abandoned, and a projection of what
 * the model sees. For every other tool these functions change nothing. Upholds: ACT-8, CAN-2, PROJ-2 to
 * PROJ-6.
 */
import type { ActionIdentity, DurableCallContext, DurableOutcome, DurableToolContext } from "../../domain/action.ts";
import type { Outcome } from "../../domain/call.ts";
import type { ToolResult } from "../../domain/content.ts";
import type { ActionFacts } from "../../domain/event.ts";
import type { AnyTool, ToolContext } from "../../domain/tool.ts";
import { projectReceipt } from "../../settle/project-receipt.ts";
import type { CallRun } from "./run-call.ts";
import { watchAction } from "./watch-action.ts";

/** The status that a projected result shows where there is no receipt (PROJ-6). */
const CODE_OF_OUTCOME: Readonly<Record<Outcome, string>> = {
  succeeded: "completed",
  failed: "failed",
  refused: "refused",
  blocked: "blocked",
  cancelled: "cancelled",
  uncertain: "uncertain",
  repeatTerminated: "repeat_terminated",
};

/**
 * Which action a prepared call of a durable tool is; undefined for a call of any other tool.
 * @throws KernelError `INVALID_OPTIONS` when the input belongs to another run, or a function of the host failed.
 */
export function identityOf(call: CallRun): ActionIdentity | undefined {
  const durable = call.prepared?.tool.durable;
  if (durable === undefined) return undefined;
  durable.bindRun(call.owner.core.settings.runId);
  return durable.identify(describeCall(call));
}

/** When a call whose signal has fired is given up: after the grace, or once its receipt had time to be saved (CAN-2). */
export function graceEnd(call: CallRun, signalledAtMs: number): number {
  const { steady, limits } = call.owner.core.settings;
  const graceOverAtMs = signalledAtMs + limits.cancellationGraceMs;
  const durable = call.prepared?.tool.durable;
  if (durable === undefined || steady.now() < graceOverAtMs || !durable.isSavingReceipt(call.operationId)) {
    return graceOverAtMs;
  }
  return Math.max(graceOverAtMs, signalledAtMs + durable.receiptCommitTimeoutMs);
}

/** Adds what a durable tool is told beside every other: as of the moment at which it looks. */
export function addDurableFacts(context: ToolContext, tool: AnyTool, call: CallRun): ToolContext & DurableToolContext {
  return Object.defineProperties(context, {
    identity: { value: call.identity },
    wasDispatched: { value: call.earlierDispatch !== undefined },
    conflictWaitMs: { get: () => conflictWaitOf(tool, call) },
    stopCause: { get: () => call.actor.getSnapshot().context.stopCause },
    ...(call.owner.core.settings.inspect !== undefined && { watchAction: { value: watchAction(call) } }),
  });
}

/** How long a durable action may wait for foreign keys: what is left of its time-out, less the grace (ACT-3). */
function conflictWaitOf(tool: AnyTool, { owner, execution }: CallRun): number {
  const { limits, steady } = owner.core.settings;
  const nowMs = steady.now();
  const overAtMs = (execution?.beganMs ?? nowMs) + (tool.timeoutMs ?? limits.toolTimeoutMs);
  return Math.max(0, overAtMs - limits.cancellationGraceMs - nowMs);
}

/**
 * Gives up on a durable call that has not answered, once; its entry becomes uncertain (CAN-2). A tool that
 * cannot say what stands of the call leaves it uncertain all the same: it has its result whatever throws (CAN-4).
 */
export function abandonDurable(call: CallRun): void {
  const durable = call.prepared?.tool.durable;
  const { identity } = call;
  if (durable === undefined || identity === undefined || call.abandonment !== undefined) return;
  if (call.execution?.hasEnded !== false) return;
  try {
    call.abandonment = durable.abandon({ ...describeCall(call), conflictKeys: call.conflictKeys, identity });
  } catch {
    call.abandonment = undefined;
  }
}

/** What a durable call came to, as far as anybody knows. */
export function outcomeOfDurable({ recovery, execution, abandonment }: CallRun): DurableOutcome | undefined {
  return recovery?.durable ?? execution?.durable ?? abandonment?.outcome;
}

/** What the model sees of a result: the host's projection of the receipt, or a fixed status (PROJ-2, PROJ-6). Notes a failed one. */
export function projectResult(call: CallRun, result: ToolResult, outcome: Outcome): ToolResult {
  const projector = (call.prepared?.tool ?? call.refusal?.tool ?? toolAskedFor(call))?.durable?.projector;
  if (projector === undefined) return result;
  const durable = outcomeOfDurable(call);
  const projected = projectReceipt({ projector, result, outcome: durable, code: CODE_OF_OUTCOME[outcome] });
  call.isProjectionFailed = projected.isFailed;
  return projected.result;
}

/** The tool of a call that nothing was prepared of, by its name: what is said of such a call is not for the model, either. */
function toolAskedFor({ owner, call }: CallRun): AnyTool | undefined {
  return owner.core.tools.get(call.name)?.tool;
}

/** What the end of a call tells of its durable action (OBS-4). */
export function actionFactsOf(call: CallRun): ActionFacts | undefined {
  const durable = outcomeOfDurable(call);
  if (durable?.disposition === undefined || durable.timings === undefined) return undefined;
  const { disposition, timings, receipt } = durable;
  return {
    disposition,
    duplicateExecutionPrevented: disposition === "replayed" || disposition === "recovered",
    recovered: disposition === "recovered",
    hostMs: timings.hostMs,
    frameworkMs: timings.frameworkMs,
    ...(receipt !== undefined && { status: receipt.status }),
  };
}

function describeCall(call: CallRun): DurableCallContext {
  const { core, turn } = call.owner;
  return {
    callIndex: call.callIndex,
    turn,
    arguments: call.prepared?.arguments ?? {},
    host: core.host,
    runId: core.settings.runId,
  };
}
