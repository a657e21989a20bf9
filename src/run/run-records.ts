/** What a run records of itself beside its batches (RUN-6). Without a store there is nothing to wait for. */
import type { JsonValue } from "../domain/json.ts";
import type { Message } from "../domain/message.ts";
import type { RunOutcome } from "../domain/run.ts";
import type { StoredOutcome } from "../domain/run-store.ts";
import type { RunLoop } from "./run-loop.ts";
import type { ReadAssistant } from "./transcript.ts";

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
): Promise<void> | undefined {
  const { stopReason } = message;
  const fact = { kind: "response", turn, message, calls, hasDuplicateIds, stopReason, totalTokens } as const;
  return core.recorder?.record([fact], { status: "running", turn });
}

/**
 * Records how a run ended, or that it waits for approvals, and gives it back: who resumes it may be
 * anybody. A run whose store was lost stays as it is there, and can be resumed (CAN-5).
 */
export async function giveBack({ core, turn }: RunLoop, outcome: RunOutcome): Promise<void> {
  const { recorder } = core;
  if (recorder === undefined) return;
  const { status } = outcome;
  if (status === "awaitingApproval") await recorder.record([], { status, turn });
  else await recorder.record([{ kind: "ended", outcome: storedOutcome(outcome) }], { status, turn });
}

/** As {@link giveBack}, whatever the store says; undefined where the run is not recorded. */
export function recordEnd(run: RunLoop, outcome: RunOutcome): Promise<void> | undefined {
  const { recorder } = run.core;
  if (recorder === undefined) return undefined;
  return giveBack(run, outcome)
    .catch(() => undefined)
    .then(() => recorder.release())
    .catch(() => undefined);
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
