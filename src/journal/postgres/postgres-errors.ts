import { KernelError, type KernelErrorCode } from "../../domain/errors.ts";
import { ANSWER_LOST, NOTHING_WRITTEN } from "../../domain/journal.ts";

/** What the journal's own functions raise. */
const LEASE_RAN_OUT = "TK001";
const RULE_BROKEN = "TK002";
const OTHER_SERVER = "TK003";
const UNSAFE_SETTING = "TK004";

/** No connection could be had, so that nothing was asked of the database at all. */
export class NeverSent extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : "no connection", { cause });
  }
}

/** Whether the database says that this process's lease ran out; nothing was done. */
export function isLeaseOver(error: unknown): boolean {
  return stateOf(error) === LEASE_RAN_OUT;
}

/** Whether the statement had no effect and is best taken again at once: a deadlock, a conflict of transactions. */
export function isConflict(error: unknown): boolean {
  const state = stateOf(error);
  return state === "40P01" || state === "40001" || state === "55P03";
}

/** Whether the database itself refused the statement: then it has had no effect, and a part of it may be at fault. */
export function isRefused(error: unknown): boolean {
  return stateOf(error) !== undefined && !isConnectionLost(error);
}

/** Whether the connection is gone, so that the statement may or may not have had its effect. */
export function isConnectionLost(error: unknown): boolean {
  const state = stateOf(error);
  return state === undefined ? !(error instanceof KernelError) : /^(?:08|57P0|58000)/.test(state);
}

/** An error of the database as the named error that it means for the journal (ACT-11). */
export function toJournalError(error: unknown): KernelError {
  if (error instanceof KernelError) return error;
  if (error instanceof NeverSent) {
    const { code, message } = toJournalError(error.cause);
    return new KernelError(code, message, { subject: NOTHING_WRITTEN, cause: error.cause });
  }
  const [code, what] = meaningOf(stateOf(error));
  const said = error instanceof Error ? error.message : "unknown error";
  const subject = isConnectionLost(error) ? ANSWER_LOST : undefined;
  return new KernelError(code, `The PostgreSQL journal ${what} (${said}).`, { subject, cause: error });
}

function meaningOf(state: string | undefined): readonly [KernelErrorCode, string] {
  if (state === undefined) return ["JOURNAL_UNAVAILABLE", "cannot be reached"];
  if (state === RULE_BROKEN) return ["KERNEL_STUCK", "refused a step that its rules forbid"];
  if (state === OTHER_SERVER)
    return ["JOURNAL_UNSAFE", "is on a server that lacks what may have been acknowledged; open it again to see why"];
  if (state === UNSAFE_SETTING) return ["JOURNAL_UNSAFE", "is on a server that could lose acknowledged commits"];
  if (state === "25006") return ["JOURNAL_UNSAFE", "is on a read-only server; connect to the primary"];
  if (state === "53100") return ["JOURNAL_FULL", "has no space left; nothing new is dispatched until there is"];
  if (/^(?:42P01|42883|42703|3F000|XX00)/.test(state)) {
    return ["JOURNAL_CORRUPT", "does not hold what it should; restore it, nothing was dispatched"];
  }
  if (state === "42501") return ["JOURNAL_UNAVAILABLE", "may not be used by this user; grant it the schema"];
  return ["JOURNAL_UNAVAILABLE", "did not take the step"];
}

/** The SQLSTATE of a database's answer; undefined for an error of the connection. */
function stateOf(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { readonly code?: unknown; readonly severity?: unknown }; // any thrown value
  return typeof code === "string" && severity !== undefined ? code : undefined;
}
