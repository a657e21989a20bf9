import { openSync, writeFileSync } from "node:fs";
import { KernelError } from "toolkernel";

/**
 * Opens a file that an option names, empty, for writing.
 * @throws KernelError `INVALID_OPTIONS` naming option and path
 */
export function openToWrite(path: string, flag: string): number {
  return named(path, flag, () => openSync(path, "w"));
}

/**
 * Writes a file that an option names.
 * @throws KernelError `INVALID_OPTIONS` naming option and path
 */
export function writeText(path: string, flag: string, text: string): void {
  named(path, flag, () => writeFileSync(path, text));
}

function named<Answer>(path: string, flag: string, write: () => Answer): Answer {
  try {
    return write();
  } catch (cause) {
    const message = `${flag} ${path} cannot be written; give the path of a file in a folder that exists.`;
    throw new KernelError("INVALID_OPTIONS", message, { subject: flag, cause });
  }
}
