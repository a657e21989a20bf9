import type { RunEvent } from "../../../machines/run.machine.ts";
import { KernelError } from "../../domain/errors.ts";
import type { LimitName } from "../../domain/limits.ts";
import type { ModelProvider, ModelRequest } from "../../domain/model.ts";
import { isPromiseLike } from "../../domain/promise-like.ts";
import type { TurnPreparation } from "../../domain/run.ts";
import { findPassedLimit } from "../../plan/passed-limit.ts";
import type { HookAnswer } from "../../prepare/host-policy.ts";
import type { ToolRegistry } from "../../prepare/register-tools.ts";
import { callHook, causeOf } from "../bounded-hook.ts";
import { asMisuse } from "../thrown.ts";
import type { RunLoop } from "./run-loop.ts";
import type { RunSettings } from "./run-settings.ts";
import { deliverDue } from "./said-messages.ts";
import { createRequest } from "./turn-request.ts";

const HOOK = "hooks.prepareNextTurn";

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
  const { core, cancellation } = run;
  if (cancellation.aborted) return; // the chart is about to be told
  const { turn: turns, totalTokens, transcript, queues } = run;
  const use = { turns, totalTokens, messages: transcript.length + queues.dueCount };
  const limit = findPassedLimit(use, core.settings.limits);
  if (limit !== undefined) {
    report({ kind: "limit", limit });
    return;
  }
  // Behind the limits: what no request can follow is given back instead.
  deliverDue(run);
  if (cancellation.aborted) return;
  run.turn += 1;
  const { turn } = run;
  core.events.emit("turnStarted", turn, {});
  if (cancellation.aborted) return;
  const hook = run.settings.hooks.prepareNextTurn;
  if (hook === undefined) {
    report(readyTurn(run, {}));
    return;
  }
  const facts = { turn, messages: [...run.transcript.messages], host: core.host };
  const { steady, limits } = core.settings;
  const bounds = {
    clock: steady,
    deadlines: core.deadlines,
    timeoutMs: limits.hookTimeoutMs,
    cancellation,
    graceMs: 0,
  };
  const answered = callHook(hook, facts, bounds);
  const read = (answer: HookAnswer<TurnPreparation | undefined>): void => report(readAnswer(run, answer));
  if (isPromiseLike(answered)) answered.then(read, (error: unknown) => core.fault(error));
  else read(answered);
}

/** What a turn's preparation tells the run's chart. */
export function toTurnEvent(prepared: TurnPrepared): RunEvent {
  if (prepared.kind === "ready") return { type: "READY" };
  return prepared.kind === "limit" ? { type: "LIMIT_REACHED", limit: prepared.limit } : { type: "FAULTED" };
}

function readAnswer(run: RunLoop, answer: HookAnswer<TurnPreparation | undefined>): TurnPrepared {
  if (answer.kind !== "answered") {
    const what = answer.kind === "threw" ? "failed" : "did not answer in time";
    return { kind: "faulted", error: misuse(`${what}, so the run ended`, causeOf(answer)) };
  }
  try {
    return readyTurn(run, readPreparation(answer.answer, run.settings.readMessages));
  } catch (thrown) {
    return { kind: "faulted", error: asMisuse(thrown, `${HOOK} gave an answer that cannot be read.`, HOOK) };
  }
}

/** @throws KernelError `INVALID_OPTIONS` for an answer that prepares nothing. */
function readPreparation(given: unknown, readMessages: RunSettings["readMessages"]): TurnPreparation {
  const answer = given ?? {};
  if (typeof answer !== "object" || Array.isArray(answer)) throw misuse("must return an object or undefined");
  const { model, tools, systemPrompt, messages } = answer as Readonly<Record<string, unknown>>; // looked at one by one
  if (model !== undefined && typeof (model as Partial<ModelProvider> | null)?.generate !== "function")
    throw misuse("returned a model without a method generate");
  if (tools !== undefined && !Array.isArray(tools)) throw misuse("returned tools that are not an array");
  if (systemPrompt !== undefined && typeof systemPrompt !== "string")
    throw misuse("returned a systemPrompt that is not a string");
  if (messages !== undefined && !Array.isArray(messages)) throw misuse("returned messages that are not an array");
  return {
    model: model as ModelProvider | undefined, // it has what is called
    tools, // each is checked when it is registered
    systemPrompt,
    ...(messages !== undefined && { messages: readMessages(messages, `${HOOK}.messages`) }),
  };
}

function readyTurn(run: RunLoop, preparation: TurnPreparation): PreparedTurn {
  const { core, settings, turn } = run;
  const tools = preparation.tools === undefined ? settings.tools : settings.register(preparation.tools);
  const request = createRequest({
    systemPrompt: (preparation.systemPrompt ?? settings.systemPrompt)?.toWellFormed(),
    messages: preparation.messages ?? run.transcript.messages,
    tools: toolsForModel(tools),
    turn,
  });
  core.tools = tools;
  return { kind: "ready", model: preparation.model ?? settings.model, tools, request };
}

function toolsForModel(tools: ToolRegistry): ModelRequest["tools"] {
  return [...tools.values()]
    .filter(({ unavailable }) => unavailable === undefined)
    .map(({ tool, jsonSchema }) => ({
      name: tool.name,
      description: tool.description.toWellFormed(),
      inputSchema: jsonSchema,
    }));
}

function misuse(fault: string, cause?: Pick<ErrorOptions, "cause">): KernelError {
  return new KernelError("INVALID_OPTIONS", `${HOOK} ${fault}.`, { subject: HOOK, ...cause });
}
