/**
 * The only maker of results: every call's one result comes from a function of this file.
 * Owns: nothing; pure. Upholds: UNC-1, UNC-8, CAN-2, PREP-6, PREP-13, REP-5.
 */
import type { Refusal } from "../domain/call.ts";
import {
  type ContentPart,
  type DeclaredResult,
  findUnknownField,
  isDeclaredResult,
  RESULT_FIELDS,
  readField,
  type ToolResult,
} from "../domain/content.ts";
import { durableOutcomeOf } from "../domain/durable-result.ts";
import type { FailureCategory } from "../domain/failure.ts";
import { UNRECORDABLE_TEXT } from "../domain/fixed-texts.ts";
import type { JsonValue } from "../domain/json.ts";
import { categoryOf, clipSaid, messageOf, readCategory } from "../domain/read-thrown.ts";
import type { Writable } from "../domain/writable.ts";
import {
  blockedText,
  cancelledText,
  repeatTerminatedText,
  showName,
  stoppedText,
  UNCERTAIN_TEXT,
} from "./kernel-texts.ts";
import { recordValue } from "./record-value.ts";
import { contentOf, type ReadContent, readContent, textPart } from "./result-content.ts";

/** The most that a receipt has beside its result: ids, code and message are bounded. */
const MAX_RECEIPT_HEAD_CHARACTERS = 32_768;

/** What an executor answered, read: its result, and what it means for the outcome. */
export interface ReadAnswer {
  readonly means: "success" | "failure" | "lost";
  readonly result: ToolResult;
}

/** How an answer is read: `maxCharacters` bounds what is recorded; a read's uncertainty flag means nothing (UNC-1). */
export interface ReadReturnOptions {
  readonly maxCharacters: number;
  readonly isWrite: boolean;
}

/** Why a dispatched call has no answer of its own. */
export type LossCause = "timeout" | "cancelled" | "internal";

/**
 * Reads what an executor returned: a declared result, a plain object in MCP's shape, or a value. Never
 * throws. A value that cannot be recorded is not a lost outcome: its place is taken by a bounded text, and
 * the readable flags stand (UNC-1).
 */
export function readReturn(value: unknown, { maxCharacters, isWrite }: ReadReturnOptions): ReadAnswer {
  const declared = readDeclared(value);
  if (declared === undefined) return answer(resultOf(contentOf(recordValue(value, maxCharacters)), {}));
  const content = readDeclaredContent(value, declared, maxCharacters);
  return answer(
    resultOf(content, {
      isError: declared.isError,
      failureCategory: declared.failureCategory,
      terminate: declared.terminate,
      outcomeUncertain: isWrite && declared.outcomeUncertain,
      details: readDetails(declared.details, { maxCharacters, isReceipt: durableOutcomeOf(value) !== undefined }),
    }),
  );
}

/** What the tool meant by an unknown field cannot be known, so nothing else it said is taken for the whole. */
function readDeclaredContent(value: unknown, declared: DeclaredFields, maxCharacters: number): ReadContent {
  const unknown = isDeclaredResult(value) ? findUnknownField(value) : undefined;
  if (unknown !== undefined)
    return { kind: "fault", fault: `toolResult has no field ${showName(unknown)}; check its spelling` };
  return declared.content === undefined
    ? contentOf(recordValue(declared.value, maxCharacters))
    : readContent(declared.content, maxCharacters);
}

/**
 * Reads details. Of a receipt that cannot be recorded whole only its `result` goes: which operation it was, and
 * what became of it, is what the host goes by (PROJ-2).
 */
function readDetails(
  details: unknown,
  { maxCharacters, isReceipt }: { readonly maxCharacters: number; readonly isReceipt: boolean },
): JsonValue | undefined {
  const recorded = recordValue(details, maxCharacters);
  if (recorded.kind === "json") return recorded.value;
  if (recorded.kind === "empty") return undefined;
  const fault = { ...recorded };
  if (!isReceipt || typeof details !== "object") return fault;
  const short = recordValue({ ...details, result: fault }, Math.max(maxCharacters, MAX_RECEIPT_HEAD_CHARACTERS));
  return short.kind === "json" ? short.value : fault;
}

/** The result of a failure that is certain: a `ToolError`, or any throw that means nothing happened. */
export function failureResult(error: unknown, category: FailureCategory, maxCharacters?: number): ToolResult {
  return errorResult([textPart(messageOf(error, maxCharacters))], categoryOf(error, category));
}

