import { isPromiseLike } from "../domain/promise-like.ts";
import type { StandardIssue, StandardSchema } from "../domain/schema.ts";
import { clipText, showPointer } from "./json-pointer.ts";

/**
 * What a Standard Schema makes of a value. `value` is its output as it came: the caller copies and
 * freezes it. `threw`: the schema itself failed, which says nothing about the value.
 */
export type StandardVerdict =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string; readonly threw: boolean };

/** How many issues one reason names. */
const MAX_DESCRIBED_ISSUES = 8;
/** Longest message of one issue, in UTF-16 units. */
const MAX_MESSAGE_CHARACTERS = 300;

/**
 * Runs a Standard Schema's own validation, exactly once (PREP-1). Returns at once or by a promise, as
 * the schema does; never throws and never rejects. The reason names paths and what the schema says
 * about them; where a library quotes the value, the quotation is taken out.
 */
export function validateStandard(schema: StandardSchema, value: unknown): StandardVerdict | Promise<StandardVerdict> {
  try {
    const answer: unknown = schema["~standard"].validate(value);
    if (!isPromiseLike(answer)) return readAnswer(answer, value);
    return Promise.resolve(answer).then(
      (settled) => readAnswer(settled, value),
      () => FAILED,
    );
  } catch {
    return FAILED;
  }
}

const FAILED: StandardVerdict = { ok: false, reason: "the validation of the tool's input schema failed", threw: true };

function readAnswer(answer: unknown, value: unknown): StandardVerdict {
  try {
    if (typeof answer !== "object" || answer === null) return FAILED;
    if ("issues" in answer && answer.issues) {
      if (!Array.isArray(answer.issues)) return FAILED;
      return { ok: false, reason: describeIssues(answer.issues, value), threw: false };
    }
    return "value" in answer ? { ok: true, value: answer.value } : FAILED;
  } catch {
    return FAILED;
  }
}

function describeIssues(issues: readonly StandardIssue[], value: unknown): string {
  const texts = issues.slice(0, MAX_DESCRIBED_ISSUES).map((issue) => describeIssue(issue, value));
  const left = issues.length - texts.length;
  if (texts.length === 0) return "the tool's input schema refuses the arguments";
  return left > 0 ? `${texts.join("; ")}; and ${left} more` : texts.join("; ");
}

function describeIssue(issue: StandardIssue, value: unknown): string {
  const path = (issue.path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment));
  const message = clipText(withoutValue(String(issue.message), valueAt(value, path)), MAX_MESSAGE_CHARACTERS);
  return path.length === 0 ? message : `at ${showPointer(path)}: ${message}`;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Readonly<Record<string, unknown>>)[key]; // an own key of the object
  }
  return here;
}

/** Shortest text that is taken out of a message where it stands without quotes. */
const MIN_BARE_CHARACTERS = 4;

/** Libraries such as Valibot and ArkType repeat the value in their message ("received ...", "was ..."). */
function withoutValue(message: string, value: unknown): string {
  if (typeof value === "string" && value !== "") {
    const quoted = message.replaceAll(JSON.stringify(value), "(the value)").replaceAll(`'${value}'`, "(the value)");
    return value.length < MIN_BARE_CHARACTERS ? quoted : quoted.replaceAll(value, "(the value)");
  }
  if (typeof value === "number")
    return message
      .split(/(-?[0-9]+(?:\.[0-9]+)?)/)
      .map((part) => (part === String(value) ? "(the value)" : part))
      .join("");
  if (typeof value === "object" && value !== null) return message.replaceAll(JSON.stringify(value), "(the value)");
  return message;
}
