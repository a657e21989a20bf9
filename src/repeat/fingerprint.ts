import stringify from "fast-json-stable-stringify";
import type { JsonValue } from "../domain/json.ts";

/**
 * What makes two calls equal: tool name and deep-canonical arguments. Key order, number spelling and
 * string escapes do not matter, types do, Unicode is not normalized (REP-1). Contains the arguments:
 * it must never leave the repeat tracker.
 */
export function fingerprintCall(toolName: string, draft: JsonValue): string {
  return `${toolName.length}:${toolName}:${stringify(draft)}`;
}

/** The fingerprint of a draft that could not be parsed: its name and raw text (REP-3). */
export function fingerprintText(toolName: string, text: string): string {
  return `${toolName.length}:${toolName}?${text}`;
}