/**
 * The result of an executor that did not answer, or threw, after its signal had fired, where nothing can be
 * uncertain; `reason` is the host's for a cancellation, if it gave a string.
 */
export function stoppedResult(cause: "timeout" | "cancelled", reason?: string): ToolResult {
  return errorResult([textPart(stoppedText(cause, reason))], cause);
}

/**
 * The result of a write whose outcome is unknown. Whatever the tool said of it comes first, the kernel's
 * fixed text always last; never a retryable category (UNC-8).
 */
export function uncertainResult(cause: LossCause, said?: ToolResult | string): ToolResult {
  const parts = said === undefined ? [] : typeof said === "string" ? [textPart(said)] : said.content;
  const saidResult = typeof said === "object" ? said : undefined;
  return {
    ...errorResult([...parts, textPart(UNCERTAIN_TEXT)], cause),
    ...(saidResult?.details !== undefined && { details: saidResult.details }),
    outcomeUncertain: true,
    terminate: saidResult?.terminate ?? false,
  };
}

/** The result of a call that failed preparation, or was refused with its whole response (PREP-6). */
export function refusedResult(
  { reason, failureCategory, terminate }: Pick<Refusal, "reason" | "failureCategory" | "terminate">,
  maxCharacters?: number,
): ToolResult {
  return { ...errorResult([textPart(clipSaid(reason, maxCharacters))], failureCategory), terminate };
}

/** The result of a call that an uncertain write holds back (UNC-5). */
export function blockedResult(blocker: { readonly callId: string; readonly toolName: string }): ToolResult {
  return errorResult([textPart(blockedText(blocker))], "conflict");
}

/** The result of a call that was cancelled before dispatch; `reason` is the host's, if it gave a string. */
export function cancelledResult(reason: string | undefined): ToolResult {
  return errorResult([textPart(cancelledText(reason))], "cancelled");
}

/** The result of an exact repeat that was not run (REP-5). */
export function repeatTerminatedResult(toolName: string, count: number): ToolResult {
  return { ...errorResult([textPart(repeatTerminatedText(toolName, count))], "conflict"), terminate: true };
}

interface ResultFlags {
  readonly isError?: unknown;
  readonly failureCategory?: unknown;
  readonly terminate?: unknown;
  readonly outcomeUncertain?: unknown;
  readonly details?: JsonValue | undefined;
}

function resultOf(read: ReadContent, flags: ResultFlags): ToolResult {
  const isUncertain = flags.outcomeUncertain === true;
  const isError = flags.isError === true || isUncertain;
  const result: Writable<ToolResult> = {
    content: read.kind === "content" ? read.content : [textPart(placeholder(read))],
    isError,
    outcomeUncertain: isUncertain,
    terminate: flags.terminate === true,
  };
  if (flags.details !== undefined) result.details = flags.details;
  if (isError) result.failureCategory = readCategory(flags.failureCategory);
  return result;
}

function answer(result: ToolResult): ReadAnswer {
  return { means: result.outcomeUncertain ? "lost" : result.isError ? "failure" : "success", result };
}

function placeholder(fault: Extract<ReadContent, { kind: "fault" }>): string {
  const size = fault.size === undefined ? "" : `, ${fault.size} characters`;
  const hash = fault.hash === undefined ? "" : `, sha256 ${fault.hash}`;
  return `${UNRECORDABLE_TEXT} (${fault.fault}${size}${hash}).`;
}

function errorResult(content: readonly ContentPart[], failureCategory: FailureCategory): ToolResult {
  return { content, isError: true, failureCategory, outcomeUncertain: false, terminate: false };
}

type DeclaredFields = Partial<Record<keyof Omit<DeclaredResult, symbol>, unknown>>;

/** The fields of a declared result or of an object in MCP's shape; undefined for any other value. */
function readDeclared(value: unknown): DeclaredFields | undefined {
  if (isDeclaredResult(value)) {
    return Object.fromEntries(RESULT_FIELDS.map((name) => [name, readField(value, name)]));
  }
  try {
    return isMcpShaped(value) ? { content: value.content, isError: value.isError } : undefined;
  } catch {
    return undefined;
  }
}

function isMcpShaped(value: unknown): value is { readonly content: readonly unknown[]; readonly isError?: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { content, isError } = value as { content?: unknown; isError?: unknown };
  if (!Array.isArray(content) || (isError !== undefined && typeof isError !== "boolean")) return false;
  return content.every(
    (part) => typeof part === "object" && part !== null && typeof (part as { type?: unknown }).type === "string",
  );
}
