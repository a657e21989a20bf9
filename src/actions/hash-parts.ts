import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

const LENGTH_BYTES = 4;

/**
 * SHA-256, hexadecimal, over strings that are each led by their length in UTF-8 bytes, so that no two
 * different lists of strings are ever hashed over the same bytes (ACT-8).
 */
export function hashParts(parts: readonly string[]): string {
  const encoder = new TextEncoder();
  const encoded = parts.map((part) => encoder.encode(part));
  const bytes = new Uint8Array(encoded.reduce((size, part) => size + LENGTH_BYTES + part.length, 0));
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (const part of encoded) {
    view.setUint32(offset, part.length);
    bytes.set(part, offset + LENGTH_BYTES);
    offset += LENGTH_BYTES + part.length;
  }
  return bytesToHex(sha256(bytes));
}
