import { KernelError } from "toolkernel";
import { call } from "./run-calls.ts";

/** Code and subject of a refusal. */
export async function misuseOf(doing: Promise<unknown>): Promise<string> {
  try {
    await doing;
    return "no misuse";
  } catch (error) {
    return error instanceof KernelError ? `${error.code} ${error.subject}` : String(error);
  }
}

export const READ = [call("read", { path: "a" }, "r1"), call("read", { path: "b" }, "r2")];
