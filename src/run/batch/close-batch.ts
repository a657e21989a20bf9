import type { BatchResult } from "../../domain/batch.ts";
import type { SettledCall } from "../../domain/call.ts";
import { findCloser } from "../../plan/find-closer.ts";
import type { ResponseRefusal } from "../../plan/judge-response.ts";
import { policyMessage, toolMessages } from "../../settle/tool-messages.ts";
import { withoutUnstorableData } from "../store/storable.ts";
import type { FactOf } from "../store/stored-run.ts";
import type { RepeatCheck } from "./check-repeats.ts";

/** What a batch came to beside its calls. */
export interface BatchFacts {
  readonly repeats: RepeatCheck;
  readonly refusal: ResponseRefusal | undefined;
  /** Whether a receipt could not be projected (PROJ-5). */
  readonly isProjectionFailed: boolean;
}

/** The result of a batch whose calls have all settled: messages in source order, and whether it closes the loop. */
export function closeBatch(settled: readonly SettledCall[], facts: BatchFacts): BatchResult {
  const { repeats, refusal, isProjectionFailed } = facts;
  const { advice, isTerminated } = repeats;
  const closedBy = findCloser(settled, { isProjectionFailed, isTerminated, refusedBy: refusal?.closedBy });
  const messages = [...toolMessages(settled), ...(advice === undefined ? [] : [policyMessage(advice)])];
  return { messages, settled, closed: closedBy !== undefined, ...(closedBy !== undefined && { closedBy }) };
}

/** The end of a batch as a store keeps it (RUN-6). */
export function batchEnd(turn: number, { messages, closedBy }: BatchResult): FactOf<"batchEnded"> {
  const kept = messages.map(withoutUnstorableData);
  return { kind: "batchEnded", turn, messages: kept, ...(closedBy !== undefined && { closedBy }) };
}
