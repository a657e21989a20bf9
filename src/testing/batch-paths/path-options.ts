import {
  type AnyTool,
  ajvValidator,
  type BatchResult,
  type JsonSchemaCheck,
  type JsonSchemaValidator,
  KernelError,
  type KernelEvent,
  type ToolCall,
  type ToolSessionOptions,
} from "toolkernel";
import {
  checkOptions,
  mayBeAnything,
  mustBeBoolean,
  mustBeRecord,
  type OptionCheck,
  readGiven,
} from "../../domain/check-options.ts";

/** The ways a call of a path can end, each a fault before or after the tool's real effect. */
export const PATH_OUTCOMES = ["succeeds", "fails", "throwsBefore", "throwsAfter", "timesOutAfter"] as const;

/**
 * How a call of a path ends. `succeeds`: as the tool's own body does. `fails`: by a `ToolError` in place of
 * the body. `throwsBefore`: by a plain throw in place of the body. `throwsAfter`: by a plain throw when the
 * body has done its work. `timesOutAfter`: not at all, when the body has done its work.
 */
export type PathOutcome = (typeof PATH_OUTCOMES)[number];

/** Options of `generateBatchPaths`. */
export interface BatchPathsOptions {
  /** The tools as the host has them: their bodies, hooks and `recover` are run. */
  readonly tools: readonly AnyTool[];
  /** The calls of one model response, at least one. */
  readonly calls: readonly ToolCall[];
  /** Options of the session that each path is run in; the clock is the path's own. */
  readonly session?: Omit<ToolSessionOptions, "tools" | "clock"> | undefined;
  /** Default all of them. */
  readonly outcomes?: readonly PathOutcome[] | undefined;
  /** Whether the batch is cancelled at every step, in paths of their own; default true. */
  readonly cancel?: boolean | undefined;
  /** The most paths that are given, at least 1; default 1,000. If there are more, the seed says which. */
  readonly maxPaths?: number | undefined;
  /** Any whole number, default 1: the same seed gives the same paths. */
  readonly seed?: number | undefined;
}

/** A moment of a path, told to the host's `check`. */
export interface PathStep {
  /** `started`: the first calls run. `letGo`: a call was let end, and has. `ended`: the batch is over. */
  readonly what: "started" | "letGo" | "cancelled" | "ended";
  /** The call that was let go, and how it was to end. */
  readonly callId?: string;
  readonly outcome?: PathOutcome;
  /** Calls that run now. */
  readonly running: readonly string[];
  /** Every event so far. */
  readonly events: readonly KernelEvent[];
}

/** What a host does around a path. *Contract*: a throw or rejection of any of them fails the path. */
export interface PathHooks {
  /** Brings the world to where every path starts. */
  readonly setup?: (() => unknown) | undefined;
  /** Holds the world to what must be true after a step. */
  readonly check?: ((step: PathStep) => unknown) | undefined;
  /** Called however the path ends. */
  readonly teardown?: (() => unknown) | undefined;
}

/** One path. */
export interface BatchPath {
  /** Says what happens, alike for the same options: `pay throwsAfter, read succeeds; in order 2 1`. */
  readonly name: string;
  /**
   * Runs the batch along the path, in a session and on a clock of its own. Gives the batch's result.
   * Rejects with `RuleViolation` when the kernel broke a rule, or with what `check` threw.
   */
  run(hooks?: PathHooks): Promise<BatchResult>;
}

/** The options, complete. */
export interface CheckedPathsOptions {
  readonly tools: readonly AnyTool[];
  readonly calls: readonly ToolCall[];
  /** With a validator that all paths share. */
  readonly session: Omit<ToolSessionOptions, "tools" | "clock">;
  readonly outcomes: readonly PathOutcome[];
  readonly cancel: boolean;
  readonly maxPaths: number;
  readonly seed: number;
}

/** Tools and calls alike; what else they need is looked at when a path runs. */
function mustBeNamedList(value: unknown): string | undefined {
  const names = Array.isArray(value) ? Array.from(value as { readonly name?: unknown }[], ({ name }) => name) : [0];
  return names.every((name) => typeof name === "string") ? undefined : "must be an array of objects that have a name";
}

/** What is looked at more closely is so below. */
const OPTION_CHECKS: Readonly<Record<keyof BatchPathsOptions, OptionCheck>> = {
  tools: mustBeNamedList,
  calls: mustBeNamedList,
  session: mustBeRecord,
  outcomes: mayBeAnything,
  cancel: mustBeBoolean,
  maxPaths: mayBeAnything,
  seed: mayBeAnything,
};

/**
 * Checks options and completes them.
 * @throws KernelError `INVALID_OPTIONS` naming the option.
 */
export function checkPathsOptions(given: BatchPathsOptions): CheckedPathsOptions {
  checkOptions(given, OPTION_CHECKS, { path: "options", required: ["tools", "calls"] });
  return readGiven("options", () => completeOptions(given));
}

function completeOptions(given: BatchPathsOptions): CheckedPathsOptions {
  const { tools, calls, session = {}, outcomes = PATH_OUTCOMES, cancel = true, maxPaths = 1_000, seed = 1 } = given;
  if (calls.length === 0) throw invalid("calls", "must hold at least one call");
  if ("clock" in session) throw invalid("session.clock", "cannot be given: a path moves time itself");
  const isKnown = (outcome: unknown): boolean => PATH_OUTCOMES.some((known) => known === outcome);
  if (!Array.isArray(outcomes) || outcomes.length === 0 || !outcomes.every(isKnown))
    throw invalid("outcomes", `must be some of ${PATH_OUTCOMES.join(", ")}`);
  if (!Number.isSafeInteger(maxPaths) || maxPaths < 1)
    throw invalid("maxPaths", "must be a whole number of at least 1");
  if (!Number.isSafeInteger(seed)) throw invalid("seed", "must be a whole number");
  const jsonSchemaValidator = session.jsonSchemaValidator ?? compileOnce(ajvValidator());
  return { tools, calls, session: { ...session, jsonSchemaValidator }, outcomes, cancel, maxPaths, seed };
}

/** Every path has a session of its own; compiling the same schemas for each would take most of the time. */
function compileOnce(validator: JsonSchemaValidator): JsonSchemaValidator {
  const checks = new Map<string, JsonSchemaCheck>();
  return {
    compile(schema, options) {
      const key = JSON.stringify([schema, options]);
      const check = checks.get(key) ?? validator.compile(schema, options);
      checks.set(key, check);
      return check;
    },
  };
}

function invalid(option: string, fault: string): KernelError {
  return new KernelError("INVALID_OPTIONS", `generateBatchPaths: ${option} ${fault}.`, { subject: option });
}
