import {
  checkOptions,
  invalidOption,
  mayBeAnything,
  mustBeFunction,
  mustBeId,
  mustBeList,
  mustBeRecord,
  mustBeTimeout,
  mustHaveMethods,
  type OptionCheck,
  oneOf,
  wholeNumber,
} from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";
import type { SessionHooks } from "../domain/hooks.ts";
import { DEFAULT_LIMITS, LIMIT_BOUNDS, type LimitName, type Limits } from "../domain/limits.ts";
import type { Clock, Inspect, Telemetry } from "../domain/ports.ts";
import type { RunStore } from "../domain/run-store.ts";
import type { JsonSchemaValidator } from "../domain/schema.ts";
import type { AnyTool, ToolExecution } from "../domain/tool.ts";
import type { LaneEntry, Lanes } from "../plan/lanes.ts";
import type { CompatOption } from "../prepare/compat.ts";
import type { Interpreter } from "../run/chart-actor.ts";
import { createId, steadyClock, systemClock } from "../run/clock.ts";
import { DEFAULT_INTERPRETER } from "../run/default-interpreter.ts";
import type { SessionSettings } from "../run/session-core.ts";

/** Options of {@link createToolSession}; all but `tools` may be left out. */
export interface ToolSessionOptions {
  readonly tools: readonly AnyTool[];
  /** Which calls may overlap; default `safeParallel` (EPOCH-1). */
  readonly toolExecution?: ToolExecution | undefined;
  readonly limits?: Partial<{ readonly [Name in LimitName]: number | undefined }> | undefined;
  readonly hooks?: SessionHooks | undefined;
  /** How long an uncertain write blocks others; default `batch` (UNC-6). */
  readonly uncertainWriteScope?: "batch" | "run" | undefined;
  /** Lanes shared with other sessions of the process; default lanes of its own (EPOCH-9). */
  readonly lanes?: Lanes | undefined;
  /** Compatibility steps for every tool, before its own `prepareArguments`; default none (PREP-7). */
  readonly compat?: CompatOption | undefined;
  /** Handed to hooks and tools untouched. */
  readonly host?: unknown;
  /** Names the run in events and operation ids; default a new one. */
  readonly runId?: string | undefined;
  /** Where the run is kept, so that another process can resume it (RUN-6); default nowhere. */
  readonly runStore?: RunStore | undefined;
  readonly clock?: Clock | undefined;
  readonly inspect?: Inspect | undefined;
  readonly telemetry?: Telemetry | undefined;
  /** Which interpreter runs the charts; default `compiled`. With `inspect` it is always `xstate`. */
  readonly interpreter?: Interpreter | undefined;
  /** In place of ajv, for example where code generation is forbidden. */
  readonly jsonSchemaValidator?: JsonSchemaValidator | undefined;
}

/** A hook: a function, or one with its own time-out. */
export const mustBeHook: OptionCheck = (value) => {
  if (typeof value === "function") return undefined;
  const hook = value as { readonly run?: unknown; readonly timeoutMs?: unknown } | null; // looked at, not trusted
  if (typeof hook !== "object" || typeof hook?.run !== "function") return "must be a function or { run, timeoutMs }";
  if (Object.keys(hook).some((field) => field !== "run" && field !== "timeoutMs"))
    return "must have no fields other than run and timeoutMs";
  if (hook.timeoutMs === null) return undefined;
  return mustBeTimeout(hook.timeoutMs) === undefined
    ? undefined
    : "must have a timeoutMs that is null or a whole number from 1 to 2147483647";
};

const mustBeCompat: OptionCheck = (value) => {
  const steps: readonly unknown[] = Array.isArray(value) ? value : [value];
  const areSteps = steps.every(
    (step) => typeof step === "function" && Array.isArray((step as { steps?: unknown }).steps),
  );
  return areSteps ? undefined : "must be a step of compat or an array of them";
};

const mustBeLanes: OptionCheck = (value) =>
  (value as { queues?: unknown } | null)?.queues instanceof Map ? undefined : "must be made by createLanes()";

