import { KernelError } from "../domain/errors.ts";
import type { LimitName } from "../domain/limits.ts";
import type { Message } from "../domain/message.ts";
import type { ModelProvider, ModelRequest } from "../domain/model.ts";
import type { TurnPreparation } from "../domain/run.ts";
import type { HookAnswer } from "../prepare/host-policy.ts";
import type { ToolRegistry } from "../prepare/register-tools.ts";
import { isPromiseLike } from "../prepare/steps.ts";
import { callHook } from "./bounded-hook.ts";
import type { RunLoop } from "./run-loop.ts";

/** What a turn starts with. */
export interface PreparedTurn {
  readonly kind: "ready";
  readonly model: ModelProvider;
  readonly tools: ToolRegistry;
  readonly request: ModelRequest;
}

/** A turn that is ready, or why none follows. */
export type TurnPrepared =
  | PreparedTurn
  | { readonly kind: "limit"; readonly limit: LimitName }
  | { readonly kind: "faulted"; readonly error: Error };

/** Checks the limits (RUN-1), lets the host prepare the turn, and reports what it starts with. */
export function prepareTurn(run: RunLoop, report: (prepared: TurnPrepared) => void): void {
  const limit = findPassedLimit(run);
  if (limit !== undefined) {
    report({ kind: "limit", limit });
    return;
  }
  run.turn += 1;
  const { core, turn } = run;
  core.events.emit("turnStarted", turn, {});
  const hook = run.settings.hooks.prepareNextTurn;
  if (hook === undefined) {
    report(readyTurn(run, {}));
    return;
  }
  const facts = { turn, messages: run.transcript.messages, host: core.host };
  const { clock, limits } = core.settings;
  const bounds = {
    clock,
    deadlines: core.deadlines,
    timeoutMs: limits.hookTimeoutMs,
    cancellation: run.cancellation,
    graceMs: 0,
  };
  const answered = callHook(hook, facts, bounds);
  const read = (answer: HookAnswer<TurnPreparation | undefined>): void => report(readPreparation(run, answer));
  if (isPromiseLike(answered)) answered.then(read, (error: unknown) => core.fault(error));
  else read(answered);
}

function findPassedLimit({ turn, totalTokens, transcript, core }: RunLoop): LimitName | undefined {
  const { limits } = core.settings;
  if (turn >= limits.maxTurns) return "maxTurns";
  if (totalTokens >= limits.maxTotalTokens) return "maxTotalTokens";
  return transcript.length + 2 + limits.maxToolCallsPerTurn > limits.maxMessages ? "maxMessages" : undefined;
}

function readPreparation(run: RunLoop, answer: HookAnswer<TurnPreparation | undefined>): TurnPrepared {
  if (answer.kind !== "answered") {
    const what = answer.kind === "threw" ? "failed" : "did not answer in time";
    return faulted(`hooks.prepareNextTurn ${what}, so the run ended.`);
  }
  const given: unknown = answer.answer ?? {};
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return faulted("hooks.prepareNextTurn must answer an object or undefined.");
  const preparation = given as TurnPreparation; // its fields are looked at one by one
  if (preparation.model !== undefined && typeof preparation.model.generate !== "function")
    return faulted("hooks.prepareNextTurn answered a model without a method generate.");
  if (preparation.messages !== undefined && !Array.isArray(preparation.messages))
    return faulted("hooks.prepareNextTurn answered messages that are no array.");
  try {
    return readyTurn(run, preparation);
  } catch (error) {
    return {
      kind: "faulted",
      error: error instanceof Error ? error : new Error("hooks.prepareNextTurn answered bad tools."),
    };
  }
}

function readyTurn(run: RunLoop, preparation: TurnPreparation): PreparedTurn {
  const { core, settings, turn } = run;
  const tools = preparation.tools === undefined ? settings.tools : settings.register(preparation.tools);
  const messages: readonly Message[] = preparation.messages ?? run.transcript.messages;
  const request: ModelRequest = {
    systemPrompt: preparation.systemPrompt ?? settings.systemPrompt,
    messages: [...messages],
    tools: toolsForModel(tools),
    turn,
  };
  core.tools = tools;
  return { kind: "ready", model: preparation.model ?? settings.model, tools, request };
}

function toolsForModel(tools: ToolRegistry): ModelRequest["tools"] {
  return [...tools.values()]
    .filter(({ unavailable }) => unavailable === undefined)
    .map(({ tool, jsonSchema }) => ({ name: tool.name, description: tool.description, inputSchema: jsonSchema }));
}

function faulted(message: string): TurnPrepared {
  return { kind: "faulted", error: new KernelError("INVALID_OPTIONS", message, { subject: "hooks.prepareNextTurn" }) };
}
