/**
 * The order within the batch of one turn, as its events tell it.
 * Owns: where each call stands, which epoch runs. A call or key that an earlier process told of is not known
 * here; what cannot be known is not held against anybody.
 */
import type { RecordedEvent } from "toolkernel";
import {
  type CallOrder,
  holdsBack,
  isOpenUncertainty,
  isRunning,
  mayHoldBack,
  nameOf,
  newCallOrder,
  sharesKey,
  wasCancelledWaiting,
} from "./call-order.ts";
import { RuleViolation } from "./rule-violation.ts";

/** An event that is about one call. */
type CallEvent = Extract<RecordedEvent, { readonly callIndex: number }>;

/** What is known beside the events of a turn. */
export interface TurnSurroundings {
  /** An earlier process, whose events may not be here, has had the run. */
  readonly isContinued: boolean;
  /** Whether an uncertain write of another batch, of which only the call id is told, may hold a call back (UNC-6). */
  readonly mayBeHeld: (blockedBy: string, held: CallOrder) => boolean;
}

/** See the file header. */
export class TurnOrder {
  readonly #calls = new Map<number, CallOrder>();
  #lastStarted = -1;
  #lastMessage = -1;
  #epoch: { readonly epoch: number; readonly callIds: readonly string[]; isSettled: boolean } | undefined;
  #isContinued: boolean;
  readonly #mayBeHeld: TurnSurroundings["mayBeHeld"];
  /** Calls that had their results before the process whose events come now. */
  #settledBefore: ReadonlySet<CallOrder> = new Set();

  constructor({ isContinued, mayBeHeld }: TurnSurroundings) {
    this.#isContinued = isContinued;
    this.#mayBeHeld = mayBeHeld;
  }

  /** Another process goes on: what runs no more may run again, and what was not recorded is prepared again (RUN-6). */
  continue(): void {
    this.#isContinued = true;
    this.#lastStarted = -1;
    this.#lastMessage = -1;
    this.#epoch = undefined;
    this.#settledBefore = new Set([...this.#calls.values()].filter(({ outcome }) => outcome !== undefined));
    for (const call of this.#calls.values()) {
      call.isOfEarlier = true;
      if (call.outcome === undefined) Object.assign(call, { isRefused: false, isBlocked: false, isDispatched: false });
    }
  }

  take(event: RecordedEvent): void {
    if ("callIndex" in event) this.#takeOfCall(event);
    else if (event.kind === "epochStarted") this.#startEpoch(event);
    else if (event.kind === "epochSettled") this.#settleEpoch(event);
    else if (event.kind === "messageEnded") this.#takeMessage(event);
  }

  /** Holds every call that was told of to its one result. */
  checkWhole(where: string): void {
    // What an earlier process recorded and nobody was told of is not told again.
    for (const call of this.#calls.values())
      if (call.outcome === undefined && !call.isOfEarlier)
        throw new RuleViolation("CAN-4", `${nameOf(call)} has no result at ${where}`);
  }

  #takeOfCall(event: CallEvent): void {
    const call = this.#callAt(event);
    switch (event.kind) {
      case "toolStarted":
        this.#checkPreparing(call, "prepared");
        if (call.index < this.#lastStarted)
          throw new RuleViolation("PREP-2", `${nameOf(call)} was prepared after a later call`);
        this.#lastStarted = call.index;
        call.isOfEarlier = false;
        break;
      case "toolPrepared":
        this.#checkPreparing(call, "prepared");
        call.keys = event.conflictKeys ?? event.lanes;
        break;
      case "toolRefused":
        this.#checkPreparing(call, "refused");
        call.isRefused = true;
        break;
      case "approvalRequested":
        if (this.#find(isRunning) !== undefined)
          throw new RuleViolation("APP-1", `${nameOf(call)} asked for approval while its batch ran`);
        break;
      case "toolDispatched":
        this.#dispatch(call, event);
        break;
      case "toolProgressed":
        if (!isRunning(call)) throw new RuleViolation("CAN-2", `${nameOf(call)} reported progress and does not run`);
        break;
      case "toolBlocked":
        this.#block(call, event.blockedBy);
        break;
      case "toolEnded":
        this.#end(call, event);
        break;
      case "toolLateSettled":
        if (call.outcome === undefined)
          throw new RuleViolation("CAN-2", `${nameOf(call)} settled late before it had a result`);
        break;
      case "toolUncertaintyResolved":
        call.isResolved = true;
        break;
      case "toolRepeatDetected":
        break;
    }
  }

  /** Nothing of a batch is dispatched before all of it is prepared, or stands prepared again. */
  #checkPreparing(call: CallOrder, what: string): void {
    if (this.#find((other) => other.isDispatched && !this.#settledBefore.has(other)) !== undefined)
      throw new RuleViolation("PREP-1", `${nameOf(call)} was ${what} when a call of its batch had been dispatched`);
  }

  #startEpoch({ epoch, callIds }: RecordedEvent<"epochStarted">): void {
    const before = this.#epoch;
    if (before !== undefined && (!before.isSettled || epoch <= before.epoch))
      throw new RuleViolation("EPOCH-2", `epoch ${epoch} started before epoch ${before.epoch} had settled`);
    this.#epoch = { epoch, callIds, isSettled: false };
  }

  #settleEpoch({ epoch }: RecordedEvent<"epochSettled">): void {
    const current = this.#epoch;
    if (current?.epoch !== epoch || current.isSettled)
      throw new RuleViolation("EPOCH-2", `epoch ${epoch} settled and was not running`);
    current.isSettled = true;
    const open = this.#find(({ callId, outcome }) => current.callIds.includes(callId) && outcome === undefined);
    if (open !== undefined) throw new RuleViolation("EPOCH-2", `epoch ${epoch} settled without ${nameOf(open)}`);
  }

