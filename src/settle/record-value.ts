import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { type JsonValue, MAX_JSON_DEPTH } from "../domain/json.ts";

/** A value as it was recorded: a detached JSON copy, or why it could not be recorded. */
export type RecordedValue =
  | { readonly kind: "empty" }
  | { readonly kind: "json"; readonly value: JsonValue }
  | { readonly kind: "fault"; readonly fault: string; readonly size?: number; readonly hash?: string };

/** Lone surrogates are the only thing that well-formed JSON text writes as an escape of this form. */
const LONE_SURROGATE = /\\ud[89a-f][0-9a-f]{2}/;

/**
 * Records a value as `JSON.stringify` sees it: a copy that no later change of the tool's can reach.
 * `undefined`, a function and a symbol are empty. Never throws: a cycle, a BigInt, a getter or `toJSON`
 * that throws, more than `maxDepth` containers deep or more than `maxCharacters` UTF-16 units are a fault, with
 * size and SHA-256 where there was text to measure (UNC-1).
 */
export function recordValue(value: unknown, maxCharacters: number, maxDepth: number = MAX_JSON_DEPTH): RecordedValue {
  if (value === undefined) return { kind: "empty" };
  if (value === null || typeof value === "boolean") return { kind: "json", value };
  try {
    const text = JSON.stringify(value);
    if (text === undefined) return { kind: "empty" };
    if (text.length > maxCharacters) return tooLarge(text, maxCharacters);
    if (typeof value === "string") return { kind: "json", value };
    const copy = JSON.parse(text) as JsonValue; // JSON.parse of text that JSON.stringify made is JSON
    if (isDeeperThan(copy, maxDepth)) return { kind: "fault", fault: "nested too deeply", size: text.length };
    return { kind: "json", value: copy };
  } catch {
    return { kind: "fault", fault: "not representable as JSON" };
  }
}

/** The same JSON with every lone surrogate replaced, so that any provider takes it. */
export function toWellFormedJson(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null || !LONE_SURROGATE.test(JSON.stringify(value))) return value;
  return mendSurrogates(value);
}

function mendSurrogates(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(mendSurrogates);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), mendSurrogates(inner)]));
}

function tooLarge(text: string, maxCharacters: number): RecordedValue {
  return {
    kind: "fault",
    fault: `larger than ${maxCharacters} characters`,
    size: text.length,
    hash: bytesToHex(sha256(utf8ToBytes(text))),
  };
}

function isDeeperThan(value: JsonValue, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const inner = Array.isArray(value) ? value : Object.values(value);
  return inner.some((item) => isDeeperThan(item, levels - 1));
}
