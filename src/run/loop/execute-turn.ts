import type { RunEvent } from "../../../machines/run.machine.ts";
import type { BatchResult } from "../../domain/batch.ts";
import type { ToolRegistry } from "../../prepare/register-tools.ts";
import { BatchRun } from "../batch/run-batch.ts";
import type { RunLoop } from "./run-loop.ts";
import type { ResumeFacts } from "./run-settings.ts";

type Report = (event: RunEvent) => void;

/** Runs the calls of a run's response, or continues those that waited for approvals (APP-3). */
export function executeTurn(run: RunLoop, tools: ToolRegistry, report: Report): void {
  const { assistant, turn, core, batch, resumeFacts } = run;
  if (resumeFacts !== undefined && batch !== undefined) {
    run.resumeFacts = undefined;
    if (!run.cancellation.aborted) decideResumed(batch, resumeFacts);
    return;
  }
  if (assistant === undefined) throw new Error("a batch was started without a response");
  core.tools = tools;
  const { calls, hasDuplicateIds, message } = assistant;
  const response = { calls, hasDuplicateIds, stopReason: message.stopReason, turn, stored: run.storedBatch };
  run.storedBatch = undefined;
  run.batch = new BatchRun(core, response, (result) => takeResult(run, result, report));
}

function takeResult(run: RunLoop, result: BatchResult, report: Report): void {
  if (result.approvals !== undefined) {
    takeQuestion(run, report);
    return;
  }
  run.batchResult = result;
  for (const message of result.messages) run.append(message);
  report({ type: "BATCH_SETTLED" });
}

function takeQuestion(run: RunLoop, report: Report): void {
  const { batch, resumeFacts } = run;
  run.resumeFacts = undefined;
  const isAnswered = resumeFacts !== undefined && isAnswer(resumeFacts);
  // Asked by an earlier process: the answers have come with `resume`.
  if (isAnswered && batch !== undefined) decideResumed(batch, resumeFacts);
  // Steering that came before the question is an answer to it: everything undecided is refused (APP-4).
  else if (run.queues.hasSteering) batch?.decide({}, true);
  else report({ type: "APPROVALS_ASKED" });
}

function isAnswer({ approvals, blockOthers, message }: ResumeFacts): boolean {
  return blockOthers || message !== undefined || Object.keys(approvals).length > 0;
}

function decideResumed(batch: BatchRun, { approvals, blockOthers, message }: ResumeFacts): void {
  batch.decide(approvals, blockOthers || message !== undefined);
}
