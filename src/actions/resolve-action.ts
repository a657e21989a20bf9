import stableStringify from "fast-json-stable-stringify";
import type { ActionResolution, GameActionReceipt as Receipt } from "../domain/action.ts";
import { mustBeRecord, readGiven } from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";
import type { JournalEntry } from "../domain/journal.ts";
import type { JsonValue } from "../domain/json.ts";
import type { DispatchParts } from "./dispatch-parts.ts";
import { copyPlainJson } from "./plain-json.ts";
import { GameActionReceipt, MAX_CODE_CHARACTERS, MAX_MESSAGE_CHARACTERS, MAX_RECEIPT_CHARACTERS } from "./receipt.ts";
import { lookAfter } from "./reconcile-action.ts";

/** How long reconcilers are kept away while a person's word is saved. */
const HOLD_MS = 30_000;
/** How often a word is said again that somebody else has overtaken without ending the operation. */
const MOST_TRIES = 20;
const STATUSES = ["committed", "rejected", "failed"] as const;
const PARTS: readonly string[] = ["status", "evidence", "result", "code", "message"];
const MAX_CHARACTERS = { code: MAX_CODE_CHARACTERS, message: MAX_MESSAGE_CHARACTERS };

/**
 * Closes an uncertain operation by a person's word, under a raised fence, with the evidence stored (ACT-5).
 * Saying the same of a final entry again is fine.
 * @throws KernelError `OPERATION_UNKNOWN`, `OPERATION_FORGOTTEN`, `RECEIPT_IMMUTABLE` when it ended otherwise,
 * `INVALID_OPTIONS` when it is not uncertain or the resolution is invalid, or `JOURNAL_*`.
 */
export async function resolveAction(
  parts: DispatchParts,
  operationId: string,
  resolution: ActionResolution,
): Promise<Receipt> {
  const word = readWord(operationId, resolution); // before anything is taken over for it
  const entry = await lookAfter(parts, operationId);
  if (entry.state !== "uncertain") return confirmEnding(entry, word);
  const { protocol } = parts.journal;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const taken = await protocol.takeOver({ operationId, by: "person", holdMs: HOLD_MS });
    if (taken.kind === "settled") return confirmEnding(taken.entry, word);
    if (taken.kind !== "taken") throw invalid(operationId, "the journal did not hand it over; try again");
    const receipt = receiptOf(taken.entry, word);
    const saved = await protocol.finish({ operationId, fence: taken.entry.fence, receipt, evidence: word.evidence });
    if (saved.kind === "saved") return receipt;
    // Somebody took it over in between, and may have ended it or not: nobody's word is lost to that.
    if (saved.entry.state !== "uncertain") return confirmEnding(saved.entry, word);
  }
  throw invalid(operationId, "others are taking it over at the same time; try again");
}

function confirmEnding(entry: JournalEntry, word: ActionResolution): Receipt {
  const { operationId } = entry.intent;
  const { state, receipt } = entry;
  if (receipt === undefined || state === "prepared" || state === "dispatched" || state === "uncertain") {
    throw invalid(operationId, `it is ${state}, and only an uncertain operation can be closed by hand`);
  }
  if (isSameEnding(receipt, word)) return receipt;
  throw new KernelError(
    "RECEIPT_IMMUTABLE",
    `Operation ${operationId} has ended as ${state}; that cannot be changed.`,
    {
      subject: operationId,
    },
  );
}

/** Whether all that the person says is what the stored receipt says. */
function isSameEnding(receipt: Receipt, { status, result, code, message }: ActionResolution): boolean {
  if (receipt.status !== status) return false;
  if (receipt.status === "committed")
    return result === undefined || stableStringify(result) === stableStringify(receipt.result);
  return (code ?? receipt.code) === receipt.code && (message ?? receipt.message) === receipt.message;
}

function receiptOf({ intent }: JournalEntry, { status, result, code, message }: ActionResolution): Receipt {
  if (status !== "committed") {
    return GameActionReceipt[status](
      intent,
      code ?? "resolved",
      message ?? "A person found out that the action did not happen.",
    );
  }
  return GameActionReceipt.committed(intent, result ?? null);
}

/**
 * Reads a person's word. They can say it again: nothing is cut or left out for them.
 * @throws KernelError `INVALID_OPTIONS` naming the part.
 */
function readWord(operationId: string, given: unknown): ActionResolution {
  return readGiven("resolution", () => readParts(operationId, given));
}

function readParts(operationId: string, given: unknown): ActionResolution {
  if (mustBeRecord(given) !== undefined) throw invalid(operationId, "the resolution is not an object");
  const word = given as Readonly<Record<string, unknown>>; // an object, as was just checked
  const unknown = Object.keys(word).find((name) => !PARTS.includes(name));
  if (unknown !== undefined)
    throw invalid(operationId, `${unknown.slice(0, 64)} is not part of a resolution; check its spelling`);
  const status = STATUSES.find((known) => known === word.status);
  if (status === undefined) throw invalid(operationId, "its status is not one of committed, rejected, failed");
  return {
    status,
    evidence: readJson(operationId, "evidence", word.evidence),
    result: word.result === undefined ? undefined : readJson(operationId, "result", word.result),
    code: readText(operationId, "code", word.code),
    message: readText(operationId, "message", word.message),
  };
}

function readText(operationId: string, part: keyof typeof MAX_CHARACTERS, value: unknown): string | undefined {
  const max = MAX_CHARACTERS[part];
  if (value === undefined) return undefined;
  if (typeof value === "string" && value.length <= max && value.isWellFormed()) return value;
  throw invalid(operationId, `its ${part} is not a well-formed string of at most ${max} characters`);
}

function readJson(operationId: string, part: "evidence" | "result", value: unknown): JsonValue {
  const copied = copyPlainJson(value);
  if (!copied.ok) throw invalid(operationId, `its ${part} ${copied.fault}`);
  if (JSON.stringify(copied.value).length <= MAX_RECEIPT_CHARACTERS) return copied.value;
  throw invalid(operationId, `its ${part} is longer than ${MAX_RECEIPT_CHARACTERS} characters`);
}

function invalid(operationId: string, fault: string): KernelError {
  return new KernelError("INVALID_OPTIONS", `Operation ${operationId} cannot be resolved: ${fault}.`, {
    subject: operationId,
  });
}
