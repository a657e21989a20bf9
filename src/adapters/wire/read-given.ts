import { checkGiven, mustBeList, mustBeRecord, readGiven } from "../../domain/check-options.ts";
import type { BatchMessages } from "./batch-messages.ts";

/**
 * Reads a provider's response.
 * @throws KernelError `INVALID_OPTIONS` for anything but an object, and for one that cannot be read
 */
export function readResponse<Read>(response: unknown, read: () => Read): Read {
  checkGiven(response, "response", mustBeRecord);
  return readGiven("response", read);
}

/**
 * Reads what came of a batch.
 * @throws KernelError `INVALID_OPTIONS` for anything but a batch's result
 */
export function readBatch<Read>(batch: BatchMessages, read: () => Read): Read {
  checkGiven(batch, "batch", mustBeRecord);
  return readGiven("batch", () => {
    checkGiven(batch.messages, "batch.messages", mustBeList);
    return read();
  });
}
