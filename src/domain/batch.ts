import type { Approval } from "./approval.ts";
import type { SettledCall } from "./call.ts";
import type { PolicyMessage, ToolResultMessage } from "./message.ts";

/** Why no further model request should follow a batch, in this precedence (RUN-2). */
export type ClosedBy = "projectionFailed" | "exactToolRepeat" | "allTerminate" | "stopReason" | "maxToolCalls";

/**
 * What a batch came to. `messages` are the results in model source order, then at most one policy
 * message; `settled` has one entry per call, in source order. Both are empty while `approvals` are open.
 */
export interface BatchResult {
  readonly messages: readonly (ToolResultMessage | PolicyMessage)[];
  readonly settled: readonly SettledCall[];
  readonly closed: boolean;
  readonly closedBy?: ClosedBy;
  readonly approvals?: readonly Approval[];
}
