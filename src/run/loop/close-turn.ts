import type { TurnFacts } from "../../../machines/run.machine.ts";
import { KernelError } from "../../domain/errors.ts";
import { isPromiseLike } from "../../domain/promise-like.ts";
import type { HookAnswer } from "../../prepare/host-policy.ts";
import { callHook, causeOf } from "../bounded-hook.ts";
import type { RunLoop } from "./run-loop.ts";

/** What a turn that is over tells the run's chart. */
export type TurnClosed =
  | ({ readonly type: "TURN_OVER" } & TurnFacts)
  | { readonly type: "FAULTED"; readonly error: Error };

/** Ends a turn: its event, the host's word on stopping, then the facts from which the chart decides (RUN-2). */
export function closeTurn(run: RunLoop, report: (closed: TurnClosed) => void): void {
  const { core, turn, batchResult } = run;
  core.events.emit("turnEnded", turn, { toolCalls: run.assistant?.calls.length ?? 0 });
  if (run.cancellation.aborted) return; // by a listener; the chart is about to be told
  const hook = run.settings.hooks.shouldStopAfterTurn;
  if (hook === undefined) {
    report(factsOf(run, false));
    return;
  }
  const batch = batchResult === undefined ? {} : { batch: batchResult };
  const facts = { turn, messages: [...run.transcript.messages], host: core.host, ...batch };
  const { steady, limits } = core.settings;
  const bounds = {
    clock: steady,
    deadlines: core.deadlines,
    timeoutMs: limits.hookTimeoutMs,
    cancellation: run.cancellation,
    graceMs: 0,
  };
  const answered = callHook(hook, facts, bounds);
  const read = (answer: HookAnswer<boolean | undefined>): void => report(readAnswer(run, answer));
  if (isPromiseLike(answered)) answered.then(read, (error: unknown) => core.fault(error));
  else read(answered);
}

function readAnswer(run: RunLoop, answer: HookAnswer<boolean | undefined>): TurnClosed {
  if (answer.kind === "answered") {
    const said: unknown = answer.answer ?? false;
    if (typeof said === "boolean") return factsOf(run, said);
  }
  const what =
    answer.kind === "answered"
      ? "must return true or false"
      : answer.kind === "threw"
        ? "failed"
        : "did not answer in time";
  const message = `hooks.shouldStopAfterTurn ${what}, so the run ended.`;
  return {
    type: "FAULTED",
    error: new KernelError("INVALID_OPTIONS", message, { subject: "hooks.shouldStopAfterTurn", ...causeOf(answer) }),
  };
}

function factsOf({ assistant, batchResult, queues }: RunLoop, shouldStop: boolean): TurnClosed {
  const stopReason = assistant?.message.stopReason;
  return {
    type: "TURN_OVER",
    hasCalls: (assistant?.calls.length ?? 0) > 0,
    hasModelFailed: stopReason === "error" || stopReason === "aborted",
    closedBy: batchResult?.closedBy,
    shouldStop,
    hasSteering: queues.hasSteering,
    hasFollowUp: queues.hasFollowUp,
  };
}
