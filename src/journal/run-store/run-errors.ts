import { KernelError } from "../../domain/errors.ts";

/** The error for a run that a store does not have. */
export function runNotFound(): KernelError {
  return new KernelError("RUN_NOT_FOUND", "The run store has no run with that id.", { subject: "runId" });
}

/** The error for a run that somebody holds. */
export function runClaimed(): KernelError {
  return new KernelError(
    "RUN_CLAIMED",
    "The run is live: somebody holds it. Wait until it ends or waits for an answer.",
    {
      subject: "runId",
    },
  );
}

/** The error for a claim that holds its run no longer. */
export function runLost(): KernelError {
  return new KernelError("RUN_CLAIMED", "The run was given back, or somebody else has it now; nothing was recorded.", {
    subject: "runId",
  });
}

/** The error for a run whose records are not what was written; the subject names it. */
export function runCorrupt(runId: string): KernelError {
  return new KernelError(
    "JOURNAL_CORRUPT",
    `What the run store holds of run ${runId} is not what was written. It cannot be resumed; restore the store from a copy.`,
    { subject: `run ${runId}` },
  );
}

/** The error for a store that was closed. */
export function storeClosed(): KernelError {
  return new KernelError("JOURNAL_UNAVAILABLE", "The run store is closed; open another.", { subject: "runStore" });
}
