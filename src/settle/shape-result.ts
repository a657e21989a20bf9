import { type ContentPart, RESULT_FIELDS, type ToolResult, toolResult } from "../domain/content.ts";
import { isPlainObject } from "../domain/json.ts";
import { UNCERTAIN_TEXT, WITHHELD_TEXT } from "./kernel-texts.ts";
import { textPart } from "./result-content.ts";
import { readReturn } from "./settle-call.ts";

/**
 * Applies what `afterToolCall` answered to a result. Fields it does not name stay; it can never clear the
 * uncertainty of a write, and the model is told of that whatever it answered (PREP-13). An answer that is
 * not a result counts as a failure of the hook.
 */
export function shapeByHook(result: ToolResult, answer: unknown, maxCharacters: number): ToolResult {
  if (answer === undefined) return result;
  const named = namedFields(answer);
  if (named === undefined) return withholdResult(result);
  const read = readReturn(toolResult(Object.fromEntries(named)), { maxCharacters, isWrite: false }).result;
  const hasContent = named.has("content") || named.has("value");
  const isError = result.outcomeUncertain || (named.has("isError") ? read.isError : result.isError);
  const category = named.has("failureCategory") ? read.failureCategory : result.failureCategory;
  const details = named.has("details") ? read.details : result.details;
  return {
    content: hasContent ? keepWarning(result, read.content) : result.content,
    ...(details !== undefined && { details }),
    isError,
    ...(isError && { failureCategory: (result.outcomeUncertain ? result.failureCategory : category) ?? "unspecified" }),
    outcomeUncertain: result.outcomeUncertain,
    terminate: named.has("terminate") ? read.terminate : result.terminate,
  };
}

/** In place of a result whose hook failed: that it completed, and nothing else of it (PREP-13). */
export function withholdResult(result: ToolResult): ToolResult {
  return {
    content: keepWarning(result, [textPart(WITHHELD_TEXT)]),
    ...(result.details !== undefined && { details: result.details }),
    isError: true,
    failureCategory: "internal",
    outcomeUncertain: result.outcomeUncertain,
    terminate: result.terminate,
  };
}

/** The fields of a declared result, or of a plain object with nothing but a result's fields. */
function namedFields(answer: unknown): ReadonlyMap<string, unknown> | undefined {
  try {
    if (typeof answer !== "object" || answer === null || !isPlain(answer)) return undefined;
    const entries = Object.entries(answer).filter(([, value]) => value !== undefined);
    return entries.every(([name]) => RESULT_FIELDS.some((known) => known === name)) ? new Map(entries) : undefined;
  } catch {
    return undefined;
  }
}

/** An Error, a Map or an array has no fields to name either, and is not a result for that reason. */
function isPlain(answer: object): boolean {
  return !Array.isArray(answer) && isPlainObject(answer);
}

function keepWarning(result: ToolResult, content: readonly ContentPart[]): readonly ContentPart[] {
  if (!result.outcomeUncertain) return content;
  const isTold = content.some((part) => part.type === "text" && part.text === UNCERTAIN_TEXT);
  return isTold ? content : [...content, textPart(UNCERTAIN_TEXT)];
}
