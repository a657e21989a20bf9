/**
 * Drives one epoch by its chart.
 * Owns: which of its calls are ready, how many run, the timer for the end of a hold. Does not own: the
 * lanes' queues (plan/lanes), the calls. Invariants: at most the cap runs at once (EPOCH-3); a call is
 * admitted when it heads all its lanes and a slot is free, in source order (EPOCH-4, EPOCH-5); a call
 * that waits holds no slot; blocked calls leave at once (UNC-5); an admitted call is looked at once more
 * when its dispatch is due, since what was sent before may have cancelled or blocked it (CAN-1, UNC-4).
 */
import type { EpochEmitted, epochMachine } from "../../../machines/epoch.machine.ts";
import { firstHoldEnd, joinLanes } from "../../plan/lanes.ts";
import { isStartable, keylessHoldEnd, type StartConditions } from "../../plan/startable.ts";
import { findBlocker, type UncertainWrite } from "../../plan/uncertain-writes.ts";
import { keepLanes, mayBeAlive, releaseLanes } from "../call/lane-traffic.ts";
import type { CallOwner, CallRun } from "../call/run-call.ts";
import { type ChartActor, type ChartDriver, startChart } from "../chart-actor.ts";
import { EPOCH_CHART } from "../charts.ts";
import type { Deadline } from "../deadlines.ts";
import { FACTS } from "../facts.ts";
import { ReadyCalls } from "./ready-calls.ts";

/** What an epoch needs of its batch. */
export interface EpochOwner extends CallOwner {
  onEpochSettled(): void;
}

/** See the file header. */
export class EpochRun implements ChartDriver<EpochEmitted> {
  readonly epoch: number;
  startedAtMs = 0;
  readonly #owner: EpochOwner;
  readonly #calls: readonly CallRun[];
  readonly #actor: ChartActor<typeof epochMachine>;
  /** Calls that head their lanes and wait for a slot only, in source order. */
  readonly #ready = new ReadyCalls<CallRun>();
  /** Calls that were looked at and could not be started: their lanes or a hold keep them back. */
  readonly #queued = new Set<CallRun>();
  readonly #lost = new Set<CallRun>();
  readonly #conditions: StartConditions<CallRun>;
  /** Slots in use. */
  #running = 0;
  #holdEnd: Deadline | undefined;
  /** A hold was on when a write was last looked at, so that time alone may make it startable. */
  #mayBeHeldBack = false;

