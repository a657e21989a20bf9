/**
 * Space for the receipts of what is already dispatched, when the disk is filling up.
 * Owns: the file `<path>-reserve`, given up when there is no space left. Invariant: nothing new is
 * dispatched while less than the reserve is free, so that what was dispatched can still be ended (ACT-11).
 */
import { closeSync, ftruncateSync, openSync, statSync, truncateSync, writeSync } from "node:fs";
import { KernelError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/ports.ts";
import { spaceAround } from "./file-system.ts";

const MAX_FREE_BYTES = 16 * 1_024 * 1_024;
const MAX_FILE_BYTES = 1_024 * 1_024;
/** Parts of the whole disk that have to stay free, and that the file takes: a small disk is worth as much. */
const FREE_PART = 20;
const FILE_PART = 50;
const LOOK_EVERY_MS = 100;

/** See the file header. */
export class Reserve {
  readonly #path: string;
  readonly #clock: Clock;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #isLow = false;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
    this.#fill();
  }

  /** @throws KernelError `JOURNAL_FULL` when too little is free to dispatch anything new. */
  checkForClaim(): void {
    const nowMs = this.#clock.now();
    if (Math.abs(nowMs - this.#lookedAtMs) >= LOOK_EVERY_MS) {
      const { freeBytes, totalBytes } = spaceAround(this.#path);
      this.#isLow = freeBytes < Math.min(MAX_FREE_BYTES, totalBytes / FREE_PART);
      this.#lookedAtMs = nowMs;
    }
    if (!this.#isLow) return;
    throw new KernelError(
      "JOURNAL_FULL",
      `The disk of the journal ${this.#path} is nearly full; nothing new is dispatched until there is space again.`,
      { subject: this.#path },
    );
  }

  /** Gives the file's space up; false when that was done before. */
  giveUp(): boolean {
    try {
      if (statSync(this.#file()).size === 0) return false;
      truncateSync(this.#file(), 0);
      return true;
    } catch {
      return false; // without the file there is nothing to give up
    }
  }

  /** Takes the space while there is plenty. */
  #fill(): void {
    const { freeBytes, totalBytes } = spaceAround(this.#path);
    const size = Math.floor(Math.min(MAX_FILE_BYTES, totalBytes / FILE_PART));
    if (freeBytes < 4 * Math.min(MAX_FREE_BYTES, totalBytes / FREE_PART)) return;
    const file = openSync(this.#file(), "a");
    try {
      const missing = size - statSync(this.#file()).size;
      if (missing > 0) writeSync(file, Buffer.alloc(missing));
    } catch {
      ftruncateSync(file, 0);
    } finally {
      closeSync(file);
    }
  }

  #file(): string {
    return `${this.#path}-reserve`;
  }
}
