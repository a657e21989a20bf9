import type { Approval } from "./approval.ts";
import type { ClosedBy } from "./batch.ts";
import type { Outcome, Repair, StopReason, ToolCall } from "./call.ts";
import type { ToolResult } from "./content.ts";
import type { RunStatus } from "./event.ts";
import type { FailureCategory } from "./failure.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { AssistantMessage, Message, UserMessage } from "./message.ts";
import type { RunOutcome } from "./run.ts";

/** Where a stored run stands: `running` until it ends or waits for approvals. */
export type StoredRunStatus = "running" | RunStatus;

/** A run of a store, as its list shows it. `claimed`: a live process holds it now. */
export interface RunListing {
  readonly runId: string;
  readonly status: StoredRunStatus;
  readonly turn: number;
  readonly updatedAtMs: number;
  readonly claimed: boolean;
}

/** Open runs (running or awaiting approval) in order of their ids; `next` is there when more follow. */
export interface RunPage {
  readonly runs: readonly RunListing[];
  readonly next?: string;
}

/**
 * Where runs are kept, so that another process can resume them (RUN-6). A run is a list of facts; the
 * store neither reads nor changes them. Times are milliseconds since the epoch, by the store's clock.
 */
export interface RunStore {
  listOpen(options: { readonly limit: number; readonly after?: string | undefined }): Promise<RunPage>;
  /** Removes runs that ended before a time, never an open one. Returns how many. */
  prune(options: { readonly endedBefore: number }): Promise<number>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  /**
   * Takes a run for this process, alone: by lease and fence, as journals do for conflict scopes.
   * `create` makes it when it is not there. A run whose owner is dead can be taken at once where that is
   * known, else when its lease is over.
   * Rejects with `RUN_CLAIMED` while a live process (or another claim of this one) holds it,
   * `RUN_NOT_FOUND` when it is not there and not to be made, `JOURNAL_*` when the store cannot answer.
   */
  claim(runId: string, options: { readonly create: boolean }): Promise<RunClaim>;
}

/** A run that this process holds. */
export interface RunClaim {
  readonly runId: string;
  /** Every fact recorded so far, in order. */
  readonly facts: readonly RunFact[];
  /**
   * Records facts after all that were given before, all or none, durable when the promise resolves;
   * several appends under way may share a commit. `progress` is what the list shows from now on.
   * Rejects with `RUN_CLAIMED` when another process has taken the run over, `JOURNAL_*` when the store cannot.
   * *Contract*: the same facts are given again after a rejection. A store whose commit may have been made all the
   * same has to know them again, and to record them once.
   */
  append(facts: readonly RunFact[], progress?: RunProgress): Promise<void>;
  /** Gives the run back, so that any process may take it. What is still being recorded is awaited first. */
  release(): Promise<void>;
}

/** What the list of runs shows of one. */
export interface RunProgress {
  readonly status: StoredRunStatus;
  readonly turn: number;
}

/** A call as it was prepared, or refused; what stands here is never prepared again (PREP-1, RUN-6). */
export type StoredPreparation =
  | {
      readonly kind: "prepared";
      readonly index: number;
      readonly arguments: JsonObject;
      readonly draft: JsonValue;
      readonly conflictKeys: readonly string[];
      readonly repairs: readonly Repair[];
      readonly approval?: Pick<Approval, "approvalId" | "ask">;
    }
  | {
      readonly kind: "refused";
      readonly index: number;
      readonly failureCategory: FailureCategory;
      readonly reason: string;
      readonly terminate: boolean;
      readonly draft?: JsonValue;
      readonly repairs: readonly Repair[];
    };

/** One thing that happened in a run. JSON, and enough of them, in order, to go on from (RUN-6). */
export type RunFact =
  | { readonly kind: "begun"; readonly earlier: readonly Message[] }
  /** A message that was added to the transcript and that nothing else records. */
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "queued"; readonly queue: "steering" | "followUp"; readonly message: UserMessage }
  /** Everything in a queue was added to the transcript. */
  | { readonly kind: "delivered"; readonly queue: "steering" | "followUp" }
  /** The host said that new evidence has reached the model (REP-7). */
  | { readonly kind: "evidence" }
  | {
      readonly kind: "response";
      readonly turn: number;
      /** The Agent's own message; absent in a session. */
      readonly message?: AssistantMessage;
      readonly calls: readonly ToolCall[];
      readonly hasDuplicateIds: boolean;
      readonly stopReason: StopReason;
      readonly totalTokens: number;
      /** What the provider said of a response that ended in an error. */
      readonly errorMessage?: string;
    }
  | { readonly kind: "prepared"; readonly turn: number; readonly calls: readonly StoredPreparation[] }
  | {
      readonly kind: "decided";
      readonly turn: number;
      readonly decisions: readonly { readonly index: number; readonly block?: string }[];
    }
  /** Which calls run in which epoch, by index; repeats have been counted. */
  | { readonly kind: "planned"; readonly turn: number; readonly epochs: readonly (readonly number[])[] }
  | { readonly kind: "dispatched"; readonly turn: number; readonly index: number; readonly atMs: number }
  | {
      readonly kind: "settled";
      readonly turn: number;
      readonly index: number;
      readonly operationId: string;
      readonly outcome: Outcome;
      readonly result: ToolResult;
      readonly epoch?: number;
      readonly startedAtMs?: number;
      readonly endedAtMs: number;
      /** Until when an abandoned write keeps its keys, or all later writes, from others (EPOCH-8). */
      readonly heldUntilMs?: number;
      /** Its receipt could not be projected, which closes the loop (PROJ-5); a result that looks like it does not. */
      readonly isProjectionFailed?: true;
    }
  /** An uncertain write was resolved by the host (UNC-6). */
  | { readonly kind: "resolved"; readonly operationId: string }
  /** The batch of a turn is over; `messages` are its results, as added to the transcript. */
  | {
      readonly kind: "batchEnded";
      readonly turn: number;
      readonly messages: readonly Message[];
      readonly closedBy?: ClosedBy;
    }
  /** `added`: how many messages the run has added; a response that came with its abort is not among them. */
  | { readonly kind: "ended"; readonly outcome: StoredOutcome; readonly added: number };

/** What an ended run came to, as it is given again; an error as its name, message and code. */
export interface StoredOutcome extends Omit<RunOutcome, "error" | "abortReason" | "messages" | "newMessages"> {
  readonly abortReason?: JsonValue;
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string };
}
