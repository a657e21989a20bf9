import stringify from "fast-json-stable-stringify";
import type { ToolCall } from "../domain/call.ts";
import { invalidOption } from "../domain/check-options.ts";
import { isMissingId } from "../run/batch/call-ids.ts";
import type { BatchRun } from "../run/batch/run-batch.ts";
import { storableCall } from "../run/store/storable.ts";
import { checkAnswers } from "./check-answers.ts";
import type { ExecuteOptions, ReadResponse } from "./read-response.ts";

/** What `execute` was given. */
export interface GivenJob {
  readonly response: ReadResponse;
  readonly options: ExecuteOptions;
}

/** A response and its turn, as a batch was started with or as it is given again. */
export interface ComparedResponse {
  readonly calls: readonly ToolCall[];
  readonly turn: number;
}

/**
 * Whether a response is the one a batch was started with: same turn, same calls in the same order, by
 * name and arguments; ids too, where the new one gives them.
 */
export function isSameResponse(known: ComparedResponse, given: ComparedResponse): boolean {
  if (known.turn !== given.turn || known.calls.length !== given.calls.length) return false;
  return known.calls.every((call, index) => {
    const other = given.calls[index];
    return other !== undefined && isSameCall(call, other);
  });
}

function isSameCall(known: ToolCall, given: ToolCall): boolean {
  const isSameId = given.id === known.id || isMissingId(given.id);
  return isSameId && known.name === given.name && draftText(storableCall(known)) === draftText(storableCall(given));
}

/** Text is compared as it is, a parsed object by its canonical form. */
function draftText({ arguments: draft }: ToolCall): string {
  return typeof draft === "string" ? draft : `object:${stringify(draft)}`;
}

/**
 * While a batch waits for approvals only its own response may come, with answers to its ids (APP-2, APP-3).
 * @throws KernelError `INVALID_OPTIONS`.
 */
export function checkAgainstSuspended(batch: BatchRun | undefined, { response, options }: GivenJob): void {
  checkAnswers(options.approvals ?? {}, (id) => batch?.approvals.standingOf(id), "session");
  if (batch === undefined) return;
  if (isSameResponse(batch.response, { ...response, turn: options.turn ?? batch.turn })) return;
  const fault = "is not the one whose approvals are open; execute that one with approvals or blockOthers first";
  throw invalidOption("response", fault);
}
