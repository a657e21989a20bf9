import type { Outcome } from "../../domain/call.ts";
import type { ToolResult } from "../../domain/content.ts";
import type { JsonObject } from "../../domain/json.ts";
import { messageOf } from "../../domain/read-thrown.ts";
import { stoppedText } from "../../settle/kernel-texts.ts";
import {
  blockedResult,
  cancelledResult,
  failureResult,
  refusedResult,
  repeatTerminatedResult,
  stoppedResult,
  uncertainResult,
} from "../../settle/settle-call.ts";
import { abandonDurable } from "./durable-call.ts";
import type { CallRun } from "./run-call.ts";

/** The most that is shown of a host's reason for a cancellation. */
const MAX_REASON_CHARACTERS = 256;

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
      return failureResult(
        execution?.thrown?.error,
        context.stopCause === undefined ? "unspecified" : "timeout",
        call.owner.core.settings.limits.maxResultCharacters,
      );
    case "cancelled":
      return stoppedResult("cancelled", reasonOf(call));
    default:
      abandonDurable(call);
      return withDetails(
        uncertainResult(context.stopCause ?? "internal", whatWasSaid(call)),
        call.abandonment?.details,
      );
  }
}

function withDetails(result: ToolResult, details: JsonObject | undefined): ToolResult {
  return details === undefined ? result : { ...result, details };
}

/** What a call came to that was never dispatched. */
export function resultBeforeDispatch(call: CallRun, outcome: Outcome): ToolResult {
  if (outcome === "refused" && call.refusal !== undefined)
    return refusedResult(call.refusal, call.owner.core.settings.limits.maxResultCharacters);
  if (outcome === "blocked" && call.blocker !== undefined) return blockedResult(call.blocker);
  if (outcome === "repeatTerminated") return repeatTerminatedResult(call.call.name, call.repeatCount);
  return cancelledResult(reasonOf(call));
}

/** What is known of an uncertain write beside its uncertainty: the executor's word, else the host's reason. */
function whatWasSaid(call: CallRun): ToolResult | string | undefined {
  const { execution } = call;
  if (execution?.answer !== undefined) return execution.answer;
  const { maxResultCharacters } = call.owner.core.settings.limits;
  if (execution?.thrown !== undefined) return messageOf(execution.thrown.error, maxResultCharacters);
  const { stopCause } = call.actor.getSnapshot().context;
  const reason = stopCause === "cancelled" ? reasonOf(call) : undefined;
  return reason === undefined ? undefined : stoppedText("cancelled", reason);
}

/** The reason the host gave for a cancellation, if it is a string of its own; reading it never throws. */
function reasonOf({ owner }: CallRun): string | undefined {
  const reason: unknown = owner.cancellation.reason;
  try {
    const text: unknown = reason instanceof Error && reason.name !== "AbortError" ? reason.message : reason;
    return typeof text === "string" && text !== "" ? text.slice(0, MAX_REASON_CHARACTERS) : undefined;
  } catch {
    return undefined;
  }
}