/** How each option of a session is checked. */
export const SESSION_CHECKS: Readonly<Record<keyof ToolSessionOptions, OptionCheck>> = {
  tools: mustBeList,
  toolExecution: oneOf("sequential", "safeParallel", "parallel"),
  limits: mustBeRecord,
  hooks: mustBeRecord,
  uncertainWriteScope: oneOf("batch", "run"),
  lanes: mustBeLanes,
  compat: mustBeCompat,
  host: mayBeAnything,
  runId: mustBeId,
  runStore: mustHaveMethods("claim", "listOpen"),
  clock: mustHaveMethods("now", "setTimer"),
  inspect: mustBeFunction,
  telemetry: mustHaveMethods("record"),
  interpreter: oneOf("compiled", "xstate"),
  jsonSchemaValidator: mustHaveMethods("compile"),
};

const HOOK_CHECKS: Readonly<Record<keyof SessionHooks, OptionCheck>> = {
  rewriteToolCall: mustBeHook,
  authorizeToolCall: mustBeHook,
  afterToolCall: mustBeHook,
};

/**
 * Checks the options of a session and completes them.
 * @throws KernelError `INVALID_OPTIONS` naming the option.
 */
export function readSessionOptions(given: ToolSessionOptions): SessionSettings {
  checkOptions(given, SESSION_CHECKS, { path: "options", required: ["tools"] });
  checkHooks(given.hooks, {});
  return completeSettings(given, given.runId ?? createId());
}

/** Checks the hooks of a session, and others beside them. @throws KernelError `INVALID_OPTIONS`. */
export function checkHooks(hooks: unknown, others: Readonly<Record<string, OptionCheck>>): void {
  if (hooks !== undefined) checkOptions(hooks, { ...HOOK_CHECKS, ...others }, { path: "hooks" });
}

/**
 * The settings of a session from options that have been checked.
 * @throws KernelError `INVALID_OPTIONS` naming the limit.
 */
export function completeSettings(given: Omit<ToolSessionOptions, "runId">, runId: string): SessionSettings {
  return {
    runId,
    toolExecution: given.toolExecution ?? "safeParallel",
    limits: readLimits(given.limits ?? {}),
    hooks: given.hooks ?? {},
    uncertainWriteScope: given.uncertainWriteScope ?? "batch",
    compat: given.compat,
    clock: given.clock ?? systemClock,
    steady: steadyClock(given.clock),
    inspect: given.inspect,
    // An inspector is shown XState's own actors, so that every tool of its world understands them.
    interpreter: given.inspect === undefined ? (given.interpreter ?? DEFAULT_INTERPRETER) : "xstate",
  };
}

/** Lanes as a session uses them: what the host holds is opaque, only sessions put entries in. */
export function readLanes<Entry extends LaneEntry>(lanes: Lanes): Lanes<Entry> {
  return lanes as unknown as Lanes<Entry>;
}

/**
 * Completes limits by their defaults.
 * @throws KernelError `INVALID_OPTIONS` naming the limit (REP-6 for the two thresholds).
 */
export function readLimits(given: NonNullable<ToolSessionOptions["limits"]>): Limits {
  const checks = Object.fromEntries(
    Object.entries(LIMIT_BOUNDS).map(([name, [minimum, maximum]]) => [name, wholeNumber(minimum, maximum)]),
  );
  const named = Object.entries(checkOptions(given, checks, { path: "limits" })).filter(
    ([, value]) => value !== undefined,
  );
  const limits: Limits = { ...DEFAULT_LIMITS, ...Object.fromEntries(named) };
  const { exactToolRepeatAdvisoryThreshold: advisory, exactToolRepeatTerminationThreshold: termination } = limits;
  if (advisory > 0 && termination > 0 && termination <= advisory) {
    const fault = `must be larger than limits.exactToolRepeatAdvisoryThreshold (${advisory}), or 0`;
    throw invalidOption("limits.exactToolRepeatTerminationThreshold", fault);
  }
  return limits;
}

/** The error for a session that broke an invariant of its own. */
export function stuckError(cause: unknown): KernelError {
  const message = "The session broke one of its own rules and stopped; start another. The cause is attached.";
  return new KernelError("KERNEL_STUCK", message, { cause });
}
