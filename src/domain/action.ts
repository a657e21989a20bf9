import { type DeclaredResult, type ToolResultFields, toolResult } from "./content.ts";
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

/** What `dispatch` answers; there is no receipt when nothing was dispatched. */
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

/** What one call of a durable tool came to, for the one function that makes results. */
export interface DurableOutcome {
  readonly intent: GameActionIntent;
  readonly receipt?: GameActionReceipt;
  /** Why there is no receipt, as a fixed code such as `conflict_blocked`. */
  readonly code?: string;
}

/**
 * What the kernel asks of a durable tool beyond executing it. One object per tool, shared by its calls;
 * calls are told apart by their operation id.
 */
export interface DurableToolPort {
  /**
   * Binds an input that was given as an object to the run that first uses it (ACT-8).
   * @throws KernelError `INVALID_OPTIONS` when another run of the process has it.
   */
  bindRun(runId: string): void;
  /**
   * The durable operation id of a call; equal for equal contexts.
   * @throws KernelError `INVALID_OPTIONS` when the host's function threw or gave no valid id.
   */
  operationId(context: DurableCallContext): string;
  /** Whether the handler has returned a receipt that is being saved just now (CAN-2, ACT-6). */
  isSavingReceipt(operationId: string): boolean;
  /** How much longer than the grace the kernel waits while {@link isSavingReceipt}; counted from the signal. */
  readonly receiptCommitTimeoutMs: number;
  /**
   * Told when the kernel abandons a call (CAN-2): the journal entry becomes uncertain, so that it can be
   * reconciled or resolved. Never rejects; what could not be written is retried while the process lives.
   */
  abandoned(operationId: string): Promise<void>;
  /** The result of a call that was abandoned, or whose execution never answered; `details` as CAN-2 says. */
  uncertainOutcome(
    operationId: string,
    context: DurableCallContext,
  ): { readonly outcome: DurableOutcome; readonly details: JsonObject };
  /** Closes an uncertain operation by hand: `resolveUncertain` of a durable call (UNC-6). */
  resolve(
    operationId: string,
    resolution: { readonly status: "committed" | "failed"; readonly details?: JsonValue | undefined },
  ): Promise<void>;
  /** Set when the host projects receipts: then PROJ-2 to PROJ-6 hold for every result of the tool. */
  readonly projector?: ModelReceiptProjector;
}

const OUTCOME: unique symbol = Symbol.for("toolkernel.durableOutcome") as never;

/** Declares the result of a durable call, with what settling needs to project it. */
export function durableResult(fields: ToolResultFields, outcome: DurableOutcome): DeclaredResult {
  return Object.assign(toolResult(fields), { [OUTCOME]: outcome });
}

/** The durable outcome that {@link durableResult} attached, if any. */
export function durableOutcomeOf(result: unknown): DurableOutcome | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  return (result as { [OUTCOME]?: DurableOutcome })[OUTCOME];
}
