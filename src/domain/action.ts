import type { JsonObject, JsonValue } from "./json.ts";

/** What one action takes and gives; both are JSON. */
export interface ActionShape {
  readonly arguments: unknown;
  readonly result: unknown;
}

/** Actions by name, when a host names no types. */
export type AnyActions = Readonly<Record<string, { readonly arguments: JsonObject; readonly result: JsonValue }>>;

/** What a host's map of actions has to look like; interfaces fit as well as type aliases. */
export type ActionMap<Actions> = { readonly [Name in keyof Actions]: ActionShape };

/** A moment of a world: which of its timelines, and which tick of it. */
export interface ActionMoment {
  readonly timelineId: string;
  readonly tick: number;
}

/**
 * The player's input an action belongs to. It is saved with the input and handed over the same when the
 * input runs again (ACT-8); `moment` is when the input was accepted, never "now".
 */
export interface GameActionInput {
  readonly sessionId: string;
  readonly actorId: string;
  readonly inputId: string;
  readonly moment: ActionMoment;
  /** Tells worlds apart that share keys and timeline (ACT-4). */
  readonly generationId?: string | undefined;
}

/** An intent of one action, whatever its name; see {@link GameActionIntent}. */
export interface IntentOf<Name extends string, Arguments> extends GameActionInput {
  /** At most 512 UTF-8 bytes, well-formed, without NUL (ACT-8). */
  readonly operationId: string;
  readonly action: Name;
  readonly arguments: Arguments;
  /** Names of what the action touches, claimed all together (ACT-4); sorted, without duplicates once stored. */
  readonly conflictKeys: readonly string[];
  /** The state the action was decided on; a committed receipt must not be older (ACT-9). */
  readonly expectedRevision?: number | undefined;
}

/** What is to be done to the world, written down before it is done (ACT-1). Narrow on `action`. */
export type GameActionIntent<Actions extends ActionMap<Actions> = AnyActions> = {
  [Name in keyof Actions & string]: IntentOf<Name, Actions[Name]["arguments"]>;
}[keyof Actions & string];

/** How a receipt ends its operation; `uncertain` ends nothing. */
export type ReceiptStatus = "committed" | "rejected" | "failed" | "uncertain";

/** What became of an operation; the one thing the journal, the host and every replay see (PROJ-1). */
export type GameActionReceipt<Result = JsonValue> = {
  readonly operationId: string;
  readonly moment: ActionMoment;
  readonly stateRevision?: number | undefined;
} & (
  | { readonly status: "committed"; readonly result: Result }
  | {
      readonly status: "rejected" | "failed" | "uncertain";
      readonly result: null;
      readonly code: string;
      readonly message: string;
    }
);

/** What a handler is given beside the intent. */
export interface ActionContext {
  /** Fires when the caller cancels or the call's time is over; a receipt that comes all the same is saved (ACT-6). */
  readonly signal: AbortSignal;
  /** Rises per conflict scope with every claim and reconciliation; a world that compares it refuses a late owner. */
  readonly fence: number;
}

/** The host's hands in the world. */
export interface GameActionHandler<Actions extends ActionMap<Actions> = AnyActions> {
  /**
   * Does what the intent says, once per operation id (ACT-1). *Contract*: answers a receipt of this
   * intent; a thrown `ToolError` is a failed receipt; any other throw leaves the outcome uncertain.
   */
  execute(
    intent: GameActionIntent<Actions>,
    context: ActionContext,
  ): MaybePromise<GameActionReceipt<Actions[keyof Actions]["result"]>>;
  /**
   * Finds out what became of an earlier dispatch (ACT-5). *Contract*: reads the world, changes nothing;
   * `undefined` or a throw leaves the outcome uncertain.
   */
  recover?(
    intent: GameActionIntent<Actions>,
    context: ActionContext,
  ): MaybePromise<GameActionReceipt<Actions[keyof Actions]["result"]> | undefined>;
}

/** A value, or a promise of it. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** What one `dispatch` did with an operation (ACT-3). */
export type Disposition = "executed" | "replayed" | "recovered" | "conflictBlocked" | "cancelled";

/** Where the time of one dispatch went; `frameworkMs` is all that was not the handler's. */
export interface DispatchTimings {
  readonly totalMs: number;
  readonly hostMs: number;
  readonly frameworkMs: number;
}

/** What `dispatch` returns; there is no receipt when nothing was dispatched. */
export interface DispatchResult<Result = JsonValue> {
  readonly receipt?: GameActionReceipt<Result>;
  readonly disposition: Disposition;
  readonly timings: DispatchTimings;
}

