import { KernelError } from "../domain/errors.ts";
import type { RunOutcome } from "../domain/run.ts";
import type { EventStream } from "../observe/event-stream.ts";
import { asMisuse } from "../run/thrown.ts";
import { type Run, RunHandle } from "./run-handle.ts";

/** The error for a run that somebody else has. */
export function claimedError(runId: string): KernelError {
  const message = `The run ${JSON.stringify(runId.slice(0, 128))} is live or waits for approvals; wait for its result, then resume it or use another id.`;
  return new KernelError("RUN_CLAIMED", message, { subject: "runId" });
}

/** The error for a run that neither this Agent nor its store knows anything of. */
export function notFoundError(): KernelError {
  const message = "There is no open run with that id, or nothing of it was recorded; nothing was resumed.";
  return new KernelError("RUN_NOT_FOUND", message, { subject: "runId" });
}

/** A run that could not start: its one event and its result say why. */
export function failedRun(runId: string, events: EventStream, thrown: unknown): Run {
  const error = asMisuse(thrown, "The input of the run cannot be read, so it did not start.");
  const hub = events.createHub();
  const handle = new RunHandle(hub, {
    runId,
    enqueue: () => ({ accepted: false, reason: "ended" }),
    abort: () => undefined,
    resolveUncertain: () => Promise.reject(new KernelError("OPERATION_UNKNOWN", "The run did not start.")),
    performance: () => events.performance(),
  });
  events.direct(hub);
  const outcome: RunOutcome = {
    runId,
    status: "kernelError",
    messages: [],
    newMessages: [],
    undelivered: [],
    turns: 0,
    toolCalls: 0,
    error,
  };
  queueMicrotask(() => {
    events.emit("runFaulted", 0, { code: error.code });
    events.emit("runEnded", 0, { status: "kernelError" });
    handle.end(outcome);
  });
  return handle;
}
