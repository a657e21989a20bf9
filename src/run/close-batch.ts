import type { BatchResult, ClosedBy } from "../domain/batch.ts";
import type { SettledCall } from "../domain/call.ts";
import { policyMessage, toolMessages } from "../settle/tool-messages.ts";
import type { RepeatCheck } from "./check-repeats.ts";
import type { ResponseRefusal } from "./refuse-response.ts";
import { withoutUnstorableData } from "./storable.ts";
import type { FactOf } from "./stored-run.ts";

/** What a batch came to beside its calls. */
export interface BatchFacts {
  readonly repeats: RepeatCheck;
  readonly refusal: ResponseRefusal | undefined;
  /** Whether a receipt could not be projected (PROJ-5). */
  readonly isProjectionFailed: boolean;
}

/** The result of a batch whose calls have all settled: messages in source order, and whether it closes the loop. */
export function closeBatch(settled: readonly SettledCall[], facts: BatchFacts): BatchResult {
  const closedBy = findCloser(settled, facts);
  const { advice } = facts.repeats;
  const messages = [...toolMessages(settled), ...(advice === undefined ? [] : [policyMessage(advice)])];
  return { messages, settled, closed: closedBy !== undefined, ...(closedBy !== undefined && { closedBy }) };
}

/** The end of a batch as a store keeps it (RUN-6). */
export function batchEnd(turn: number, { messages, closedBy }: BatchResult): FactOf<"batchEnded"> {
  const kept = messages.map(withoutUnstorableData);
  return { kind: "batchEnded", turn, messages: kept, ...(closedBy !== undefined && { closedBy }) };
}

/** In the fixed precedence of the closers (RUN-2). */
function findCloser(settled: readonly SettledCall[], facts: BatchFacts): ClosedBy | undefined {
  const { refusal, repeats, isProjectionFailed } = facts;
  if (isProjectionFailed) return "projectionFailed";
  if (repeats.isTerminated) return "exactToolRepeat";
  if (settled.length > 0 && settled.every(({ result }) => result.terminate)) return "allTerminate";
  return refusal?.closedBy;
}
