import {
  checkOptions,
  mayBeAnything,
  mustBeId,
  mustBeSignal,
  mustHaveMethods,
  type OptionCheck,
} from "../domain/check-options.ts";
import type { ModelProvider } from "../domain/model.ts";
import type { AgentHooks } from "../domain/run.ts";
import { checkHooks, mustBeHook, SESSION_CHECKS, type ToolSessionOptions } from "./session-options.ts";

/** Options of {@link Agent}: a model, and those of a session. */
export interface AgentOptions extends Omit<ToolSessionOptions, "hooks" | "runId"> {
  readonly model: ModelProvider;
  readonly systemPrompt?: string | undefined;
  readonly hooks?: AgentHooks | undefined;
}

/** Options of `run`. */
export interface RunOptions {
  /** Aborts the run when it fires; its reason is the abort reason. */
  readonly signal?: AbortSignal | undefined;
  /** Handed to hooks and tools untouched; default the Agent's. */
  readonly host?: unknown;
  /** Default a new one. */
  readonly runId?: string | undefined;
}

const { runId: _runId, ...SHARED_CHECKS } = SESSION_CHECKS;

const CHECKS: Readonly<Record<keyof AgentOptions, OptionCheck>> = {
  ...SHARED_CHECKS,
  model: mustHaveMethods("generate"),
  systemPrompt: (value) => (typeof value === "string" ? undefined : "must be a string"),
};

/** Checks the options of an Agent. @throws KernelError `INVALID_OPTIONS` naming the option. */
export function checkAgentOptions(given: AgentOptions): void {
  checkOptions(given, CHECKS, { path: "options", required: ["model", "tools"] });
  checkHooks(given.hooks, { prepareNextTurn: mustBeHook, shouldStopAfterTurn: mustBeHook });
}

/** Checks the options of `run`. @throws KernelError `INVALID_OPTIONS` naming the option. */
export function checkRunOptions(given: RunOptions): void {
  checkOptions(given, { signal: mustBeSignal, host: mayBeAnything, runId: mustBeId }, { path: "options" });
}
