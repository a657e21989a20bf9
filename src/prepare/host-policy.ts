import type { AuthorizeDecision, RewriteDecision } from "../domain/hooks.ts";
import type { JsonObject } from "../domain/json.ts";
import { freezeArguments } from "./freeze-arguments.ts";

/** A hook's answer, or why there is none; a hook without an answer refuses the call (PREP-13). */
export type HookAnswer<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "timedOut" };

/** What host policy decided. */
export type ReadRewrite =
  | { readonly kind: "keep" }
  | { readonly kind: "replace"; readonly arguments: JsonObject }
  | { readonly kind: "refuse"; readonly reason: string; readonly terminate: boolean };

/** What the final authorization decided. */
export type ReadAuthorization =
  | { readonly kind: "allow" }
  | { readonly kind: "ask"; readonly ask: JsonObject }
  | { readonly kind: "refuse"; readonly reason: string; readonly terminate: boolean };

/** Reads the answer of `rewriteToolCall`; anything it may not answer refuses the call (PREP-13). */
export function readRewrite(given: HookAnswer<RewriteDecision | unknown>): ReadRewrite {
  if (given.kind !== "answered") return refuseUnanswered("policy", given.kind);
  if (given.answer === undefined) return { kind: "keep" };
  const fields = fieldsOf(given.answer, "arguments");
  if (fields === undefined) return refuseNonsense("policy");
  if ("block" in fields) return readBlock(fields, "policy");
  const frozen = freezeArguments(fields.arguments);
  return frozen.ok ? { kind: "replace", arguments: frozen.arguments } : refuseNonsense("policy");
}

/** Reads the answer of `authorizeToolCall`; it allows, refuses or asks, and can never rewrite (PREP-4). */
export function readAuthorization(given: HookAnswer<AuthorizeDecision | unknown>): ReadAuthorization {
  if (given.kind !== "answered") return refuseUnanswered("authorization", given.kind);
  if (given.answer === undefined || given.answer === true) return { kind: "allow" };
  const fields = fieldsOf(given.answer, "ask");
  if (fields === undefined) return refuseNonsense("authorization");
  if ("block" in fields) return readBlock(fields, "authorization");
  return readAsk(fields.ask);
}

/** Reads what an authorizer, or a tool that needs approval by itself, wants a person to decide (APP-1). */
export function readAsk(ask: unknown): ReadAuthorization {
  const frozen = freezeArguments(ask);
  return frozen.ok ? { kind: "ask", ask: frozen.arguments } : refuseNonsense("authorization");
}

type HookName = "policy" | "authorization";
type ReadRefusal = { readonly kind: "refuse"; readonly reason: string; readonly terminate: boolean };

function readBlock(fields: Readonly<Record<string, unknown>>, hook: HookName): ReadRefusal {
  const { block, terminate } = fields;
  if (typeof block !== "string" || (terminate !== undefined && typeof terminate !== "boolean"))
    return refuseNonsense(hook);
  return {
    kind: "refuse",
    reason: block === "" ? `refused by the host's ${hook}` : block,
    terminate: terminate === true,
  };
}

function refuseUnanswered(hook: HookName, why: "threw" | "timedOut"): ReadRefusal {
  const what = why === "threw" ? "failed" : "did not answer in time";
  return {
    kind: "refuse",
    reason: `not_executed: the host's ${hook} ${what}, so the call was refused.`,
    terminate: false,
  };
}

function refuseNonsense(hook: HookName): ReadRefusal {
  return {
    kind: "refuse",
    reason: `not_executed: the host's ${hook} gave no valid answer, so the call was refused.`,
    terminate: false,
  };
}

/**
 * The fields of a plain answer: those of one decision and no other; undefined for anything else, also for
 * what throws when it is read.
 */
function fieldsOf(answer: unknown, decision: "arguments" | "ask"): Readonly<Record<string, unknown>> | undefined {
  try {
    if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return undefined;
    const entries = Object.entries(answer).filter(([, value]) => value !== undefined);
    const names = entries.map(([name]) => name).sort();
    return [decision, "block", "block,terminate"].includes(names.join()) ? Object.fromEntries(entries) : undefined;
  } catch {
    return undefined;
  }
}
