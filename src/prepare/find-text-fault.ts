import { MAX_JSON_DEPTH } from "../domain/json.ts";
import { JSON_FAULTS } from "./walk-json.ts";

/**
 * The first fault of JSON text. `position` counts UTF-16 units from 0, `path` leads to the place;
 * `fault` is a phrase that holds nothing of the text. `syntax`: the text is not JSON. `content`: it is,
 * but not JSON that can be taken (PREP-11).
 */
export interface TextFault {
  readonly kind: "syntax" | "content";
  readonly fault: string;
  readonly position: number;
  readonly path: readonly (string | number)[];
}

/**
 * Reads JSON text slowly and exactly and returns its first fault, or `undefined` for text that can be
 * taken. It makes no values: `JSON.parse` does; this says what that hides (duplicate keys, rounded
 * numbers) and, in place of its messages, which quote the text, where the text goes wrong. Linear in
 * the length of the text; recursion is bounded by the nesting allowed.
 */
export function findTextFault(text: string): TextFault | undefined {
  const scan: Scan = { text, at: 0, path: [], found: undefined };
  if (scanValue(scan)) {
    skipSpace(scan);
    if (scan.at < text.length) fail(scan, "syntax", "unexpected text after the end of the value");
  }
  return scan.found;
}

interface Scan {
  readonly text: string;
  at: number;
  /** Where the scan is: as long as there are containers around. Left standing at the fault. */
  readonly path: (string | number)[];
  found: TextFault | undefined;
}

const QUOTE = '"';
// Sticky patterns, which match where `lastIndex` stands; only skipPattern uses them, and sets it each time.
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these in a string
const PLAIN_CHARACTERS = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Scans one value; false when a fault was found. */
function scanValue(scan: Scan): boolean {
  skipSpace(scan);
  const first = scan.text[scan.at];
  if (first === "{" || first === "[") {
    if (scan.path.length === MAX_JSON_DEPTH) return fail(scan, "content", JSON_FAULTS.depth);
    scan.at += 1;
    return first === "{" ? scanObject(scan) : scanArray(scan);
  }
  if (first === QUOTE) return scanString(scan) !== undefined;
  if (first === undefined) return fail(scan, "syntax", "the text ends where a value was expected,");
  if (first === "-" || (first >= "0" && first <= "9")) return scanNumber(scan);
  return scanWord(scan);
}

function scanObject(scan: Scan): boolean {
  const keys = new Set<string>();
  if (skipCharacter(scan, "}")) return true;
  do {
    skipSpace(scan);
    const keyAt = scan.at;
    const parentKey = scan.path.at(-1);
    if (scan.text[keyAt] !== QUOTE) return expected(scan, "a property name in double quotes");
    const key = scanString(scan);
    if (key === undefined) return false;
    scan.path.push(key);
    const keyFault = judgeKey(key, parentKey, keys);
    if (keyFault !== undefined) return failAt(scan, keyAt, keyFault);
    keys.add(key);
    if (!skipCharacter(scan, ":")) return expected(scan, "a colon after the property name");
    if (!scanValue(scan)) return false;
    scan.path.pop();
  } while (skipCharacter(scan, ","));
  return skipCharacter(scan, "}") || expected(scan, "a comma or } after the property");
}

function judgeKey(
  key: string,
  parentKey: string | number | undefined,
  earlier: ReadonlySet<string>,
): string | undefined {
  if (key === "__proto__") return JSON_FAULTS.protoKey;
  if (key === "prototype" && parentKey === "constructor") return JSON_FAULTS.prototypeKey;
  return earlier.has(key) ? "a duplicate key" : undefined;
}

function scanArray(scan: Scan): boolean {
  if (skipCharacter(scan, "]")) return true;
  let index = 0;
  do {
    scan.path.push(index);
    if (!scanValue(scan)) return false;
    scan.path.pop();
    index += 1;
  } while (skipCharacter(scan, ","));
  return skipCharacter(scan, "]") || expected(scan, "a comma or ] after the array element");
}

