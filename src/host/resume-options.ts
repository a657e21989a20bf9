import type { ApprovalDecisions } from "../domain/approval.ts";
import { checkOptions, mayBeAnything, mustBeBoolean, mustBeRecord, mustBeSignal } from "../domain/check-options.ts";
import type { UserMessage } from "../domain/message.ts";
import type { ResumeFacts } from "../run/loop/run-settings.ts";
import { checkDecisions, readUserMessage } from "./read-messages.ts";

/** Options of `resume`. */
export interface ResumeOptions {
  /** Answers to open approvals, by id; an unknown id is `INVALID_OPTIONS`. */
  readonly approvals?: ApprovalDecisions | undefined;
  /** Refuses every approval that is then still undecided (APP-2). */
  readonly blockOthers?: boolean | undefined;
  /** Comes in place of an answer: everything undecided is refused before it (APP-4). */
  readonly message?: string | UserMessage | undefined;
  readonly host?: unknown;
  readonly signal?: AbortSignal | undefined;
}

const RESUME_CHECKS = {
  approvals: mustBeRecord,
  blockOthers: mustBeBoolean,
  message: mayBeAnything,
  host: mayBeAnything,
  signal: mustBeSignal,
};

/** Checks the options of `resume`. @throws KernelError `INVALID_OPTIONS` naming the option. */
export function readResumeOptions(options: ResumeOptions): ResumeFacts {
  checkOptions(options, RESUME_CHECKS, { path: "options" });
  const approvals = options.approvals ?? {};
  checkDecisions(approvals);
  const message = options.message === undefined ? undefined : readUserMessage(options.message, "message");
  return { approvals, blockOthers: options.blockOthers === true, message };
}
