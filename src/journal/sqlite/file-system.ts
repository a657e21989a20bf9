/** What the journal asks of the file system around its database. */
import { closeSync, fsyncSync, openSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { KernelError } from "../../domain/errors.ts";

/** File systems whose locks do not hold between machines, by the type that `statfs` gives. */
const NETWORK_TYPES: Readonly<Record<number, string>> = {
  26985: "NFS", // 0x6969
  4283649346: "CIFS", // 0xff534d42
  4266872130: "SMB2", // 0xfe534d42
  16914839: "9p", // 0x1021997
};

/** Less than a few pages and their index. */
const LEAST_FREE_BYTES = 131_072;

/** Free and total space around a file, in bytes. */
export interface Space {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Names a file by device and inode, whatever its path. */
export function fileIdOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

/** Makes the file if there is none, durably; returns whether it made it. */
export function ensureFile(path: string): boolean {
  try {
    // Never opens a file that is there: closing it again would drop this process's locks on it.
    closeSync(openSync(path, "ax"));
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "EEXIST") return false;
    throw error;
  }
  syncDirectory(path);
  return true;
}

/** Makes the existence of a file durable. */
export function syncDirectory(path: string): void {
  const directory = openSync(dirname(path), "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** @throws KernelError `JOURNAL_UNSAFE` when the file lies on a network file system. */
export function refuseNetwork(path: string): void {
  const kind = NETWORK_TYPES[statfsSync(dirname(path)).type >>> 0];
  if (kind === undefined) return;
  throw new KernelError(
    "JOURNAL_UNSAFE",
    `The journal ${path} is on ${kind}, where file locks cannot be trusted. Use a local disk, or PostgreSQL.`,
    { subject: path },
  );
}

/**
 * @throws KernelError `JOURNAL_UNSAFE` when the file has a second name: each would have a log and locks of its
 * own, and whoever opens both destroys the file.
 */
export function refuseSecondName(path: string): void {
  const found = statSync(path);
  if (!found.isFile() || found.nlink <= 1) return; // a directory has names in itself, and is no journal anyway
  throw new KernelError(
    "JOURNAL_UNSAFE",
    `The journal ${path} has a second name (a hard link), under which it could be opened apart from this one. Copy it, and remove one of the names.`,
    { subject: path },
  );
}

/** How much space there is. */
export function spaceAround(path: string): Space {
  const { bavail, blocks, bsize } = statfsSync(dirname(path));
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Whether there is not even space for what a database needs to be opened. */
export function isDiskFull(path: string): boolean {
  try {
    return spaceAround(path).freeBytes < LEAST_FREE_BYTES;
  } catch {
    return false; // the directory itself is not there
  }
}
