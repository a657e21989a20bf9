import type { JsonObject } from "../../domain/json.ts";

/** What a person is asked when a tool wants approval by its own framework (APP-1). */
export function askOf(framework: string, toolName: string): JsonObject {
  return { reason: "The tool itself asks for approval.", framework, tool: toolName };
}

/**
 * A framework's answer to "does this call need approval", as an ask. An answer that comes later counts
 * as yes: the call then asks, and never runs unasked.
 */
export function askIfNeeded(answer: unknown, ask: JsonObject): JsonObject | undefined {
  if (answer instanceof Promise) {
    // Nobody waits for it, so its rejection is nobody's.
    answer.catch(() => undefined);
  }
  return answer === false || answer === undefined ? undefined : ask;
}
