import { MAX_MODEL_RECEIPT_CHARACTERS, type ModelReceiptProjector, type ProjectionInput } from "../domain/action.ts";
import { isPlainObject, type JsonObject, type JsonValue, MAX_JSON_DEPTH } from "../domain/json.ts";
import { ignoreRejection, isPromiseLike } from "../domain/promise-like.ts";

/**
 * Asks a host's projector what the model sees of a receipt, and reads the answer: an object, or JSON text
 * of one, of at most 64,000 UTF-16 units, without duplicate keys, at most 64 containers deep (PROJ-3).
 * Undefined for everything else, a throw and a promise included. Never throws.
 */
export function readProjection(projector: ModelReceiptProjector, input: ProjectionInput): JsonObject | undefined {
  try {
    const answer: unknown = projector(input);
    ignoreRejection(answer); // a promise is no answer, and nobody else looks at it
    const text = textOf(answer);
    if (text === undefined || text.length > MAX_MODEL_RECEIPT_CHARACTERS) return undefined;
    const value = JSON.parse(text) as JsonValue; // the parser makes nothing but JSON
    return isObject(value) && isExact(value) && isUnambiguous(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textOf(answer: unknown): string | undefined {
  if (typeof answer === "string") return answer;
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return undefined;
  if (isPromiseLike(answer)) return undefined;
  // Whatever is no plain object would be shown as an empty one, such as a map.
  return isPlainObject(answer) ? JSON.stringify(answer) : undefined;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether every number is finite: text can name numbers that cannot be held. */
function isExact(value: JsonValue): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every(isExact);
}

/** Whether text that is valid JSON names no key twice in one object, and nests no deeper than allowed. */
function isUnambiguous(text: string): boolean {
  const open: Set<string>[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') {
      const end = closingQuote(text, index);
      if (isKey(text, end) && !addKey(open, JSON.parse(text.slice(index, end + 1)) as string)) return false; // a JSON string
      index = end;
    } else if (character === "{" || character === "[") {
      open.push(new Set());
      if (open.length > MAX_JSON_DEPTH) return false;
    } else if (character === "}" || character === "]") {
      open.pop();
    }
  }
  return true;
}

function closingQuote(text: string, start: number): number {
  let end = start + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end;
}

function isKey(text: string, end: number): boolean {
  let next = end + 1;
  while (/\s/.test(text[next] ?? "")) next += 1;
  return text[next] === ":";
}

function addKey(open: readonly Set<string>[], key: string): boolean {
  const keys = open.at(-1);
  if (keys === undefined || keys.has(key)) return false;
  keys.add(key);
  return true;
}
