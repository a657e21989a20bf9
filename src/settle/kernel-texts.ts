/** What the kernel itself says to a model. Fixed texts, bounded names, never arguments. */
import { CANCELLED_TEXT } from "../domain/fixed-texts.ts";

const MAX_NAME_CHARACTERS = 128;

/** Told with every uncertain result, in a part of its own (UNC-8, PROJ-6). */
export const UNCERTAIN_TEXT =
  "The outcome of this call is unknown: it may have happened. Check the current state before doing anything else; do not repeat the call.";

/** In place of a result that afterToolCall failed to pass on (PREP-13). */
export const WITHHELD_TEXT = "completed; result withheld; do not repeat";

/** For a call that was cancelled before its executor was called; `reason` is the host's, if it gave a string. */
export function cancelledText(reason: string | undefined): string {
  return withReason(CANCELLED_TEXT, reason);
}

/** For an executor that gave no answer after its signal had fired. */
export function stoppedText(cause: "timeout" | "cancelled", reason: string | undefined): string {
  if (cause === "timeout") return "The call did not answer within its time-out.";
  return withReason("The call was cancelled while it ran.", reason);
}

/** A model's or tool's name, made safe to show: well-formed, without control characters, bounded. */
export function showName(name: string): string {
  const clean = name.toWellFormed().replace(/\p{Cc}/gu, "\uFFFD");
  return JSON.stringify(
    clean.length > MAX_NAME_CHARACTERS ? `${clean.slice(0, MAX_NAME_CHARACTERS).toWellFormed()}…` : clean,
  );
}

/** For a write that an uncertain one holds back (UNC-5). */
export function blockedText(blocker: { readonly callId: string; readonly toolName: string }): string {
  return `not_executed: the outcome of call ${showName(blocker.callId)} (${showName(blocker.toolName)}) is unknown and this call could touch the same thing. Find out what became of it first.`;
}

/** For a call repeated too often to be run (REP-5). */
export function repeatTerminatedText(toolName: string, count: number): string {
  return `not_executed: ${showName(toolName)} was called ${count} times in a row with equal arguments. Nothing was executed.`;
}

/** The bounded advice to a model that repeats itself (REP-4). */
export function repeatAdvisoryText(toolName: string, count: number): string {
  return `The tool ${showName(toolName)} has been called ${count} times in a row with equal arguments. Use the results above, or try something else.`;
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined ? text : `${text} Reason: ${reason}`;
}
