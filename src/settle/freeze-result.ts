import type { ToolResult } from "../domain/content.ts";

/**
 * Freezes a result, all of it: events, settled calls and messages show the same object, and nobody who
 * listens may change what the model sees.
 */
export function freezeResult(result: ToolResult): ToolResult {
  freezeDeep(result);
  return result;
}

function freezeDeep(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  if (Array.isArray(value)) {
    for (const item of value) freezeDeep(item);
    return;
  }
  // A result is JSON: every name that can be walked is a field of its own.
  for (const name in value) freezeDeep((value as Readonly<Record<string, unknown>>)[name]);
}
