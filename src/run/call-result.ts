import type { Outcome } from "../domain/call.ts";
import type { ToolResult } from "../domain/content.ts";
import {
  blockedResult,
  cancelledResult,
  failureResult,
  messageOf,
  refusedResult,
  repeatTerminatedResult,
  stoppedResult,
  uncertainResult,
} from "../settle/settle-call.ts";
import type { CallRun } from "./run-call.ts";

/** What a dispatched call came to, by the state its chart finishes in; before `afterToolCall`. */
export function resultOfDispatched(call: CallRun): ToolResult {
  const { execution, recovery } = call;
  const { value, context } = call.actor.getSnapshot();
  const finishing = typeof value === "object" && "finishing" in value ? value.finishing : undefined;
  const answered = recovery?.answer ?? execution?.answer;
  switch (finishing) {
    case "succeeded":
      return answered ?? failureResult(undefined, "internal");
    case "failed":
      if (answered !== undefined) return answered;
      if (context.stopCause !== undefined && execution?.thrown === undefined) return stoppedResult(context.stopCause);
      return failureResult(execution?.thrown?.error, context.stopCause === undefined ? "unspecified" : "timeout");
    case "cancelled":
      return stoppedResult("cancelled");
    default:
      return uncertainResult(context.stopCause ?? "internal", whatWasSaid(call));
  }
}

/** What a call came to that was never dispatched. */
export function resultBeforeDispatch(call: CallRun, outcome: Outcome): ToolResult {
  if (outcome === "refused" && call.refusal !== undefined) return refusedResult(call.refusal);
  if (outcome === "blocked" && call.blocker !== undefined) return blockedResult(call.blocker);
  if (outcome === "repeatTerminated") return repeatTerminatedResult(call.call.name, call.repeatCount);
  return cancelledResult(textOfReason(call.owner.cancellation.reason));
}

function whatWasSaid({ execution }: CallRun): ToolResult | string | undefined {
  if (execution?.answer !== undefined) return execution.answer;
  return execution?.thrown === undefined ? undefined : messageOf(execution.thrown.error);
}

/** The reason a host gave for a cancellation, if it is a text of its own. */
function textOfReason(reason: unknown): string | undefined {
  const text =
    typeof reason === "string" ? reason : reason instanceof Error && reason.name !== "AbortError" ? reason.message : "";
  return text === "" ? undefined : text.slice(0, 256);
}
