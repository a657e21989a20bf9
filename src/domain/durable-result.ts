import type { DurableOutcome } from "./action.ts";
import { type DeclaredResult, type ToolResultFields, toolResult } from "./content.ts";

const OUTCOME: unique symbol = Symbol.for("toolkernel.durableOutcome") as never;

/** Declares the result of a durable call, with what settling needs to project it. */
export function durableResult(fields: ToolResultFields, outcome: DurableOutcome): DeclaredResult {
  return Object.assign(toolResult(fields), { [OUTCOME]: outcome });
}

/** The durable outcome that {@link durableResult} attached, if any. Never throws, whatever a tool answered. */
export function durableOutcomeOf(result: unknown): DurableOutcome | undefined {
  try {
    return typeof result === "object" && result !== null
      ? (result as { [OUTCOME]?: DurableOutcome })[OUTCOME]
      : undefined;
  } catch {
    return undefined;
  }
}