/** Scans a string that opens here; returns it decoded, `undefined` when a fault was found. */
function scanString(scan: Scan): string | undefined {
  const start = scan.at;
  scan.at += 1;
  let escaped = false;
  for (;;) {
    skipPattern(scan, PLAIN_CHARACTERS);
    const next = scan.text[scan.at];
    if (next === QUOTE) break;
    if (next === undefined) return failString(scan, "the text ends inside a string");
    if (next !== "\\") return failString(scan, "a control character that is not escaped in a string");
    if (!skipPattern(scan, ESCAPE)) return failString(scan, "a bad escape in a string");
    escaped = true;
  }
  scan.at += 1;
  const literal = scan.text.slice(start, scan.at);
  return escaped ? (JSON.parse(literal) as string) : literal.slice(1, -1); // a string literal that was just scanned
}

function scanNumber(scan: Scan): boolean {
  const start = scan.at;
  if (!skipPattern(scan, NUMBER)) return fail(scan, "syntax", "a number that is not written as JSON allows");
  if (/[0-9.eE+-]/.test(scan.text[scan.at] ?? "")) {
    scan.at = start;
    return fail(scan, "syntax", "a number that is not written as JSON allows");
  }
  const fault = judgeNumber(scan.text.slice(start, scan.at));
  return fault === undefined || failAt(scan, start, fault);
}

/** Whether a number's text survives the way through a double; fractions below 2^53 are rounded as everywhere, but not to nothing. */
function judgeNumber(literal: string): string | undefined {
  const value = Number(literal);
  if (!Number.isFinite(value)) return JSON_FAULTS.overflow;
  if (value === 0 && /^[^eE]*[1-9]/.test(literal)) return JSON_FAULTS.underflow;
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return undefined;
  const exact = /^-?[0-9]+$/.test(literal)
    ? BigInt(literal) === BigInt(value)
    : decimalOf(literal) === decimalOf(String(value));
  return exact ? undefined : JSON_FAULTS.inexactInteger;
}

/** A number's significant digits and exponent: the same for every spelling of one decimal number. */
function decimalOf(literal: string): string {
  const [mantissa = "", exponent = "0"] = literal.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === "0") start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === "0") end -= 1;
  return `${digits.slice(start, end)}e${Number(exponent) - fraction.length + (digits.length - end)}`;
}

function scanWord(scan: Scan): boolean {
  for (const word of ["true", "false", "null"]) {
    if (scan.text.startsWith(word, scan.at)) {
      scan.at += word.length;
      return true;
    }
  }
  if (scan.text.startsWith("```", scan.at)) return fail(scan, "syntax", "a code fence where bare JSON was expected,");
  return expected(scan, "a value");
}

function skipSpace(scan: Scan): void {
  while (" \n\r\t".includes(scan.text[scan.at] ?? "x")) scan.at += 1;
}

function skipCharacter(scan: Scan, character: string): boolean {
  skipSpace(scan);
  if (scan.text[scan.at] !== character) return false;
  scan.at += 1;
  return true;
}

function skipPattern(scan: Scan, pattern: RegExp): boolean {
  pattern.lastIndex = scan.at;
  if (!pattern.test(scan.text)) return false;
  scan.at = pattern.lastIndex;
  return true;
}

function expected(scan: Scan, what: string): boolean {
  const ended = scan.at >= scan.text.length;
  return fail(scan, "syntax", ended ? `the text ends where ${what} was expected,` : `${what} was expected`);
}

function failString(scan: Scan, fault: string): undefined {
  fail(scan, "syntax", fault);
}

/** A fault of what was scanned from `position` on. */
function failAt(scan: Scan, position: number, fault: string): false {
  scan.at = position;
  return fail(scan, "content", fault);
}

function fail(scan: Scan, kind: TextFault["kind"], fault: string): false {
  scan.found = { kind, fault, position: scan.at, path: [...scan.path] };
  return false;
}