  constructor(owner: EpochOwner, epoch: number, calls: readonly CallRun[]) {
    this.#owner = owner;
    this.epoch = epoch;
    this.#calls = calls;
    const { lanes, keylessHolds } = owner.core;
    this.#conditions = { lanes, keylessHolds, lost: this.#lost };
    this.#actor = startChart(EPOCH_CHART, {
      interpreter: owner.core.settings.interpreter,
      id: `epoch:${owner.turn}:${epoch}`,
      parent: owner.actor,
      input: { epoch, calls: calls.length },
      driver: this,
    });
  }

  /** Judges the calls against uncertain writes, lets the others join their lanes, and starts. */
  start(): void {
    const { core, turn } = this.#owner;
    core.runningEpoch = this;
    this.startedAtMs = core.settings.steady.now();
    const callIds = Object.freeze(this.#calls.map(({ callId }) => callId));
    core.events.emit("epochStarted", turn, { epoch: this.epoch, callIds });
    const uncertain = core.uncertainFor(this.#owner);
    for (const call of this.#calls) {
      call.epochRun = this;
      call.tell(FACTS.EPOCH_STARTED);
      if (this.#blockIfUncertain(call, uncertain)) continue;
      joinLanes(core.lanes, call);
      call.standing = "queued";
      if (call.isLost && call.prepared?.tool.recover === undefined) this.#lost.add(call);
    }
    for (const call of this.#calls) {
      if (call.standing === "queued" && !this.consider(call, this.startedAtMs)) this.#queued.add(call);
    }
    core.mailbox.send(this.#actor, { type: "START" });
  }

  /** Cancels: running calls are stopped, the others never start (CAN-1). */
  cancel(): void {
    this.#owner.core.mailbox.send(this.#actor, { type: "CANCEL" });
  }

  /** Halts: running calls end by themselves, the others never start (CAN-5). */
  halt(): void {
    this.#owner.core.mailbox.send(this.#actor, { type: "HALT" });
  }

  /** Looks at a call that may have become startable; returns whether it has. */
  consider(call: CallRun, nowMs = this.#owner.core.settings.steady.now()): boolean {
    if (call.standing !== "queued" || !this.#isStartable(call, nowMs)) return false;
    this.#queued.delete(call);
    call.standing = "ready";
    call.headedAtMs = nowMs;
    this.#ready.add(call);
    return true;
  }

  /** Admits what has become ready by something outside of this epoch, and minds holds that have begun. */
  wake(): void {
    this.#owner.core.mailbox.send(this.#actor, { type: "LANE_FREED" });
  }

  /** Looks at every call that waits, since a hold has ended. */
  recheck(): void {
    for (const call of [...this.#queued]) this.consider(call);
    this.wake();
  }

  /** A call of this epoch has its result: its lanes and slot are free, or kept if it may still be alive. */
  onCallSettled(call: CallRun): void {
    const { core } = this.#owner;
    if (call.standing === "launched") {
      call.standing = "gone";
      this.#running -= 1;
      if (mayBeAlive(call)) keepLanes(core, call);
      else releaseLanes(core, call);
    } else {
      this.#withdraw(call);
    }
    if (call.settled?.outcome === "uncertain") this.#judgeOthers(call);
    if (this.#lost.delete(call) && this.#lost.size === 0) this.recheck();
    core.mailbox.send(this.#actor, { type: "CALL_SETTLED" });
  }

  /** Its chart broke, which none should. */
  fault(error: unknown): void {
    this.#owner.core.fault(error);
  }

  /** Does what its chart asks for. */
  perform(emitted: EpochEmitted): void {
    const { core, turn } = this.#owner;
    switch (emitted.type) {
      case "admitCalls":
        this.#admit();
        break;
      case "haltCalls":
        for (const call of this.#undispatched()) call.tell(FACTS.CANCEL);
        break;
      case "cancelCalls":
        for (const call of this.#calls) call.tell(FACTS.CANCEL);
        break;
      case "settled":
        core.deadlines.disarm(this.#holdEnd);
        core.runningEpoch = undefined;
        core.events.emit("epochSettled", turn, { epoch: this.epoch });
        this.#owner.onEpochSettled();
        break;
    }
  }

  #admit(): void {
    const { maxConcurrentTools } = this.#owner.core.settings.limits;
    if (this.#mayBeHeldBack) this.#mindHolds();
    while (this.#running < maxConcurrentTools) {
      const call = this.#ready.takeFirst();
      if (call === undefined) break;
      this.#running += 1;
      call.standing = "admitted";
      this.#owner.core.mailbox.run(() => this.#launch(call));
    }
  }

  /** Dispatches an admitted call, unless something that came before has taken its leave away. */
  #launch(call: CallRun): void {
    // Its CANCEL is on the way.
    if (this.#owner.isStopping || call.standing !== "admitted") return;
    if (this.#isStartable(call)) {
      call.standing = "launched";
      call.actor.send({ type: "ADMITTED" });
      return;
    }
    // A write without a key was abandoned meanwhile (EPOCH-8).
    this.#running -= 1;
    call.standing = "queued";
    this.#queued.add(call);
    this.wake();
  }

  /** Takes a call that will not be dispatched out of its slot, its queue and its lanes. */
  #withdraw(call: CallRun): void {
    const { standing } = call;
    if (standing === undefined || standing === "gone") return;
    call.standing = "gone";
    if (standing === "admitted") this.#running -= 1;
    else if (standing === "ready") this.#ready.delete(call);
    else this.#queued.delete(call);
    releaseLanes(this.#owner.core, call);
  }

  /** Judges the calls that are not dispatched against a write that has just become uncertain (UNC-5). */
  #judgeOthers(lost: CallRun): void {
    const uncertain = this.#owner.core.uncertaintyOf(lost);
    if (uncertain === undefined) return;
    for (const call of this.#undispatched()) {
      if (this.#blockIfUncertain(call, [uncertain])) this.#withdraw(call);
    }
  }

  /** Calls that wait, and those whose dispatch is still being made durable (RUN-6); in source order. */
  #undispatched(): CallRun[] {
    return this.#calls.filter(
      ({ standing, state }) =>
        standing === "queued" ||
        standing === "ready" ||
        standing === "admitted" ||
        (standing === "launched" && state === "recording"),
    );
  }

  #isStartable(call: CallRun, givenMs?: number): boolean {
    const { core } = this.#owner;
    if (call.isWrite && (core.keylessHolds.size > 0 || core.lanes.held.size > 0)) this.#mayBeHeldBack = true;
    return isStartable(call, this.#conditions, () => givenMs ?? core.settings.steady.now());
  }

  #blockIfUncertain(call: CallRun, uncertain: readonly UncertainWrite[]): boolean {
    const { core } = this.#owner;
    // Dispatched by an earlier process: it runs already, whatever became of it (UNC-4, RUN-6).
    if (call.earlierDispatch !== undefined) return false;
    const blocker = findBlocker(call, uncertain);
    if (blocker === undefined) return false;
    call.blocker = blocker;
    core.events.emitCall("toolBlocked", call, { epoch: this.epoch, blockedBy: blocker.callId });
    call.tell(FACTS.BLOCKED);
    return true;
  }

  /**
   * Looks again at the writes that an abandoned one may hold back, and sees to be woken when the first hold
   * is over (EPOCH-8). Both by one moment: a hold that ended between look and arming would wake nobody.
   */
  #mindHolds(): void {
    const { core } = this.#owner;
    core.deadlines.disarm(this.#holdEnd);
    this.#mayBeHeldBack = false;
    const nowMs = core.settings.steady.now();
    const waiting = [...this.#queued].filter((call) => call.isWrite && !this.consider(call, nowMs));
    if (waiting.length === 0) return;
    const laneMs = firstHoldEnd(core.lanes, waiting, nowMs) ?? Infinity;
    const firstMs = Math.min(laneMs, keylessHoldEnd(core.keylessHolds, nowMs) ?? Infinity);
    if (firstMs < Infinity) this.#holdEnd = core.deadlines.arm(firstMs, () => this.wake());
  }
}
