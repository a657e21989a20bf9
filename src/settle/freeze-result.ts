import type { ToolResult } from "../domain/content.ts";
import { freezeDeep } from "../domain/frozen.ts";

/**
 * Freezes a result, all of it: events, settled calls and messages show the same object, and nobody who
 * listens may change what the model sees.
 */
export function freezeResult(result: ToolResult): ToolResult {
  freezeDeep(result);
  return result;
}
