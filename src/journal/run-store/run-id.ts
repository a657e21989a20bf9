import { KernelError } from "../../domain/errors.ts";
import { isName } from "../../domain/names.ts";

/**
 * Checks that every store would keep an id as it is: they would cut or mend others into somebody else's.
 * @throws KernelError `INVALID_OPTIONS` when it is not a string of 1 to 512 UTF-8 bytes, well-formed, without NUL.
 */
export function checkRunId(runId: unknown): void {
  if (isName(runId)) return;
  const message = "A run id is a string of 1 to 512 UTF-8 bytes, well-formed, without NUL.";
  throw new KernelError("INVALID_OPTIONS", message, { subject: "runId" });
}
