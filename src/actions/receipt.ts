import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { GameActionIntent, GameActionReceipt as Receipt } from "../domain/action.ts";
import { readGiven } from "../domain/check-options.ts";
import { isOutcomeUnknownError, isToolError } from "../domain/errors.ts";
import { COMPLETED_TEXT, UNRECORDABLE_TEXT } from "../domain/fixed-texts.ts";
import type { JournalState } from "../domain/journal.ts";
import type { JsonValue } from "../domain/json.ts";
import { copyPlainJson } from "./plain-json.ts";

/** What became of an operation; see `GameActionReceipt` of the domain. */
export type GameActionReceipt<Result = JsonValue> = Receipt<Result>;

/** What a receipt is of: any intent, or as much of one as a receipt repeats. */
export type ReceiptSubject = Pick<GameActionIntent, "operationId" | "moment">;

/** Makers of the receipts a handler can give. */
export const GameActionReceipt = Object.freeze({
  /**
   * The action happened. `stateRevision` is the state it made; needed where the intent expected a revision (ACT-9).
   * Options are looked at when the receipt is read, never here: what has happened must not fail on the way out.
   */
  committed<Result>(
    intent: ReceiptSubject,
    result: Result,
    options: { readonly stateRevision?: number | undefined } = {},
  ): Receipt<Result> {
    const stateRevision = revisionOf(options);
    return Object.freeze({
      ...subjectOf(intent),
      ...(stateRevision !== undefined && { stateRevision }),
      status: "committed",
      result,
    });
  },
  /** The world's rules refused the action; nothing happened. `code` is for programs, `message` for readers. */
  rejected(intent: ReceiptSubject, code: string, message: string): Receipt<never> {
    return Object.freeze({ ...subjectOf(intent), status: "rejected", result: null, code, message });
  },
  /** The action failed; nothing happened, and that is certain. */
  failed(intent: ReceiptSubject, code: string, message: string): Receipt<never> {
    return Object.freeze({ ...subjectOf(intent), status: "failed", result: null, code, message });
  },
});

/** Makes the receipt of an operation whose outcome is not known; it ends nothing. */
export function uncertainReceipt(
  intent: ReceiptSubject,
  code: UncertainCode,
): Receipt<never> & { readonly message: string } {
  return Object.freeze({
    ...subjectOf(intent),
    status: "uncertain",
    result: null,
    code,
    message: UNCERTAIN_MESSAGES[code],
  });
}

/** Makes the receipt of an attempt that had claimed its scopes and did not call the handler (ACT-3). */
export function notDispatchedReceipt(intent: ReceiptSubject): Receipt<never> {
  return GameActionReceipt.failed(
    intent,
    "not_dispatched",
    "The action was not executed: it was given up before the handler could be called.",
  );
}

/** What is left of the receipt of an ended operation whose receipt was pruned (ACT-10); undefined if it has not ended. */
export function forgottenReceipt(intent: ReceiptSubject, state: JournalState): Receipt | undefined {
  const message = `The action ended as ${state}; its receipt is no longer kept.`;
  switch (state) {
    case "committed":
      return GameActionReceipt.committed(intent, { note: `${COMPLETED_TEXT}. Its receipt is no longer kept` });
    case "rejected":
      return GameActionReceipt.rejected(intent, "operation_forgotten", message);
    case "failed":
      return GameActionReceipt.failed(intent, "operation_forgotten", message);
    default:
      return undefined;
  }
}

/** Why an outcome is not known. */
export type UncertainCode =
  | "receipt_mismatch"
  | "handler_threw"
  | "outcome_unknown"
  | "no_answer"
  | "receipt_not_durable"
  | "in_flight"
  | "journal_silent";

const UNCERTAIN_MESSAGES: Readonly<Record<UncertainCode, string>> = Object.freeze({
  receipt_mismatch: "The handler answered, but not with a receipt of this action.",
  handler_threw: "The handler threw; the action may or may not have happened.",
  outcome_unknown: "The handler says that it does not know whether the action happened.",
  no_answer: "The handler did not answer in time; the action may or may not have happened.",
  receipt_not_durable: "The handler answered, but its receipt could not be saved yet.",
  in_flight: "The same operation is running elsewhere and did not end in the time available.",
  journal_silent: "An earlier process dispatched the action, and the journal could not say what became of it.",
});

