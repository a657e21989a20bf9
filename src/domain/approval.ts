import type { JsonObject } from "./json.ts";

/** A call that waits for a person's answer (APP-1); bound to run, turn, index, tool and arguments (APP-2). */
export interface Approval {
  readonly approvalId: string;
  readonly operationId: string;
  readonly callId: string;
  readonly callIndex: number;
  readonly toolName: string;
  /** The prepared arguments, deep-frozen; the ones that will run. */
  readonly arguments: JsonObject;
  readonly conflictKeys: readonly string[];
  /** What the authorizer asked. */
  readonly ask: JsonObject;
}

/** One answer: run it, or refuse it for a reason that the model is told. */
export type ApprovalDecision = true | { readonly block: string };

/** Answers by approval id; an unknown id is `INVALID_OPTIONS` (APP-2). */
export type ApprovalDecisions = Readonly<Record<string, ApprovalDecision>>;
