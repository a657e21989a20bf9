/**
 * Operation ids of ordinary calls.
 * Owns: the hash of what all calls of a turn have in common, so that each of them pays for its own part only,
 * and the places that a hash is made in. An id depends on nothing but the place of its call.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";

/** What makes a call of a run the same operation when the run is resumed. */
export interface OperationPlace {
  readonly turn: number;
  readonly callIndex: number;
  readonly toolName: string;
}

/** See the file header. */
export class OperationIds {
  readonly #run = sha256.create();
  readonly #common = sha256.create();
  readonly #hash = sha256.create();
  readonly #digest = new Uint8Array(this.#hash.outputLen);
  readonly #digits: number[] = Array.from({ length: this.#hash.outputLen * 2 }, () => 0);
  readonly #own = new Uint8Array(128);
  #turn: number | undefined;

  constructor(runId: string) {
    this.#run.update(utf8ToBytes(measured(runId)));
  }

  /** SHA-256, in hex, over run id, turn, call index and tool name, each with its length before it. */
  derive({ turn, callIndex, toolName }: OperationPlace): string {
    if (turn !== this.#turn) this.#enterTurn(turn);
    this.#common._cloneInto(this.#hash);
    const own = measured(String(callIndex)) + measured(toolName);
    this.#hash.update(this.#bytesOf(own)).digestInto(this.#digest);
    return this.#hexOfDigest();
  }

  #enterTurn(turn: number): void {
    this.#run._cloneInto(this.#common);
    this.#common.update(this.#bytesOf(measured(String(turn))));
    this.#turn = turn;
  }

  /** As UTF-8. Nearly every name is short and ASCII, and needs no encoder. */
  #bytesOf(text: string): Uint8Array {
    const { length } = text;
    if (length > this.#own.length) return utf8ToBytes(text);
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > 127) return utf8ToBytes(text);
      this.#own[index] = code;
    }
    return this.#own.subarray(0, length);
  }

  /** In one piece: a text that is put together digit by digit stays a chain of its parts until it is read. */
  #hexOfDigest(): string {
    for (let index = 0; index < this.#digest.length; index++) {
      const byte = this.#digest[index] ?? 0;
      this.#digits[index * 2] = HEX_CODES[byte >> 4] ?? 0;
      this.#digits[index * 2 + 1] = HEX_CODES[byte & 15] ?? 0;
    }
    return String.fromCharCode(...this.#digits);
  }
}

const HEX_CODES = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

function measured(part: string): string {
  return `${part.length}:${part}`;
}
