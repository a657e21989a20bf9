/**
 * Stage 1: from a model's draft to a call that may run, or a refusal.
 * Owns: the order of the steps (PREP-1). Does not own: hooks and their time-outs, cancellation (both
 * behind {@link PreparePort}). Upholds: PREP-1 to PREP-8, PREP-11.
 */
import type { PreparedCall, Refusal } from "../domain/call.ts";
import type { JsonValue } from "../domain/json.ts";
import { isPromiseLike } from "../domain/promise-like.ts";
import { isStandardSchema } from "../domain/schema.ts";
import { accept, authorize, isUnasked } from "./authorize.ts";
import { applyCompat, prepareWithRepairs } from "./compat.ts";
import { readConflictKeys } from "./conflict-key.ts";
import { describeFaults } from "./describe-faults.ts";
import { freezeArguments } from "./freeze-arguments.ts";
import { type ReadRewrite, readRewrite } from "./host-policy.ts";
import { type ParsedDraft, parseArguments } from "./parse-arguments.ts";
import { aboutOf, type DraftCall, factsOf, type Preparation, type PreparePort } from "./preparation.ts";
import { refuse, refuseThrown } from "./refuse.ts";
import type { RegisteredTool } from "./register-tools.ts";
import { runSteps, type Steps, takeNow, wait } from "./steps.ts";
import { validateStandard } from "./validate-standard.ts";

/** A call with its steps behind it; a promise where something had to be waited for. */
export type Prepared = PreparedCall | Refusal | Promise<PreparedCall | Refusal>;

/** Prepares one call: the steps in their order. */
export function prepareCall(draft: DraftCall, port: PreparePort): Prepared {
  const found = findTool(draft, port);
  if (found.kind === "refusal") return found;
  draft.note("FOUND");
  const work = shapeDraft(found, port);
  if (work.kind === "refusal") return work;
  draft.note("SHAPED");
  const fault = checkSchema(work) ?? (isPlain(work) ? checkWithTool(work) : undefined);
  if (fault !== undefined) return fault;
  draft.note("VALID");
  // Most calls pass nobody who may have to be waited for.
  if (!isPlain(work) || port.rewriteToolCall !== undefined) return runSteps(decide(draft, work, port));
  draft.note("KEPT");
  draft.note("REFINED");
  const keyFault = resolveKeys(draft, work, port);
  if (keyFault !== undefined) return keyFault;
  return isUnasked(work, port) ? accept(work) : runSteps(authorize(draft, work, port));
}

/** The steps from the host's policy on, where one of them may have to be waited for. */
function* decide(draft: DraftCall, work: Preparation, port: PreparePort): Steps<PreparedCall | Refusal> {
  const policy =
    port.rewriteToolCall === undefined ? keep(draft) : yield* applyPolicy(draft, work, port.rewriteToolCall);
  if (policy !== undefined) return policy;
  const refined = isPlain(work) ? checkReplaced(work) : yield* refine(work, port);
  if (refined !== undefined) return refined;
  draft.note("REFINED");
  const keyFault = resolveKeys(draft, work, port);
  if (keyFault !== undefined) return keyFault;
  return isUnasked(work, port) ? accept(work) : yield* authorize(draft, work, port);
}

/** Whether the tool's schema is JSON Schema, which has no validation of its own beside it. */
function isPlain({ registered }: Preparation): boolean {
  return !isStandardSchema(registered.tool.inputSchema);
}

const NONE: readonly never[] = Object.freeze([]);

interface Found {
  readonly kind: "found";
  readonly registered: RegisteredTool;
  readonly draft: JsonValue;
}

function findTool({ call }: DraftCall, port: PreparePort): Found | Refusal {
  const registered = port.tools.get(call.name);
  const parsed = parseArguments(call.arguments, isFinalDraft(registered, port));
  if (registered !== undefined && registered.unavailable === undefined && parsed.ok) {
    return { kind: "found", registered, draft: parsed.draft };
  }
  const about = { tool: registered?.tool, draft: parsed.ok ? parsed.draft : undefined };
  return refuse("invalidArguments", whyNotFound(registered, parsed), about);
}

/** Whether nothing may change a draft any more before it is checked, so that it can be frozen as it is parsed. */
function isFinalDraft(registered: RegisteredTool | undefined, { compat }: PreparePort): boolean {
  return compat === undefined && registered?.tool.prepareArguments === undefined;
}

function whyNotFound(registered: RegisteredTool | undefined, parsed: ParsedDraft): string {
  if (registered === undefined) return "unknown_tool: there is no tool with this name.";
  if (registered.unavailable !== undefined) {
    return `unavailable_tool: this tool cannot be called: ${registered.unavailable}`;
  }
  return parsed.ok ? "" : `invalid_arguments: ${parsed.reason}`;
}

