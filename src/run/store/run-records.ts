/** What a run records of itself beside its batches (RUN-6). Without a store there is nothing to wait for. */
import type { JsonValue } from "../../domain/json.ts";
import type { Message } from "../../domain/message.ts";
import type { RunOutcome } from "../../domain/run.ts";
import type { RunFact, StoredOutcome } from "../../domain/run-store.ts";
import type { RunLoop } from "../loop/run-loop.ts";
import type { SaidMessage } from "../loop/said-messages.ts";
import type { ReadAssistant } from "../loop/transcript.ts";
import { storableCall, storableMessage } from "./storable.ts";

/** Says in the list of runs that a run goes on. */
export function noteGoingOn({ core, turn }: RunLoop): void {
  core.recorder?.noteProgress({ status: "running", turn });
}

/** Records a message that was said; until that is durable it is the run's own to give back (RUN-3). */
export function recordSaid({ core, queues }: RunLoop, { queue, message }: SaidMessage): void {
  if (core.recorder === undefined) return;
  const unrecorded = { message };
  queues.unrecorded.add(unrecorded);
  core.recorder.record([{ kind: "queued", queue, message }]).then(
    () => queues.unrecorded.delete(unrecorded),
    () => undefined,
  );
}

/** Records how a run begins: the transcript before it, and its prompt. */
export function recordBegin({ core, transcript }: RunLoop, prompt: readonly Message[]): void {
  if (core.recorder === undefined) return;
  core.recorder.note({ kind: "begun", earlier: [...transcript.messages] }, { status: "running", turn: 0 });
  for (const message of prompt) core.recorder.note({ kind: "message", message });
}

/** Records a response; it is durable before any call of it is prepared. */
export function recordResponse(
  { core, turn, totalTokens }: RunLoop,
  { message, calls, hasDuplicateIds }: ReadAssistant,
  errorMessage: string | undefined,
): Promise<void> | undefined {
  const { stopReason } = message;
  const counts = { hasDuplicateIds, stopReason, totalTokens, ...(errorMessage !== undefined && { errorMessage }) };
  const kept = { message: storableMessage(message), calls: calls.map(storableCall) };
  const fact = { kind: "response", turn, ...kept, ...counts } as const;
  return core.recorder?.record([fact], { status: "running", turn });
}

/**
 * Records how a run ended, or that it waits for approvals, and gives it back: who resumes it may be
 * anybody. Returns what the host is told: a run whose end could not be recorded goes on in its store, so it
 * has ended here as `kernelError`, and can be resumed (CAN-5). Undefined where the run is not recorded.
 */
export function recordEnd(run: RunLoop, outcome: RunOutcome): Promise<RunOutcome> | undefined {
  const { recorder } = run.core;
  if (recorder === undefined) return undefined;
  const { status } = outcome;
  const record = async (): Promise<void> => {
    const facts = status === "awaitingApproval" ? [] : [endOf(outcome)];
    await recorder.record(facts, { status, turn: run.turn });
  };
  return record()
    .then(
      () => outcome,
      (error: Error) => lostOutcome(run, outcome, error),
    )
    .finally(() => recorder.release().catch(() => undefined));
}

/** Messages that the store has will be delivered when the run is resumed; the others come back now (RUN-3). */
function lostOutcome({ queues }: RunLoop, outcome: RunOutcome, error: Error): RunOutcome {
  const { endedBy: _endedBy, abortReason: _abortReason, approvals: _approvals, ...rest } = outcome;
  const undelivered = [...queues.unrecorded].map(({ message }) => message);
  return {
    ...rest,
    status: "kernelError",
    undelivered,
    error: rest.status === "kernelError" ? (rest.error ?? error) : error,
  };
}

function endOf(outcome: RunOutcome): RunFact {
  return { kind: "ended", outcome: storedOutcome(outcome), added: outcome.newMessages.length };
}

function storedOutcome(outcome: RunOutcome): StoredOutcome {
  const { messages: _messages, newMessages: _newMessages, error, abortReason, ...rest } = outcome;
  return {
    ...rest,
    ...(abortReason !== undefined && { abortReason: asJson(abortReason) }),
    ...(error !== undefined && { error: { name: error.name, message: error.message, ...codeOf(error) } }),
  };
}

function codeOf(error: Error): { readonly code?: string } {
  return "code" in error && typeof error.code === "string" ? { code: error.code } : {};
}

/** A host's reason, as far as it can be kept. */
function asJson(reason: unknown): JsonValue {
  if (reason instanceof Error) return reason.message;
  try {
    return (JSON.parse(JSON.stringify(reason) ?? "null") as JsonValue) ?? null; // JSON.parse gives nothing but JSON
  } catch {
    return null;
  }
}
