import type { StopReason, ToolCall } from "../domain/call.ts";
import type { FailureCategory } from "../domain/failure.ts";
import type { Limits } from "../domain/limits.ts";

/** Why no call of a response runs, and whether the loop ends with it. */
export interface ResponseRefusal {
  readonly reason: string;
  readonly failureCategory: FailureCategory;
  readonly closedBy: "stopReason" | "maxToolCalls" | undefined;
}

/** What a response is judged by. */
export interface JudgedResponse {
  readonly calls: readonly ToolCall[];
  readonly hasDuplicateIds: boolean;
  readonly stopReason: StopReason;
  /** Calls of the run before this response. */
  readonly earlierToolCalls: number;
}

/** Whether a whole response is refused before any preparation (PREP-9, PREP-10, RUN-1). Pure. */
export function judgeResponse(response: JudgedResponse, limits: Limits): ResponseRefusal | undefined {
  const { calls, stopReason } = response;
  if (stopReason === "length") {
    return refuse(
      "response_truncated: the response was cut off at its length limit, so no call of it was run. Send them again, fewer or shorter.",
    );
  }
  if (stopReason === "error" || stopReason === "aborted") {
    const reason = `not_executed: response_${stopReason === "error" ? "failed" : "aborted"}: the response did not end normally, so no call of it was run.`;
    return { reason, failureCategory: stopReason === "error" ? "internal" : "cancelled", closedBy: "stopReason" };
  }
  if (calls.length > limits.maxToolCallsPerTurn) {
    return refuse(
      `too_many_calls: the response has ${calls.length} calls, over limits.maxToolCallsPerTurn (${limits.maxToolCallsPerTurn}). Send fewer.`,
    );
  }
  const longest = calls.find((call) => argumentCharacters(call) > limits.maxArgumentCharacters);
  if (longest !== undefined) {
    return refuse(
      `arguments_too_long: the arguments of a call are over limits.maxArgumentCharacters (${limits.maxArgumentCharacters}). Send less.`,
    );
  }
  if (response.hasDuplicateIds) {
    return refuse("duplicate_ids: two calls of the response have the same id. Give each call its own.");
  }
  if (response.earlierToolCalls + calls.length > limits.maxToolCalls) {
    const reason = `not_executed: too_many_calls: the run would pass limits.maxToolCalls (${limits.maxToolCalls}).`;
    return { reason, failureCategory: "invalidArguments", closedBy: "maxToolCalls" };
  }
  return undefined;
}

function refuse(reason: string): ResponseRefusal {
  return { reason: `not_executed: ${reason}`, failureCategory: "invalidArguments", closedBy: undefined };
}

/** The size of a draft's arguments as text; what cannot be measured is refused later, by name of its fault. */
function argumentCharacters({ arguments: draft }: ToolCall): number {
  if (typeof draft === "string") return draft.length;
  try {
    return JSON.stringify(draft)?.length ?? 0;
  } catch {
    return 0;
  }
}