/** How long the parts of a receipt may be, in UTF-16 units. */
export const MAX_RECEIPT_CHARACTERS = 1_048_576;
export const MAX_CODE_CHARACTERS = 256;
export const MAX_MESSAGE_CHARACTERS = 4_096;

/**
 * Reads what a handler returned as a receipt of its intent (ACT-9). Anything that does not match is
 * uncertain, code `receipt_mismatch`. A committed result that cannot be recorded becomes a bounded
 * placeholder: the action has happened all the same (UNC-1).
 */
export function readReceipt(returned: unknown, intent: GameActionIntent): Receipt {
  try {
    return readFields(returned, intent) ?? uncertainReceipt(intent, "receipt_mismatch");
  } catch {
    return uncertainReceipt(intent, "receipt_mismatch");
  }
}

/** Reads what a handler threw: a `ToolError` is a certain failure, anything else leaves the outcome open (UNC-1). */
export function readThrown(thrown: unknown, intent: GameActionIntent): Receipt {
  if (!isToolError(thrown)) {
    return uncertainReceipt(intent, isOutcomeUnknownError(thrown) ? "outcome_unknown" : "handler_threw");
  }
  try {
    return GameActionReceipt.failed(
      intent,
      String(thrown.failureCategory),
      bound(String(thrown.message), MAX_MESSAGE_CHARACTERS),
    );
  } catch {
    return GameActionReceipt.failed(intent, "unspecified", "The handler declared a failure that cannot be read.");
  }
}

function readFields(returned: unknown, intent: GameActionIntent): Receipt | undefined {
  if (typeof returned !== "object" || returned === null) return undefined;
  const { operationId, moment, status, stateRevision, result, code, message } = returned as Partial<
    Record<keyof AllFields, unknown>
  >; // fields of unknown type
  if (operationId !== intent.operationId || !isSameMoment(moment, intent)) return undefined;
  if (stateRevision !== undefined && !Number.isFinite(stateRevision)) return undefined;
  const revision = stateRevision as number | undefined; // seen to be a finite number, or absent
  const head = { ...subjectOf(intent), ...(revision !== undefined && { stateRevision: revision }) };
  if (status === "committed") {
    const isOld =
      intent.expectedRevision !== undefined && !(revision !== undefined && revision >= intent.expectedRevision);
    return isOld ? undefined : { ...head, status, result: recordResult(result) };
  }
  if (status !== "rejected" && status !== "failed" && status !== "uncertain") return undefined;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return {
    ...head,
    status,
    result: null,
    code: bound(code, MAX_CODE_CHARACTERS),
    message: bound(message, MAX_MESSAGE_CHARACTERS),
  };
}

type AllFields = Receipt & { readonly code: string; readonly message: string };

function isSameMoment(moment: unknown, intent: GameActionIntent): boolean {
  if (typeof moment !== "object" || moment === null) return false;
  const { timelineId, tick } = moment as { readonly timelineId?: unknown; readonly tick?: unknown }; // fields of unknown type
  return timelineId === intent.moment.timelineId && tick === intent.moment.tick;
}

/** A result as `JSON.stringify` sees it, or a placeholder that says what could not be recorded. */
function recordResult(result: unknown): JsonValue {
  let text: string | undefined;
  try {
    text = JSON.stringify(result);
  } catch {
    return placeholder("not representable as JSON");
  }
  if (text === undefined) return null;
  if (text.length > MAX_RECEIPT_CHARACTERS)
    return placeholder(`larger than ${MAX_RECEIPT_CHARACTERS} characters`, text);
  const copied = copyPlainJson(JSON.parse(text));
  return copied.ok ? copied.value : placeholder(copied.fault, text);
}

function placeholder(fault: string, text?: string): JsonValue {
  return {
    note: UNRECORDABLE_TEXT,
    fault,
    ...(text !== undefined && { characters: text.length, sha256: bytesToHex(sha256(utf8ToBytes(text))) }),
  };
}

/** @throws KernelError `INVALID_OPTIONS` for anything but an intent: there is nothing that a receipt could be of. */
function subjectOf(intent: ReceiptSubject): ReceiptSubject {
  return readGiven("intent", () => {
    const { operationId, moment } = intent;
    return { operationId, moment: { timelineId: moment.timelineId, tick: moment.tick } };
  });
}

function revisionOf(options: { readonly stateRevision?: number | undefined } | null): number | undefined {
  try {
    return options?.stateRevision;
  } catch {
    return undefined;
  }
}

function bound(text: string, maxCharacters: number): string {
  return (text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text).toWellFormed();
}
