/**
 * The dispatcher of durable actions: one world write, one receipt.
 * Owns: its waiting room, and what is known of handlers at work here. Does not own: entries and scopes,
 * which are the journal's; handlers' effects. Upholds: ACT-1 to ACT-9.
 */
import type {
  ActionMap,
  ActionResolution,
  ActionWatch,
  AnyActions,
  DispatchResult,
  Disposition,
  GameActionHandler,
  GameActionIntent,
  GameActionReceipt,
} from "../domain/action.ts";
import type { Journal, JournalEntry, SweepCount } from "../domain/journal.ts";
import { DEFAULT_LIMITS } from "../domain/limits.ts";
import type { Clock } from "../domain/ports.ts";
import { steadyClock } from "../run/clock.ts";
import { ActionChart } from "./action-life.ts";
import { checkDispatcherOptions, checkDispatchOptions } from "./action-options.ts";
import { type DispatchedCall, type DispatchManner, dispatchAction } from "./dispatch-action.ts";
import type { DispatchParts } from "./dispatch-parts.ts";
import { InputOwners } from "./input-owners.ts";
import { checkIntent } from "./intent.ts";
import { Leftovers } from "./leftovers.ts";
import { LiveActions } from "./live-actions.ts";
import { type Reconciled, reconcileAction } from "./reconcile-action.ts";
import { resolveAction } from "./resolve-action.ts";
import { WaitRoom } from "./wait-room.ts";

/** Options of {@link GameActionDispatcher}. */
export interface GameActionDispatcherOptions<Actions extends ActionMap<Actions> = AnyActions> {
  readonly journal: Journal;
  readonly handler: GameActionHandler<Actions>;
  /** How long the caller waits for a receipt to be saved, default 10,000 (ACT-6). */
  readonly receiptCommitTimeoutMs?: number | undefined;
  /** How long a claim may wait for its keys, default 30,000 (ACT-3). */
  readonly conflictWaitTimeoutMs?: number | undefined;
  /** Measures waits and time-outs; default the time that passes on the platform, whatever its clock is set to. */
  readonly clock?: Clock | undefined;
}

/** Options of one dispatch. */
export interface DispatchOptions {
  /** Cancels the wait for keys, and reaches the handler; a receipt that it gives all the same is saved (ACT-6). */
  readonly signal?: AbortSignal | undefined;
}

/** How a durable tool's call is dispatched; the kernel watches over its time-out and grace itself. */
export interface CallDispatchOptions {
  readonly signal: AbortSignal;
  /** The call's remaining time less the grace (ACT-3). */
  readonly maxWaitMs: number;
  /** Told of the action's life, where somebody inspects. */
  readonly watch?: ActionWatch | undefined;
}

/** Writes intents down, calls the handler once per operation id, and saves what became of it. */
export class GameActionDispatcher<Actions extends ActionMap<Actions> = AnyActions> {
  readonly #parts: DispatchParts;
  readonly #inputs = new InputOwners();
  #starting: Promise<SweepCount> | undefined;

