import type { Disposition, ReceiptStatus } from "./action.ts";
import type { Outcome } from "./call.ts";
import type { ToolResult } from "./content.ts";
import type { FailureCategory } from "./failure.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";

/** Who may see an event or a message (OBS-2). */
export type Audience = "internal" | "owner" | "public";

/** What every event carries (OBS-1). `seq` rises by one within its run; `timeMs` is the clock's. */
export interface EventBase {
  readonly seq: number;
  readonly timeMs: number;
  readonly runId: string;
  readonly turn: number;
  readonly audience: Audience;
}

/** What every event of a call carries beside it; `epoch` once it is known. */
export interface CallEventBase {
  readonly callId: string;
  readonly callIndex: number;
  readonly toolName: string;
  readonly operationId: string;
  readonly epoch?: number;
}

/** A piece of a streamed model response. */
export type Delta =
  | { readonly type: "text" | "reasoning"; readonly text: string }
  | {
      readonly type: "toolCall";
      readonly id: string;
      readonly name?: string | undefined;
      readonly argumentsText?: string | undefined;
    };

/** What an event says of a durable action: how it was answered and where its time went, nothing of its content. */
export interface ActionFacts {
  readonly disposition: Disposition;
  /** Whether the world was spared a second execution, since a receipt was there already (ACT-7). */
  readonly duplicateExecutionPrevented: boolean;
  /** Whether the receipt came from `recover`, for an earlier dispatch (ACT-5). */
  readonly recovered: boolean;
  /** In the host's handler. */
  readonly hostMs: number;
  /** Outside of it: waiting for keys, writing intent and receipt. */
  readonly frameworkMs: number;
  /** Of the receipt; absent where there is none. */
  readonly status?: ReceiptStatus;
}

/** How a run ended, or that it waits. */
export type RunStatus =
  | "completed"
  | "stopped"
  | "aborted"
  | "limitExceeded"
  | "providerError"
  | "kernelError"
  | "awaitingApproval";

/**
 * The typed map of all events: what each kind carries beside {@link EventBase}. A session emits the
 * tool, epoch and approval kinds only.
 */
export interface KernelEventMap {
  runStarted: object;
  runResumed: object;
  turnStarted: object;
  modelRequestStarted: object;
  messageStarted: object;
  messageUpdated: { readonly delta: Delta };
  messageEnded: { readonly message: Message };
  messageQueued: { readonly queue: "steering" | "followUp" };
  toolStarted: CallEventBase;
  toolPrepared: CallEventBase & { readonly conflictKeys: readonly string[] };
  toolRefused: CallEventBase & { readonly failureCategory: FailureCategory; readonly reason: string };
  approvalRequested: CallEventBase & { readonly approvalId: string; readonly ask: JsonObject };
  toolRepeatDetected: CallEventBase & { readonly action: "advisory" | "terminated"; readonly count: number };
  epochStarted: { readonly epoch: number; readonly callIds: readonly string[] };
  toolDispatched: CallEventBase & {
    readonly epoch: number;
    readonly isWrite: boolean;
    /** Since its preparation ended: the sum of the three below. */
    readonly waitedMs: number;
    /** Until its epoch started. */
    readonly barrierMs: number;
    /** From then until it headed all its lanes. */
    readonly keyMs: number;
    /** From then until it had a slot. */
    readonly queueMs: number;
  };
  toolProgressed: CallEventBase & { readonly update: unknown };
  toolBlocked: CallEventBase & { readonly blockedBy: string };
  toolEnded: CallEventBase & {
    readonly outcome: Outcome;
    readonly isWrite: boolean;
    readonly failureCategory?: FailureCategory;
    readonly outcomeUncertain: boolean;
    /** From dispatch; absent when no executor was called. */
    readonly durationMs?: number;
    /** Of a call of a durable tool whose dispatcher was asked. */
    readonly action?: ActionFacts;
    readonly result: ToolResult;
  };
  toolLateSettled: CallEventBase & { readonly returned: boolean };
  toolUncertaintyResolved: CallEventBase & { readonly status: "committed" | "failed" };
  epochSettled: { readonly epoch: number };
  turnEnded: { readonly toolCalls: number };
  runFaulted: { readonly code: string };
  runEnded: { readonly status: RunStatus; readonly endedBy?: string };
}

/** The name of an event. */
export type KernelEventKind = keyof KernelEventMap;

/** One event of a kind, or any event; narrow on `kind`. */
export type KernelEvent<Kind extends KernelEventKind = KernelEventKind> = {
  [K in Kind]: { readonly kind: K } & EventBase & KernelEventMap[K];
}[Kind];

/** The kinds that are about one call. */
export type CallEventKind = {
  [Kind in KernelEventKind]: KernelEventMap[Kind] extends CallEventBase ? Kind : never;
}[KernelEventKind];

/** The call an event is about. */
export interface CallPlace extends Omit<CallEventBase, "epoch"> {
  readonly turn: number;
}

/** What an event of a call carries beside what names the call. */
export type CallEventFields<Kind extends CallEventKind> = Omit<KernelEventMap[Kind], keyof CallEventBase> & {
  readonly epoch?: number;
};

/**
 * Where the kernel's work reports its events; never throws, never waits. `fields` are taken over, not kept.
 */
export interface EventPort {
  emit<Kind extends KernelEventKind>(kind: Kind, turn: number, fields: KernelEventMap[Kind]): void;
  emitCall<Kind extends CallEventKind>(kind: Kind, call: CallPlace, fields: CallEventFields<Kind>): void;
  /** Tells telemetry alone, since no event follows the end of a call, how much of its progress was dropped so far. */
  traceDroppedProgress(call: CallPlace, dropped: number): void;
}
