import { createToolSession, KernelError, type ToolSessionOptions } from "toolkernel";
import { recordingTool } from "./run-calls.ts";

export const read = recordingTool().tool;

/** What work throws, as code and subject; the message has to name the subject. */
export function faultOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (!(error instanceof KernelError)) return `no KernelError: ${String(error)}`;
    const named = error.message.includes(String(error.subject)) ? "" : " (not named in the message)";
    return `${error.code} ${error.subject}${named}`;
  }
  return "no fault";
}

/** Passes what types would forbid. */
export const create = (options: unknown) => createToolSession(options as ToolSessionOptions);