  /** @throws KernelError `INVALID_OPTIONS` naming the option. */
  constructor(options: GameActionDispatcherOptions<Actions>) {
    checkDispatcherOptions(options);
    const { journal, handler, receiptCommitTimeoutMs = 10_000, conflictWaitTimeoutMs = 30_000 } = options;
    const clock = steadyClock(options.clock);
    this.#parts = {
      journal,
      // The handler narrows on `action`; an intent of this dispatcher is of one of its actions.
      handler: handler as unknown as GameActionHandler<AnyActions>,
      clock,
      chart: new ActionChart(),
      room: new WaitRoom(clock, (listener) => journal.protocol.onReleased(listener)),
      live: new LiveActions(),
      leftovers: new Leftovers(clock, () => !journal.protocol.isClosed),
      receiptCommitTimeoutMs,
      conflictWaitTimeoutMs,
    };
  }

  /** How long a receipt may take to be saved; the kernel extends its grace to this (CAN-2). */
  get receiptCommitTimeoutMs(): number {
    return this.#parts.receiptCommitTimeoutMs;
  }

  /** Whether the handler can be asked what became of an action. */
  get canRecover(): boolean {
    return this.#parts.handler.recover !== undefined;
  }

  /**
   * Looks after what dead processes left: their dispatched entries become uncertain, their prepared ones
   * abandoned; nothing is executed (ACT-5). Returns how many. The first `dispatch` does this by itself.
   * @throws KernelError `JOURNAL_*`
   */
  async start(): Promise<SweepCount> {
    return this.#parts.journal.protocol.sweep();
  }

  /**
   * Performs an action, or returns what became of it before (ACT-1, ACT-3). Arguments, keys and ids are
   * checked before anything is written.
   * @throws KernelError `INVALID_OPTIONS` for an intent that cannot be written down, `INTENT_MISMATCH` for
   * an id that another intent has, `OPERATION_FORGOTTEN` for a pruned one, `JOURNAL_*`; in all these cases
   * the handler was not called.
   */
  async dispatch(
    intent: GameActionIntent<Actions>,
    options: DispatchOptions = {},
  ): Promise<DispatchResult<Actions[keyof Actions]["result"]>> {
    checkDispatchOptions(options);
    const { intent: _stored, ...result } = await this.#dispatch(intent as GameActionIntent, {
      signal: options.signal,
      maxWaitMs: Number.POSITIVE_INFINITY,
      graceMs: DEFAULT_LIMITS.cancellationGraceMs,
      asksRecover: true,
    });
    return result as DispatchResult<Actions[keyof Actions]["result"]>; // the handler's receipt, or an earlier one of the same action
  }

  /**
   * As {@link dispatch}, for a call of a durable tool: the kernel abandons it through {@link abandonCall},
   * and asks for recovery itself (UNC-7).
   */
  async dispatchCall(intent: GameActionIntent, options: CallDispatchOptions): Promise<DispatchedCall> {
    return this.#dispatch(intent, { ...options, graceMs: undefined, asksRecover: false });
  }

  /**
   * The entry of a call's operation, as it stands.
   * @throws KernelError `JOURNAL_*`
   */
  async findCall(operationId: string): Promise<JournalEntry | undefined> {
    return this.#parts.journal.find(operationId);
  }

  /** Ends the wait for a handler that the kernel has given up on; resolves when its entry is uncertain (CAN-2). */
  async abandonCall(operationId: string): Promise<void> {
    const action = this.#parts.live.get(operationId);
    if (action?.phase !== "handling") return;
    action.abandon();
    await action.doubted;
  }

  /** Whether the handler has returned a receipt that is being saved just now (CAN-2). */
  isSavingReceipt(operationId: string): boolean {
    return this.#parts.live.get(operationId)?.phase === "saving";
  }

  /**
   * Binds an input that tools were given as an object to the run that first uses it (ACT-8).
   * @throws KernelError `INVALID_OPTIONS` when another run has it.
   */
  bindInput(input: object, runId: string): void {
    this.#inputs.bind(input, runId);
  }

  /**
   * Asks `handler.recover` what became of an uncertain operation (ACT-5). A final one returns its receipt;
   * undefined: still unknown, or not uncertain.
   * @throws KernelError `OPERATION_UNKNOWN`, `OPERATION_FORGOTTEN`, `JOURNAL_*`
   */
  async reconcile(
    operationId: string,
    options: DispatchOptions = {},
  ): Promise<
    | { readonly receipt: GameActionReceipt<Actions[keyof Actions]["result"]>; readonly disposition: Disposition }
    | undefined
  > {
    checkDispatchOptions(options);
    const reconciled = await reconcileAction(this.#parts, operationId, options.signal);
    if (reconciled === undefined) return undefined;
    // The receipt of one of this dispatcher's actions.
    const receipt = reconciled.receipt as GameActionReceipt<Actions[keyof Actions]["result"]>;
    return { receipt, disposition: reconciled.disposition };
  }

  /** As {@link reconcile}, for a call of a durable tool; with the intent as it is stored (PROJ-2). */
  async reconcileCall(operationId: string, signal: AbortSignal): Promise<Reconciled> {
    await this.abandonCall(operationId);
    return reconcileAction(this.#parts, operationId, signal);
  }

  /** The intent of an action whose handler is at work here, as it is stored. */
  liveIntent(operationId: string): GameActionIntent | undefined {
    return this.#parts.live.get(operationId)?.intent;
  }

  /**
   * Closes an uncertain operation by a person's word; the evidence is stored beside the receipt (ACT-5).
   * @throws KernelError `OPERATION_UNKNOWN`, `OPERATION_FORGOTTEN`, `RECEIPT_IMMUTABLE` when it ended
   * otherwise, `INVALID_OPTIONS` when it is not uncertain, `JOURNAL_*`
   */
  async resolve(operationId: string, resolution: ActionResolution): Promise<GameActionReceipt> {
    return resolveAction(this.#parts, operationId, resolution);
  }

  /**
   * Abandons an operation that waits for its keys: proof that nothing was dispatched. False when it was
   * not prepared.
   * @throws KernelError `JOURNAL_*`
   */
  async abandon(operationId: string): Promise<boolean> {
    return this.#parts.journal.protocol.abandon(operationId);
  }

  async #dispatch(intent: GameActionIntent, manner: DispatchManner): Promise<DispatchedCall> {
    const order = { startedMs: this.#parts.clock.now(), checked: checkIntent(intent), manner };
    if (manner.signal?.aborted !== true) await this.#ensureStarted();
    return dispatchAction(this.#parts, order);
  }

  async #ensureStarted(): Promise<void> {
    this.#starting ??= this.start();
    try {
      await this.#starting;
    } catch (error) {
      this.#starting = undefined; // a later dispatch tries again
      throw error;
    }
  }
}
