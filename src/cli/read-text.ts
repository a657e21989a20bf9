import { readFileSync } from "node:fs";
import { KernelError } from "toolkernel";

/**
 * The text of a file that a command was given.
 * @throws KernelError `INVALID_OPTIONS` naming the path, when it cannot be read
 */
export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const message = `${path} cannot be read; give the path of a file that exists.`;
    throw new KernelError("INVALID_OPTIONS", message, { subject: path, cause });
  }
}
