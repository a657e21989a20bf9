import type { RunStatus } from "../../domain/event.ts";
import type { RunOutcome } from "../../domain/run.ts";
import type { RunLoop } from "./run-loop.ts";

/**
 * What a run came to, once its chart has ended. Takes what was accepted and never delivered out of the
 * queues, unless the run only waits (RUN-2, RUN-3).
 */
export function outcomeOf(run: RunLoop, status: RunStatus, endedBy: string | undefined): RunOutcome {
  const isWaiting = status === "awaitingApproval";
  const hasFailed = status === "providerError" || status === "kernelError";
  const { messages, added } = run.transcript.answered();
  return {
    runId: run.core.settings.runId,
    status,
    ...(endedBy !== undefined && { endedBy }),
    ...(status === "aborted" && { abortReason: run.abortReason }),
    messages,
    newMessages: added,
    undelivered: isWaiting ? [] : run.queues.takeAll(),
    ...(isWaiting && run.batch !== undefined && { approvals: run.batch.approvals.open }),
    turns: run.turn,
    toolCalls: run.core.toolCalls,
    ...(hasFailed && run.error !== undefined && { error: run.error }),
  };
}

/** The stable code of what a run failed by, for its event. */
export function codeOf(error: Error | undefined): string {
  const code: unknown = error !== undefined && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "INVALID_OPTIONS";
}