/** How a person closes an uncertain operation; `evidence` says why that is known. */
export interface ActionResolution {
  readonly status: "committed" | "rejected" | "failed";
  readonly evidence: JsonValue;
  /** Of a committed one; default null. */
  readonly result?: JsonValue | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/** What a host's projector is given: the stored intent and the canonical receipt, nothing else (PROJ-2). */
export interface ProjectionInput<Actions extends ActionMap<Actions> = AnyActions> {
  readonly intent: GameActionIntent<Actions>;
  readonly receipt: GameActionReceipt<Actions[keyof Actions]["result"]>;
}

/**
 * Says what the model sees of a receipt, of every status. *Contract*: synchronous, deterministic; an
 * object or JSON text of one; anything else, a throw included, is `projection_failed` (PROJ-3, PROJ-4).
 */
export type ModelReceiptProjector<Actions extends ActionMap<Actions> = AnyActions> = (
  input: ProjectionInput<Actions>,
) => JsonObject | string;

/** What a durable tool's `operationId` and `input` functions are given. */
export interface DurableCallContext {
  readonly callIndex: number;
  readonly turn: number;
  /** The prepared arguments. */
  readonly arguments: JsonObject;
  readonly host: unknown;
  readonly runId: string;
}

/** The bound of a projection in UTF-16 units; exactly so many are allowed (PROJ-3). */
export const MAX_MODEL_RECEIPT_CHARACTERS = 64_000;

/** What one call of a durable tool came to, for the one function that makes results, and for its events. */
export interface DurableOutcome {
  /** As stored; of a call that never reached the journal, as it would have been. */
  readonly intent?: GameActionIntent;
  /** Absent when nothing was dispatched; then `code` says why. */
  readonly receipt?: GameActionReceipt;
  /** Why there is no receipt, such as `conflict_blocked`: all that a projected result says then (PROJ-6). */
  readonly code?: string;
  /** Absent when the dispatcher threw. */
  readonly disposition?: Disposition;
  readonly timings?: DispatchTimings;
}

/**
 * Which action a call is. The host is asked for it once, while the call is prepared, and never again: what it
 * said then is kept with the call, since later nobody could do anything about a question that fails.
 */
export interface ActionIdentity {
  readonly operationId: string;
  /** Checked and frozen. */
  readonly input: GameActionInput;
}

/** A call of a durable tool, with the keys the kernel has resolved for it, and which action it is. */
export interface DurableCall extends DurableCallContext {
  readonly conflictKeys: readonly string[];
  readonly identity: ActionIdentity;
}

/** What stands of a call that the kernel abandoned: its uncertain outcome, and details as CAN-2 says. */
export interface DurableAbandonment {
  readonly outcome: DurableOutcome;
  readonly details: JsonObject;
}

/** What the kernel adds to the context of a durable tool's executor, and of its `recover`. */
export interface DurableToolContext {
  /** Which action the call is. Without it the tool asks the host. */
  readonly identity?: ActionIdentity | undefined;
  /** How long a claim may wait: the call's time-out less the grace, at least 0 (ACT-3). Without it only the dispatcher's own bound counts. */
  readonly conflictWaitMs?: number | undefined;
  /** Why its signal has fired, if it has: a cancellation's own reason may look like a time-out's. */
  readonly stopCause?: "timeout" | "cancelled" | undefined;
  /** Whether an earlier process has dispatched the call, so that nothing is certain of it but what the journal says (RUN-6). */
  readonly wasDispatched?: boolean | undefined;
  /** Told of the action's life as it goes; there only where somebody inspects. */
  readonly watchAction?: ActionWatch | undefined;
}

/**
 * What the kernel asks of a durable tool beyond executing it. One object per tool, shared by its calls;
 * calls are told apart by their operation id. Only what says so throws.
 */
export interface DurableToolPort {
  /**
   * Binds an input that was given as an object to the run that first uses it (ACT-8).
   * @throws KernelError `INVALID_OPTIONS` when another run of the process has it.
   */
  bindRun(runId: string): void;
  /**
   * Which action a call is; equal for equal contexts. Asks the host's functions, and so is asked once a call.
   * @throws KernelError `INVALID_OPTIONS` when a function of the host threw or gave no valid id or input.
   */
  identify(context: DurableCallContext): ActionIdentity;
  /** Whether the handler has returned a receipt that is being saved just now (CAN-2, ACT-6). */
  isSavingReceipt(operationId: string): boolean;
  /** How long after the signal a call is not abandoned while {@link isSavingReceipt}. */
  readonly receiptCommitTimeoutMs: number;
  /**
   * Gives up on a call (CAN-2): its entry becomes uncertain, so that it can be reconciled or resolved, and
   * what its handler answers late still closes it. The answer is what the call's result is made of.
   */
  abandon(call: DurableCall): DurableAbandonment;
  /** Closes an uncertain operation by hand: `resolveUncertain` of a durable call; rejects as `dispatcher.resolve` (UNC-6). */
  resolve(
    operationId: string,
    resolution: { readonly status: "committed" | "failed"; readonly details?: JsonValue | undefined },
  ): Promise<void>;
  /** Set when the host projects receipts: then PROJ-2 to PROJ-6 hold for every result of the tool. */
  readonly projector?: ModelReceiptProjector;
}

/** Told each fact of an action's life that the journal holds, by its name in the action's chart. */
export type ActionWatch = (fact: string) => void;
