import { lstatSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { KernelError } from "../../domain/errors.ts";

/**
 * Where the file of a store lies, whichever way it was named. A symbolic link is followed: what lies beside
 * the file (its log, its witness, the locks of its owners) belongs to the file and not to its name, and
 * processes that name it differently would take each other for dead.
 * @throws KernelError `INVALID_OPTIONS` for what can be no path of a file.
 */
export function placeOf(file: unknown): string {
  if (typeof file !== "string" || file === "" || file === ":memory:" || file.startsWith("file:")) throw noFile();
  if (file.includes("\u0000")) throw noFile();
  const path = resolve(file);
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
  } catch {
    return path; // not there yet, or not to be reached: whoever opens it says so
  }
}

function noFile(): KernelError {
  const message = "A SQLite store needs the path of a file; for memory there are memoryJournal and memoryRunStore.";
  return new KernelError("INVALID_OPTIONS", message, { subject: "path" });
}
