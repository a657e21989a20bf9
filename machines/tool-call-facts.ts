/** What the tool-call chart is told, remembers and asks for; the chart itself stands in tool-call.machine.ts. */

/** What a tool-call actor is started with: facts about the call's tool that never change. */
export interface ToolCallInput {
  readonly callId: string;
  /** Whether the tool can change the world; a read is never uncertain (UNC-1). */
  readonly isWrite: boolean;
  /** Whether an undeclared throw leaves the outcome unknown (`throwMeans`). */
  readonly throwIsUncertain: boolean;
  /** Whether the tool can be asked what became of a lost write (UNC-7). */
  readonly canRecover: boolean;
  /** Whether its dispatch has to be durable before the executor is called (RUN-6). */
  readonly isRecorded: boolean;
  /** Whether an earlier process has dispatched it and left no settlement (RUN-6). */
  readonly wasDispatched?: boolean;
}

/** Why the signal of a running call fired. */
export type StopCause = "timeout" | "cancelled";

/** What the chart remembers; no argument and no result is ever in it. */
export interface ToolCallContext extends Required<ToolCallInput> {
  readonly isRewritten: boolean;
  readonly stopCause: StopCause | undefined;
  readonly isRunCancelled: boolean;
  readonly hasExecutorEnded: boolean;
}

/** The facts a tool call is told, in the order in which they can come. */
export type ToolCallEvent =
  | { readonly type: "FOUND" }
  | { readonly type: "SHAPED" }
  | { readonly type: "VALID" }
  | { readonly type: "KEPT" }
  | { readonly type: "REWRITTEN" }
  | { readonly type: "REFINED" }
  | { readonly type: "KEYED" }
  | { readonly type: "ALLOWED" }
  | { readonly type: "ASKED" }
  | { readonly type: "REFUSED" }
  | { readonly type: "GRANTED" }
  | { readonly type: "DENIED" }
  | { readonly type: "CHECKED" }
  | { readonly type: "REPEATED" }
  | { readonly type: "PLANNED" }
  | { readonly type: "EPOCH_STARTED" }
  | { readonly type: "ADMITTED" }
  | { readonly type: "RECORDED" }
  | { readonly type: "BLOCKED" }
  | { readonly type: "SUCCEEDED" }
  | { readonly type: "FAILED" }
  | { readonly type: "LOST" }
  | { readonly type: "THREW" }
  | { readonly type: "TIMED_OUT" }
  | { readonly type: "CANCEL" }
  | { readonly type: "GRACE_OVER" }
  | { readonly type: "EXECUTOR_ENDED" }
  | { readonly type: "CONFIRMED" }
  | { readonly type: "DISPROVED" }
  | { readonly type: "UNRESOLVED" }
  | { readonly type: "FINISHED" };

/** What the driver is asked to do. */
export type ToolCallEmitted =
  | { readonly type: "recordDispatch" }
  | { readonly type: "dispatch" }
  | { readonly type: "stopExecutor" }
  | { readonly type: "askRecovery" }
  | { readonly type: "stopRecovery" }
  | { readonly type: "finish" }
  | { readonly type: "settled" };
