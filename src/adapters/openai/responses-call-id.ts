import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { checkGiven, mustBeString } from "../../domain/check-options.ts";

/** How long a call id may be in what is sent to OpenAI's Responses API, in UTF-16 units. */
const MAX_CALL_ID_LENGTH = 64;

/**
 * A call id as the Responses API takes it: unchanged up to 64 UTF-16 units, else a digest of it, the
 * same for the same id always. {@link toResponsesItems} answers under it the calls that another
 * provider made; a host that shows such calls to the Responses API names them with it too.
 * @throws KernelError `INVALID_OPTIONS` for anything but a string
 */
export function toResponsesCallId(id: string): string {
  checkGiven(id, "id", mustBeString);
  if (id.length <= MAX_CALL_ID_LENGTH) {
    return id;
  }
  return `call_${bytesToHex(sha256(utf8ToBytes(id)))}`.slice(0, MAX_CALL_ID_LENGTH);
}

/** Whether the Responses API would refuse this id, although a provider of its kind may have sent it. */
export function isOverlongCallId(id: unknown): boolean {
  return typeof id === "string" && id.length > MAX_CALL_ID_LENGTH;
}
