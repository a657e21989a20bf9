import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** What makes an ordinary call the same operation when its run is resumed. */
export interface OperationPlace {
  readonly runId: string;
  readonly turn: number;
  readonly callIndex: number;
  readonly toolName: string;
}

/** The operation id of an ordinary call: SHA-256, in hex, over its place, each part with its length before it. */
export function deriveOperationId({ runId, turn, callIndex, toolName }: OperationPlace): string {
  const parts = [runId, String(turn), String(callIndex), toolName];
  return bytesToHex(sha256(utf8ToBytes(parts.map((part) => `${part.length}:${part}`).join(""))));
}
