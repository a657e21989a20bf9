/**
 * The witness: a small file beside the database that says how far the journal had come.
 * Owns: the file `<path>-witness`. Invariants: written after each commit, never before, and not synced, so in
 * no honest crash is it ahead of the database; a database that is behind it has lost acknowledged
 * commits: an old copy, a deleted or damaged write-ahead log (ACT-11).
 */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { KernelError } from "../../domain/errors.ts";

/** How far a journal has come: which one it is, and how many commits it has seen. */
export interface Progress {
  /** 32 hexadecimal digits. */
  readonly journalId: string;
  readonly commits: number;
}

const MAGIC = "tkwitns1";
const SIZE = 64;
const CHECKED_BYTES = 32;

/** See the file header. */
export class Witness {
  readonly #file: number;
  readonly #record = Buffer.alloc(SIZE);

  private constructor(file: number, journalId: string) {
    this.#file = file;
    this.#record.write(MAGIC, 0, "latin1");
    this.#record.write(journalId, 8, "hex");
  }

  /** Whether there is a witness of any journal at this path: then an empty database is not a new one. */
  static isThere(path: string): boolean {
    return readRecord(witnessPath(path)) !== undefined;
  }

  /**
   * Compares the database with its witness, and opens that for writing.
   * @throws KernelError `JOURNAL_CORRUPT` when the database is behind, or the witness is another journal's.
   */
  static open(path: string, progress: Progress): Witness {
    const file = witnessPath(path);
    check(path, progress, readRecord(file));
    // Made if need be, and then opened anew: what is opened for appending ignores the place it is written at.
    closeSync(openSync(file, "a"));
    return new Witness(openSync(file, "r+"), progress.journalId);
  }

  /** Notes a commit that has just been made durable. */
  note(commits: number): void {
    this.#record.writeBigUInt64LE(BigInt(commits), 24);
    this.#record.writeUInt32LE(crc32(this.#record.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
    writeSync(this.#file, this.#record, 0, SIZE, 0);
  }

  /** Makes what was noted last durable; for once that a journal leaves its place, and only its witness stays. */
  sync(): void {
    fsyncSync(this.#file);
  }

  /** Closes the file. */
  close(): void {
    closeSync(this.#file);
  }
}

function witnessPath(path: string): string {
  return `${path}-witness`;
}

function check(path: string, progress: Progress, record: Progress | undefined): void {
  if (record === undefined) return;
  if (record.journalId !== progress.journalId) {
    throw lost(path, "the file beside it is the witness of another journal");
  }
  if (progress.commits < record.commits) {
    throw lost(path, `it holds ${progress.commits} commits where ${record.commits} had been acknowledged`);
  }
}

function lost(path: string, what: string): KernelError {
  return new KernelError(
    "JOURNAL_CORRUPT",
    `The journal ${path} was rolled back: ${what}. Nothing is dispatched. Restore the newest copy; or find out what became of the actions that are missing, and then remove ${witnessPath(path)}.`,
    { subject: path },
  );
}

/** The record of a witness file; undefined when there is none, or it was never made durable. */
function readRecord(file: string): Progress | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
  if (bytes.length < SIZE || bytes.every((byte) => byte === 0)) return undefined;
  const isWhole =
    bytes.toString("latin1", 0, 8) === MAGIC &&
    bytes.readUInt32LE(CHECKED_BYTES) === crc32(bytes.subarray(0, CHECKED_BYTES));
  if (!isWhole) {
    throw new KernelError(
      "JOURNAL_CORRUPT",
      `The witness ${file} is damaged. Make sure that its journal is whole, and then remove it.`,
      {
        subject: file,
      },
    );
  }
  return { journalId: bytes.toString("hex", 8, 24), commits: Number(bytes.readBigUInt64LE(24)) };
}