function shapeDraft(found: Found, port: PreparePort): Preparation | Refusal {
  const { registered, draft } = found;
  const repaired =
    port.compat === undefined ? { draft, repairs: NONE } : applyCompat(port.compat, registered.jsonSchema, draft);
  let { repairs } = repaired;
  const { prepareArguments } = registered.tool;
  const isFinal = isFinalDraft(registered, port);
  let shaped: unknown = repaired.draft;
  if (prepareArguments !== undefined) {
    try {
      // A copy, since a tool may change what it is given, and the draft itself is still to be fingerprinted.
      const prepared = prepareWithRepairs(prepareArguments, structuredClone(repaired.draft));
      repairs = [...repairs, ...prepared.repairs];
      shaped = prepared.draft;
    } catch (error) {
      return refuseThrown({ where: "prepareArguments", error }, { tool: registered.tool, draft, repairs });
    }
  }
  // What no code of the tool's has touched belongs to nobody else and is frozen in place.
  const frozen = freezeArguments(shaped, {
    owned: prepareArguments === undefined,
    frozen: isFinal && Object.isFrozen(draft),
  });
  if (!frozen.ok)
    return refuse("invalidArguments", `invalid_arguments: ${frozen.reason}`, { tool: registered.tool, draft, repairs });
  return {
    kind: "preparation",
    registered,
    draft,
    repairs,
    arguments: frozen.arguments,
    isReplaced: false,
    conflictKeys: NONE,
  };
}

function checkSchema(work: Preparation): Refusal | undefined {
  const faults = work.registered.check(work.arguments);
  if (faults.length === 0) return undefined;
  return refuse("invalidArguments", `invalid_arguments: ${describeFaults(faults)}`, aboutOf(work));
}

function checkWithTool(work: Preparation): Refusal | undefined {
  const { tool } = work.registered;
  if (tool.validate === undefined) return undefined;
  try {
    // `never` stands for "the tool's own argument type", which its schema has just checked.
    const fault: unknown = takeNow(tool.validate(work.arguments as never));
    if (fault === undefined) return undefined;
    const text = typeof fault === "string" ? fault : "the tool's validation gave no valid answer";
    return refuse("invalidArguments", `invalid_arguments: ${text}`, aboutOf(work));
  } catch (error) {
    return refuseThrown({ where: "validate", error }, aboutOf(work));
  }
}

function keep(draft: DraftCall): undefined {
  draft.note("KEPT");
}

function* applyPolicy(
  draft: DraftCall,
  work: Preparation,
  policy: NonNullable<PreparePort["rewriteToolCall"]>,
): Steps<Refusal | undefined> {
  const decision: ReadRewrite = readRewrite(yield* wait(policy(factsOf(draft, work))));
  if (decision.kind === "refuse") return refuse("authorization", decision.reason, { ...aboutOf(work), ...decision });
  if (decision.kind === "keep") return keep(draft);
  draft.note("REWRITTEN");
  work.arguments = decision.arguments;
  work.isReplaced = true;
  const fault = checkSchema(work);
  if (fault === undefined) draft.note("VALID");
  return fault;
}

/** A plain tool has validated its arguments already, unless policy has replaced them since. */
function checkReplaced(work: Preparation): Refusal | undefined {
  return work.isReplaced ? checkWithTool(work) : undefined;
}

function* refine(work: Preparation, port: PreparePort): Steps<Refusal | undefined> {
  const { inputSchema } = work.registered.tool;
  if (!isStandardSchema(inputSchema)) return checkReplaced(work);
  const verdict = validateStandard(inputSchema, work.arguments);
  const answered = isPromiseLike(verdict) ? yield* wait(port.bound(() => verdict)) : { answer: verdict };
  if (!("answer" in answered))
    return refuse("internal", "not_executed: the tool's schema did not answer.", aboutOf(work));
  const validated = answered.answer;
  if (!validated.ok) {
    const category = validated.threw === true ? "internal" : "invalidArguments";
    return refuse(category, `invalid_arguments: ${validated.reason}`, aboutOf(work));
  }
  const frozen = freezeArguments(validated.value);
  if (!frozen.ok)
    return refuse(
      "internal",
      `The tool's schema returned something other than a JSON object: ${frozen.reason}`,
      aboutOf(work),
    );
  work.arguments = frozen.arguments;
  return checkWithTool(work);
}

function resolveKeys(draft: DraftCall, work: Preparation, port: PreparePort): Refusal | undefined {
  const fault = readKeys(work, port);
  if (fault === undefined) draft.note("KEYED");
  return fault;
}

function readKeys(work: Preparation, port: PreparePort): Refusal | undefined {
  const { tool } = work.registered;
  if (tool.conflictKey === undefined) return undefined;
  try {
    // As for `validate`: the arguments are of the tool's own type by its schema.
    const { host, runId } = port;
    const read = readConflictKeys(takeNow(tool.conflictKey(work.arguments as never, { host, runId })));
    if (read.kind === "fault")
      return refuse("invalidArguments", `not_executed: the call ${read.fault}.`, aboutOf(work));
    work.conflictKeys = read.keys;
    return undefined;
  } catch (error) {
    return refuseThrown({ where: "conflictKey", error }, aboutOf(work));
  }
}
