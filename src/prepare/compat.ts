import { readGiven } from "../domain/check-options.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { InputSchema } from "../domain/schema.ts";
import { type RepairedDraft, repairDraft } from "./compat/repair-draft.ts";
import type { CompatStepName } from "./compat/repair-steps.ts";
import { takeNow } from "./steps.ts";
import { toolJsonSchema } from "./tool-json-schema.ts";

const COMPAT: unique symbol = Symbol("toolkernel.compat");

/** A tool's `prepareArguments` made by a compatibility step: it can also tell what it changed. */
export interface CompatPreparer {
  (draft: JsonValue): JsonValue;
  /** Repairs a draft and lists the repairs. Pure. @throws KernelError `INVALID_OPTIONS` for anything but JSON. */
  applyTo(draft: JsonValue): RepairedDraft;
  readonly [COMPAT]: true;
}

/**
 * A compatibility step, or several: makes a tool's `prepareArguments` from its schema (JSON Schema, or
 * a Standard Schema that gives one; else `INVALID_TOOL_SCHEMA`). `steps` are their names, in order.
 */
export interface CompatStep {
  (schema: InputSchema): CompatPreparer;
  readonly steps: readonly CompatStepName[];
}

/** What the session option `compat` takes. */
export type CompatOption = CompatStep | readonly CompatStep[];

/**
 * Ready-made repairs of common slips of models, for a tool's `prepareArguments` or for every tool of a
 * session. Opt-in (PREP-7). A repair is made only where the value is certain to be invalid as it is and
 * the repaired one has the shape the schema wants there; a value that is valid is never touched, and
 * where a union leaves it open what was meant nothing is done. Each repair is listed on the call.
 *
 * - `emptyArguments`: arguments that are null, `""` or `"null"` become `{}`.
 * - `dropNullOptionals`: null at an optional key that takes no null is dropped.
 * - `parseStringified`: text that is exactly the array or object wanted becomes it, where no text is taken.
 * - `exactScalars`: `"12"`, `"true"` become 12, true where no text is taken and nothing is lost.
 * - `dropUnknownKeys`: keys that `additionalProperties: false` forbids are dropped.
 * - `wrapSingle`: one value becomes a list of it where only a list is taken.
 * - `all`: these, in this order.
 */
export const compat = Object.freeze({
  emptyArguments: makeStep(["emptyArguments"]),
  dropNullOptionals: makeStep(["dropNullOptionals"]),
  parseStringified: makeStep(["parseStringified"]),
  exactScalars: makeStep(["exactScalars"]),
  dropUnknownKeys: makeStep(["dropUnknownKeys"]),
  wrapSingle: makeStep(["wrapSingle"]),
  all: makeStep([
    "emptyArguments",
    "dropNullOptionals",
    "parseStringified",
    "exactScalars",
    "dropUnknownKeys",
    "wrapSingle",
  ]),
});

/** Joins the steps of a session into one preparer for a tool; `schema` is the tool's JSON Schema. */
export function composeCompat(option: CompatOption, schema: JsonObject): CompatPreparer {
  const steps: readonly CompatStep[] = typeof option === "function" ? [option] : option;
  return makePreparer(
    steps.flatMap((step) => step.steps),
    schema,
  );
}

/** Repairs one draft by steps and lists the repairs. Pure; the draft is not changed. */
export function applyCompat(option: CompatOption, schema: JsonObject, draft: JsonValue): RepairedDraft {
  return composeCompat(option, schema).applyTo(draft);
}

/**
 * Runs a tool's `prepareArguments`; of a compatibility step it also returns the repairs. `undefined`
 * leaves the draft as it is. What the function throws is thrown; what it answers is not yet judged.
 */
export function prepareWithRepairs(
  prepareArguments: (draft: JsonValue) => JsonValue | undefined,
  draft: JsonValue,
): RepairedDraft {
  if (isCompatPreparer(prepareArguments)) return prepareArguments.applyTo(draft);
  const prepared = takeNow(prepareArguments(draft));
  return { draft: prepared === undefined ? draft : prepared, repairs: [] };
}

function makeStep(steps: readonly CompatStepName[]): CompatStep {
  const make = (schema: InputSchema): CompatPreparer =>
    makePreparer(steps, toolJsonSchema({ name: "(given to compat)", inputSchema: schema }));
  return Object.freeze(Object.assign(make, { steps: Object.freeze(steps) }));
}

function makePreparer(steps: readonly CompatStepName[], schema: JsonObject): CompatPreparer {
  const applyTo = (draft: JsonValue): RepairedDraft => readGiven("draft", () => repairDraft(steps, schema, draft));
  return Object.freeze(
    Object.assign((draft: JsonValue): JsonValue => applyTo(draft).draft, { applyTo, [COMPAT]: true as const }),
  );
}

function isCompatPreparer(prepare: (draft: JsonValue) => JsonValue | undefined): prepare is CompatPreparer {
  return COMPAT in prepare;
}
