import type { JsonObject } from "../../domain/json.ts";

/** What a person is asked when a tool wants approval by its own framework (APP-1). */
export function askOf(framework: string, toolName: string): JsonObject {
  return { reason: "The tool itself asks for approval.", framework, tool: toolName };
}

/**
 * A framework's answer to "does this call need approval", as an ask; a later answer, by whatever kind of
 * promise, is waited for, no longer than for a hook of the host's. Anything but a plain no is a yes: the call
 * never runs unasked.
 */
export async function askIfNeeded(answer: unknown, ask: JsonObject): Promise<JsonObject | undefined> {
  try {
    const settled = await answer;
    return settled === false || settled === undefined ? undefined : ask;
  } catch {
    return ask;
  }
}