  #dispatch(call: CallOrder, { epoch, isWrite }: RecordedEvent<"toolDispatched">): void {
    call.isWrite = isWrite;
    const told = (rule: string, what: string): RuleViolation =>
      new RuleViolation(rule, `${nameOf(call)} was dispatched ${what}`);
    if (call.isDispatched || call.outcome !== undefined) throw told("CAN-4", "twice, or after its result");
    if (call.isRefused) throw told("PREP-6", "and had been refused");
    if (call.isBlocked) throw told("UNC-5", "and had been blocked");
    const current = this.#epoch;
    if (current?.epoch !== epoch || current.isSettled || !current.callIds.includes(call.callId))
      throw told("EPOCH-2", `outside of its epoch ${epoch}`);
    if (this.#find(wasCancelledWaiting) !== undefined) throw told("CAN-1", "after the cancellation of its batch");
    const owner = this.#find((other) => other.outcome === undefined && this.#isAhead(other, call));
    if (owner !== undefined) throw told("EPOCH-4", `before ${nameOf(owner)}, which shares a key, had settled`);
    // What ran in an earlier process is not held back (UNC-4).
    const uncertain = call.isOfEarlier
      ? undefined
      : this.#find((other) => isOpenUncertainty(other) && holdsBack(other, call));
    if (uncertain !== undefined)
      throw told(uncertain.keys?.length === 0 ? "UNC-3" : "UNC-2", `after the uncertain ${nameOf(uncertain)}`);
    call.isDispatched = true;
    call.epoch = epoch;
  }

  /** Whether another call of the epoch shares a key, and runs or stands before this one in the lane. */
  #isAhead(other: CallOrder, call: CallOrder): boolean {
    if (other === call || !sharesKey(other, call)) return false;
    const isInEpoch = this.#epoch?.callIds.includes(other.callId) === true;
    return isRunning(other) || (isInEpoch && other.index < call.index);
  }

  #block(call: CallOrder, blockedBy: string): void {
    if (call.isDispatched) throw new RuleViolation("UNC-5", `${nameOf(call)} was blocked and had been dispatched`);
    call.isBlocked = true;
    const blocker = this.#find(({ callId, outcome }) => callId === blockedBy && outcome !== undefined);
    // Of an earlier batch, where uncertainty lasts for the run (UNC-6).
    if (blocker === undefined) return;
    if (isOpenUncertainty(blocker) && mayHoldBack(blocker, call)) return;
    // A call id need not be this batch's alone (PREP-9).
    if (!this.#mayBeHeld(blockedBy, call))
      throw new RuleViolation("UNC-2", `${nameOf(call)} was blocked by ${nameOf(blocker)}, which does not touch it`);
  }

  /** Whether an uncertain write of this batch may hold back a call of a later one: by a key alone (UNC-6). */
  mayHoldLater(callId: string, held: CallOrder): boolean {
    const holds = (call: CallOrder): boolean =>
      call.callId === callId && isOpenUncertainty(call) && (call.keys === undefined || sharesKey(call, held));
    return this.#find(holds) !== undefined;
  }

  #end(call: CallOrder, { outcome, isWrite }: RecordedEvent<"toolEnded">): void {
    if (call.outcome !== undefined) throw new RuleViolation("CAN-4", `${nameOf(call)} ended twice`);
    call.outcome = outcome;
    const isDispatched = call.isDispatched || call.isOfEarlier;
    if (outcome === "uncertain" && (!isWrite || !isDispatched))
      throw new RuleViolation("UNC-1", `${nameOf(call)} is uncertain and was no dispatched write`);
    if ((outcome === "succeeded" || outcome === "failed") && !isDispatched)
      throw new RuleViolation("CAN-4", `${nameOf(call)} has ${outcome} and was never dispatched`);
    if (outcome === "refused" && this.#find((other) => other.isDispatched) !== undefined)
      throw new RuleViolation("PREP-6", `${nameOf(call)}, refused, settled after the first dispatch of its batch`);
    if ((outcome === "blocked") !== call.isBlocked)
      throw new RuleViolation("UNC-5", `${nameOf(call)} ended ${outcome}${call.isBlocked ? " and was blocked" : ""}`);
  }

  #takeMessage({ message }: RecordedEvent<"messageEnded">): void {
    // A recording keeps no more of a message than its role.
    if (message.role !== "toolResult" || !("callIndex" in message) || typeof message.callIndex !== "number") return;
    if (message.callIndex <= this.#lastMessage)
      throw new RuleViolation("EPOCH-6", `the result of call ${message.callIndex} came after that of a later call`);
    this.#lastMessage = message.callIndex;
  }

  #find(test: (call: CallOrder) => boolean): CallOrder | undefined {
    for (const call of this.#calls.values()) if (test(call)) return call;
    return undefined;
  }

  #callAt({ callIndex, callId }: CallEvent): CallOrder {
    const known = this.#calls.get(callIndex);
    if (known !== undefined) return known;
    const call = newCallOrder({ callId, index: callIndex, isOfEarlier: this.#isContinued });
    this.#calls.set(callIndex, call);
    return call;
  }
}
