import type { Approval } from "./approval.ts";
import type { BatchResult } from "./batch.ts";
import type { RunStatus } from "./event.ts";
import type { Hook, SessionHooks } from "./hooks.ts";
import type { Message } from "./message.ts";
import type { ModelProvider } from "./model.ts";
import type { AnyTool } from "./tool.ts";

/** What the hooks of the loop are given; `messages` is the transcript so far. */
export interface TurnHookInput {
  readonly turn: number;
  readonly messages: readonly Message[];
  readonly host: unknown;
  readonly signal: AbortSignal;
}

/** What a host may change for one turn; what it leaves out is the Agent's own. */
export interface TurnPreparation {
  readonly model?: ModelProvider | undefined;
  readonly tools?: readonly AnyTool[] | undefined;
  readonly systemPrompt?: string | undefined;
  /** What this request shows in place of the transcript; the transcript itself stays whole. */
  readonly messages?: readonly Message[] | undefined;
}

/** Called before every request, the first too. *Contract*: a throw or time-out ends the run as `kernelError` (RUN-2). */
export type PrepareNextTurn = (
  input: TurnHookInput,
) => TurnPreparation | undefined | Promise<TurnPreparation | undefined>;

/** Called after every turn. *Contract*: true ends the run as `stopped`; a throw or time-out as `kernelError` (RUN-2). */
export type ShouldStopAfterTurn = (
  input: TurnHookInput & { readonly batch?: BatchResult | undefined },
) => boolean | undefined | Promise<boolean | undefined>;

/** The hooks of an Agent: a session's, and those of the loop. */
export interface AgentHooks extends SessionHooks {
  readonly prepareNextTurn?: Hook<PrepareNextTurn> | undefined;
  readonly shouldStopAfterTurn?: Hook<ShouldStopAfterTurn> | undefined;
}

/** Whether a message was taken into a queue (RUN-3). */
export type QueueAnswer = { readonly accepted: true } | { readonly accepted: false; readonly reason: "full" | "ended" };

/** What a run came to. `messages` is the whole transcript, valid as the next run's input (RUN-5). */
export interface RunOutcome {
  readonly runId: string;
  readonly status: RunStatus;
  /** What ended it: a limit's name, `abort`, `noCalls`, …; absent for `kernelError` and `awaitingApproval`. */
  readonly endedBy?: string;
  readonly abortReason?: unknown;
  readonly messages: readonly Message[];
  /** All that this run added, its prompt included. */
  readonly newMessages: readonly Message[];
  /** Accepted messages that never reached the model. */
  readonly undelivered: readonly Message[];
  readonly approvals?: readonly Approval[];
  readonly turns: number;
  readonly toolCalls: number;
  /** What failed, for `providerError` and `kernelError`. */
  readonly error?: Error;
}
