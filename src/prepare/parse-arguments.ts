import type { JsonValue } from "../domain/json.ts";
import { findTextFault } from "./find-text-fault.ts";
import { showPlace } from "./json-pointer.ts";
import { walkJson } from "./walk-json.ts";

/** A draft as JSON, or why it cannot be one. `reason` is fit for the model. */
export type ParsedDraft =
  | { readonly ok: true; readonly draft: JsonValue }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses the arguments of a model's draft (PREP-11). JSON text is parsed strictly and never repaired;
 * an object that an SDK has parsed is copied. Absent, `undefined`, `null` and blank text mean `{}`;
 * the text `null` is the JSON value null. Any JSON value is a draft: that it is an object is asked later.
 *
 * Refused, with the fault and its place but never the payload: text that is not JSON, a key
 * `__proto__`, `prototype` under `constructor`, a duplicate key (compared as decoded), more than 64
 * containers deep, a whole number that a double cannot hold exactly, a number that overflows or is rounded to zero; of a
 * parsed object also every whole number between 2^53 and 1e21, which may have been rounded already.
 *
 * The draft belongs to the caller alone. With `freeze` it is deep-frozen on the way where one look at it is
 * enough; it is then frozen as a whole, else at most in its parts.
 */
export function parseArguments(raw: unknown, freeze = false): ParsedDraft {
  if (raw === undefined || raw === null) return { ok: true, draft: {} };
  return typeof raw === "string" ? parseText(raw, freeze) : copyParsed(raw, freeze);
}

function parseText(text: string, freeze: boolean): ParsedDraft {
  if (text.trim() === "") return { ok: true, draft: {} };
  let draft: JsonValue;
  try {
    draft = JSON.parse(text) as JsonValue; // the parser makes nothing but JSON
  } catch {
    return refuseText(text) ?? { ok: false, reason: "arguments are not valid JSON" };
  }
  // JSON.parse hides duplicate keys and rounded numbers. The value tells whether there can be one: it
  // has fewer keys than the text, a number so large that its text must be looked at, or one that is 0 and
  // may have been rounded to it.
  const walk = walkJson(draft, { containers: "same", freeze, integers: "exact" });
  const isAllThere = walk.ok && (walk.keys === countAtMost(text) || walk.keys === countKeys(text));
  if (isAllThere && !(walk.hasZero && mayHoldTiny(text))) return { ok: true, draft };
  return refuseText(text) ?? { ok: true, draft };
}

function refuseText(text: string): ParsedDraft | undefined {
  const found = findTextFault(text);
  if (found === undefined) return undefined;
  const place = found.path.length === 0 ? "" : ` (${showPlace(found.path)})`;
  const reason =
    found.kind === "syntax"
      ? `arguments are not valid JSON: ${found.fault} at position ${found.position}${place}`
      : `arguments hold ${found.fault} at position ${found.position}${place}`;
  return { ok: false, reason };
}

/** Whether text may hold a number that is not zero and becomes it: by a long exponent, or so many zeros that any is enough. */
function mayHoldTiny(text: string): boolean {
  // A minus is rarer in text than an e, and so is quicker looked for.
  for (let minus = text.indexOf("-", 2); minus !== -1; minus = text.indexOf("-", minus + 1)) {
    if (TINY_EXPONENT.test(text.slice(minus - 2, minus + 4))) return true;
  }
  return text.includes(MANY_ZEROS);
}

/**
 * Counts what may be keys of text that is valid JSON: colons behind a quote, also such inside of strings. Where
 * that is the number of keys of the value, all of them are there and none of them twice; it is quickly counted.
 */
function countAtMost(text: string): number {
  let keys = 0;
  for (let colon = text.indexOf(":"); colon !== -1; colon = text.indexOf(":", colon + 1)) {
    let before = colon - 1;
    while (text.charCodeAt(before) <= SPACE) before -= 1;
    if (text.charCodeAt(before) === QUOTE) keys += 1;
  }
  return keys;
}

/** Counts the keys of text that is valid JSON: strings that a colon follows. */
function countKeys(text: string): number {
  let keys = 0;
  for (let start = text.indexOf('"'); start !== -1; ) {
    let next = closingQuote(text, start) + 1;
    while (text.charCodeAt(next) <= SPACE) next += 1;
    if (text.charCodeAt(next) === COLON) keys += 1;
    start = text.indexOf('"', next);
  }
  return keys;
}

/** The smallest numbers are about 5e-324: with fewer digits in the exponent it takes zeros, or as many, before it. */
const TINY_EXPONENT = /[0-9][eE]-[0-9]{3}/;
const MANY_ZEROS = "0".repeat(200);
const SPACE = 0x20;
const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Where the string that opens at `start` closes: the next quote behind an even number of backslashes. */
function closingQuote(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

function copyParsed(raw: unknown, freeze: boolean): ParsedDraft {
  const walk = walkJson(raw, { containers: "fresh", freeze, integers: "safe" });
  if (walk.ok) return { ok: true, draft: walk.value };
  return { ok: false, reason: `arguments must be plain JSON, but hold ${walk.fault} ${showPlace(walk.path)}` };
}
