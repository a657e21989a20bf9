import type { Refusal, Repair } from "../domain/call.ts";
import { isToolError } from "../domain/errors.ts";
import type { FailureCategory } from "../domain/failure.ts";
import type { JsonValue } from "../domain/json.ts";
import { categoryOf, clipSaid, messageOf } from "../domain/read-thrown.ts";
import type { AnyTool } from "../domain/tool.ts";

/** What is known of a call when it is refused. */
export interface RefusalFacts {
  readonly tool?: AnyTool | undefined;
  readonly draft?: JsonValue | undefined;
  readonly repairs?: readonly Repair[];
  readonly terminate?: boolean;
}

/**
 * A call that runs nothing, and what the model is told of it (PREP-6). Whoever gave the reason, it is cut where it
 * is longer than what is shown of any throw.
 */
export function refuse(failureCategory: FailureCategory, reason: string, facts: RefusalFacts): Refusal {
  return {
    kind: "refusal",
    failureCategory,
    reason: clipSaid(reason),
    terminate: facts.terminate ?? false,
    repairs: facts.repairs ?? [],
    ...(facts.tool !== undefined && { tool: facts.tool }),
    ...(facts.draft !== undefined && { draft: facts.draft }),
  };
}

/** What a part of the tool's own code threw before dispatch. */
export interface ThrownBeforeDispatch {
  readonly where: "prepareArguments" | "validate" | "conflictKey";
  readonly error: unknown;
}

/** A throw of the tool's own code before dispatch; certain, since nothing was executed. */
export function refuseThrown({ where, error }: ThrownBeforeDispatch, facts: RefusalFacts): Refusal {
  if (isToolError(error)) return refuse(categoryOf(error, "unspecified"), messageOf(error), facts);
  const category = where === "prepareArguments" ? "invalidArguments" : "internal";
  return refuse(category, `not_executed: the tool's ${where} failed.`, facts);
}
