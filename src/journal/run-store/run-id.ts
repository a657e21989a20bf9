import { KernelError } from "../../domain/errors.ts";

const MAX_ID_BYTES = 512;

/**
 * Checks that every store would keep an id as it is: they would cut or mend others into somebody else's.
 * @throws KernelError `INVALID_OPTIONS` when it is no text of 1 to 512 UTF-8 bytes, well-formed, without NUL.
 */
export function checkRunId(runId: unknown): void {
  if (isRunId(runId)) return;
  const message = "A run id is a text of 1 to 512 UTF-8 bytes, well-formed, without NUL.";
  throw new KernelError("INVALID_OPTIONS", message, { subject: "runId" });
}

function isRunId(runId: unknown): boolean {
  if (typeof runId !== "string" || runId === "" || !runId.isWellFormed() || runId.includes("\0")) return false;
  return new TextEncoder().encode(runId).length <= MAX_ID_BYTES;
}
