import type { PreparedCall, Refusal } from "../../domain/call.ts";
import type { AuthorizeInput, CallHookInput, Hook } from "../../domain/hooks.ts";
import { isPromiseLike } from "../../domain/promise-like.ts";
import type { BoundedHook, PreparePort } from "../../prepare/preparation.ts";
import { type Prepared, prepareCall } from "../../prepare/prepare-call.ts";
import { refuse } from "../../prepare/refuse.ts";
import { callHook, type HookBounds } from "../bounded-hook.ts";
import { identityOf } from "../call/durable-call.ts";
import type { CallOwner, CallRun } from "../call/run-call.ts";
import { FACTS } from "../facts.ts";
import { asMisuse } from "../thrown.ts";

/**
 * Prepares the calls of a batch one after another, in source order (PREP-2). Ends early when the batch
 * is cancelled; a hook that is still at work then is told by its signal and its answer is dropped.
 */
export async function prepareCalls(owner: CallOwner, calls: readonly CallRun[]): Promise<void> {
  const { core } = owner;
  const port = preparePort(owner);
  for (const call of calls) {
    if (owner.isCancelled) return;
    core.events.emitCall("toolStarted", call, {});
    let prepared: Prepared;
    try {
      prepared = prepareCall(call, port);
      if (isPromiseLike(prepared)) prepared = await prepared;
    } catch (error) {
      core.fault(error);
      prepared = refuse("internal", "not_executed: the kernel could not prepare this call.", {});
    }
    if (owner.isCancelled) return;
    if (prepared.kind === "prepared") acceptCall(call, prepared);
    else refuseCall(call, prepared);
  }
}

/** Takes note that a call will run nothing; its result waits for the repeat check (PREP-6). */
export function refuseCall(call: CallRun, refusal: Refusal): void {
  const { core } = call.owner;
  const { failureCategory, reason } = refusal;
  call.refusal = refusal;
  call.tell(FACTS.REFUSED);
  core.events.emitCall("toolRefused", call, { failureCategory, reason });
}

function acceptCall(call: CallRun, prepared: PreparedCall): void {
  const { core } = call.owner;
  call.prepared = prepared;
  const fault = nameCall(call);
  if (fault !== undefined) {
    call.prepared = undefined;
    refuseCall(call, fault);
    return;
  }
  call.tell(prepared.ask === undefined ? FACTS.ALLOWED : FACTS.ASKED);
  call.preparedAtMs = core.settings.steady.now();
  core.events.emitCall("toolPrepared", call, { conflictKeys: prepared.conflictKeys });
}

function preparePort(owner: CallOwner): PreparePort {
  const { core } = owner;
  const { runId, compat, hooks } = core.settings;
  return {
    tools: owner.tools,
    compat,
    host: core.host,
    runId,
    rewriteToolCall: boundHook<CallHookInput>(owner, hooks.rewriteToolCall),
    authorizeToolCall: boundHook<AuthorizeInput>(owner, hooks.authorizeToolCall),
    bound: (ask) => callHook(async () => ask(), {}, boundsOf(owner)),
  };
}

/** Gives a durable call its durable id; one that cannot have any runs nothing (ACT-8). */
export function nameCall(call: CallRun): Refusal | undefined {
  if (call.prepared?.tool.durable === undefined) return undefined;
  try {
    call.identity = identityOf(call);
    call.operationId = call.identity?.operationId ?? call.operationId;
    return undefined;
  } catch (error) {
    const { tool, draft, repairs } = call.prepared;
    const { message } = asMisuse(error, "The durable tool could not name this action.");
    return refuse("internal", `not_executed: ${message}`, { tool, draft, repairs });
  }
}

/** What is asked while a call is prepared is not waited for once the batch is cancelled (PREP-12). */
function boundsOf({ core, cancellation }: CallOwner): HookBounds {
  const { steady, limits } = core.settings;
  return { clock: steady, deadlines: core.deadlines, timeoutMs: limits.hookTimeoutMs, cancellation, graceMs: 0 };
}

function boundHook<Input extends CallHookInput>(
  owner: CallOwner,
  hook: Hook<(input: Input) => unknown> | undefined,
): BoundedHook<Input> | undefined {
  if (hook === undefined) return undefined;
  const { core, turn, cancellation } = owner;
  const { runId } = core.settings;
  const { host } = core;
  const bounds = boundsOf(owner);
  return (facts) => {
    // Nobody is asked about a call that is no longer wanted; an answer would be dropped (PREP-12).
    if (cancellation.aborted) return { kind: "timedOut" };
    // With run, turn, host and signal, a hook's facts are its input.
    return callHook(hook as Hook<(input: object) => unknown>, { ...facts, runId, turn, host }, bounds);
  };
}
