/**
 * The scheduling of batches as a pure system that can be copied and explored: the charts of batch, epoch and
 * call on their compiled tables, with the very functions of `src/plan` that the kernel runs, put together as
 * `src/run` puts them together.
 * Owns: where every call stands. Does not own: time (a deadline passes when the explorer says so), prepared
 * arguments, executors (they answer when the explorer says so). `batches.test.ts` holds it to the real kernel,
 * step by step.
 */
import type { EventObject } from "xstate";
import type { Lanes } from "../../src/plan/lanes.ts";
import {
  type ActorState,
  type CallState,
  CODES,
  callOf,
  codeOf,
  copyLanes,
  factsFor,
  isLiveKeylessHold,
  isUncertain,
  LATER_MS,
  NOW_MS,
  type SchedulerParts,
  type Scope,
  type Stimulus,
  take,
  toolOf,
} from "./scheduler-state.ts";

/** A place in the machinery that invariants look at. */
export interface SchedulerWatcher {
  onDispatch?(system: ComposedBatch, call: CallState): void;
  onSettled?(system: ComposedBatch, call: CallState): void;
}

type Addressee = CallState | "epoch" | "batch";
type Mail = { readonly to: Addressee; readonly event: EventObject } | { readonly run: () => void };

/** See the file header. */
export class ComposedBatch {
  readonly parts: SchedulerParts;
  readonly scope: Scope;
  readonly watcher: SchedulerWatcher;
  readonly calls: readonly CallState[];
  isCancelled = false;
  isOver = false;
  batch = 0;
  epoch = -1;
  /** Indices of calls by epoch; never changed once made. */
  #plan: readonly (readonly number[])[] = [];
  #batchActor: ActorState;
  #epochActor: ActorState | undefined;
  #lanes: Lanes<CallState>;
  #running = 0;
  #mail: Mail[] = [];
  #isDelivering = false;

  private constructor(
    { parts, scope, watcher }: Pick<ComposedBatch, "parts" | "scope" | "watcher">,
    calls: readonly CallState[],
  ) {
    this.parts = parts;
    this.scope = scope;
    this.watcher = watcher;
    this.calls = calls;
    this.#lanes = parts.lanes.createLanes<CallState>();
    this.#batchActor = { row: parts.batch.initial, context: {} };
  }

  /** Starts the first batch of a scope. */
  static start(parts: SchedulerParts, scope: Scope, watcher: SchedulerWatcher = {}): ComposedBatch {
    const kinds = scope.batches.flatMap((batch, place) => batch.map((kind) => ({ kind, batch: place })));
    const calls = kinds.map(({ kind, batch }, index) => callOf(parts, { kind, batch, index }));
    const system = new ComposedBatch({ parts, scope, watcher }, calls);
    system.#startBatch(0);
    return system;
  }

  /** The calls of the batch that runs. */
  get current(): readonly CallState[] {
    return this.calls.filter(({ batch }) => batch === this.batch);
  }

  /** Everything that can happen now. */
  stimuli(): Stimulus[] {
    const stimuli: Stimulus[] = this.isOver || this.isCancelled ? [] : [{ kind: "cancel" }];
    for (const call of this.calls) {
      for (const fact of factsFor(call)) stimuli.push({ kind: "call", call: call.index, fact });
      if (!call.hasLeft && call.heldUntilMs === LATER_MS) stimuli.push({ kind: "holdOver", call: call.index });
    }
    return stimuli;
  }

  /** Lets something happen, and all that follows from it by itself. */
  apply(stimulus: Stimulus): void {
    if (stimulus.kind === "cancel") {
      this.isCancelled = true;
      this.#send("batch", { type: "CANCEL" });
      return;
    }
    const call = this.#callAt(stimulus.call);
    if (stimulus.kind === "holdOver") {
      call.heldUntilMs = NOW_MS;
      call.isHoldOver = true;
      this.#recheck();
      return;
    }
    const { fact } = stimulus;
    const isEnd = fact !== "TIMED_OUT" && fact !== "GRACE_OVER";
    if (isEnd) call.hasExecutorEnded = true;
    this.#send(call, { type: fact });
    if (fact === "EXECUTOR_ENDED") this.#endLate(call);
  }

  /** A copy that shares nothing that changes. */
  clone(): ComposedBatch {
    const copy = new ComposedBatch(
      this,
      this.calls.map((call) => ({ ...call })),
    );
    copy.isCancelled = this.isCancelled;
    copy.isOver = this.isOver;
    copy.batch = this.batch;
    copy.epoch = this.epoch;
    const twin = (call: CallState): CallState => copy.#callAt(call.index);
    copy.#plan = this.#plan;
    copy.#batchActor = { ...this.#batchActor };
    copy.#epochActor = this.#epochActor && { ...this.#epochActor };
    copy.#lanes = copyLanes(this.#lanes, twin);
    copy.#running = this.#running;
    return copy;
  }

  /** Two systems of one scope with the same key can do the same from here on. */
  key(): number {
    let key = (this.batch * 8 + this.epoch + 1) * 2 + (this.isCancelled ? 1 : 0);
    for (const call of this.calls) key = key * CODES + codeOf(call);
    return key;
  }

  #callAt(index: number): CallState {
    const call = this.calls[index];
    if (call === undefined) throw new Error(`there is no call ${index}`);
    return call;
  }

  #startBatch(batch: number): void {
    this.batch = batch;
    this.isCancelled = false;
    this.epoch = -1;
    this.#epochActor = undefined;
    const calls = this.current;
    const context = this.parts.batch.createContext({ turn: batch + 1, calls: calls.length });
    this.#batchActor = { row: this.parts.batch.initial, context };
    for (const event of [{ type: "PREPARED", undecided: 0 }, { type: "CHECKED" }])
      this.#send("batch", event as EventObject);
  }

  #endBatch(): void {
    if (this.batch + 1 < this.scope.batches.length) this.#startBatch(this.batch + 1);
    else this.isOver = true;
  }

  #send(to: Addressee, event: EventObject): void {
    this.#post({ to, event });
  }

  #post(mail: Mail): void {
    this.#mail.push(mail);
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    for (let place = 0; place < this.#mail.length; place += 1) {
      const next = this.#mail[place];
      if (next === undefined) continue;
      if ("run" in next) next.run();
      else this.#deliver(next.to, next.event);
    }
    this.#mail.length = 0;
    this.#isDelivering = false;
  }

  #deliver(to: Addressee, event: EventObject): void {
    if (to === "batch") {
      for (const emitted of take(this.#batchActor, event)) this.#post({ run: () => this.#performBatch(emitted) });
    } else if (to === "epoch") {
      if (this.#epochActor !== undefined)
        for (const emitted of take(this.#epochActor, event)) this.#performEpoch(emitted);
    } else {
      for (const emitted of take(to, event)) this.#performCall(to, emitted);
    }
  }

  #performBatch({ type, epoch }: EventObject & { readonly epoch?: number }): void {
    switch (type) {
      case "planEpochs":
        this.#planEpochs();
        break;
      case "startEpoch":
        this.#startEpoch(epoch ?? 0);
        break;
      case "cancelEpoch":
        this.#send("epoch", { type: "CANCEL" });
        break;
      case "cancelCalls":
        for (const call of this.current) this.#send(call, { type: "CANCEL" });
        this.#send("batch", { type: "CALLS_SETTLED" });
        break;
      case "settled":
        this.#endBatch();
        break;
    }
  }

  #planEpochs(): void {
    const { planEpochs } = this.parts;
    const plannable = this.current.map((call) => ({ call, tool: toolOf(call.kind) }));
    this.#plan = planEpochs(plannable, this.scope.mode).map((epoch) => epoch.map(({ call }) => call.index));
    for (const [place, epoch] of this.#plan.entries()) {
      for (const call of epoch.map((index) => this.#callAt(index))) {
        call.epoch = place;
        this.#send(call, { type: "PLANNED" });
      }
    }
    this.#send("batch", { type: "PLANNED", epochs: this.#plan.length } as EventObject);
  }

  #startEpoch(epoch: number): void {
    this.epoch = epoch;
    this.#running = 0;
    const calls = this.#callsOf(epoch);
    const context = this.parts.epoch.createContext({ epoch, calls: calls.length });
    this.#epochActor = { row: this.parts.epoch.initial, context };
    for (const call of calls) {
      this.#send(call, { type: "EPOCH_STARTED" });
      if (this.#blockIfUncertain(call, this.current.filter(isUncertain))) continue;
      this.parts.lanes.joinLanes(this.#lanes, call);
      call.standing = "queued";
    }
    for (const call of calls) this.#consider(call);
    this.#send("epoch", { type: "START" });
  }

  #callsOf(epoch: number): CallState[] {
    return (this.#plan[epoch] ?? []).map((index) => this.#callAt(index));
  }

  #performEpoch({ type }: EventObject): void {
    switch (type) {
      case "admitCalls":
        this.#admit();
        break;
      case "cancelCalls":
        for (const call of this.#callsOf(this.epoch)) this.#send(call, { type: "CANCEL" });
        break;
      case "settled":
        this.#send("batch", { type: "EPOCH_SETTLED" });
        break;
    }
  }

  #admit(): void {
    while (this.parts.hasFreeSlot(this.#running, this.scope.cap)) {
      const call = this.current.find(({ standing }) => standing === "ready");
      if (call === undefined) return;
      this.#running += 1;
      call.standing = "admitted";
      this.#post({ run: () => this.#launch(call) });
    }
  }

  #launch(call: CallState): void {
    if (!this.parts.mayLaunch(this.isCancelled) || call.standing !== "admitted") return;
    if (this.#isStartable(call)) {
      call.standing = "launched";
      this.#deliver(call, { type: "ADMITTED" });
      return;
    }
    this.#running -= 1;
    call.standing = "queued";
    this.#send("epoch", { type: "LANE_FREED" });
  }

  #performCall(call: CallState, { type }: EventObject): void {
    if (type === "dispatch") {
      call.isDispatched = true;
      this.watcher.onDispatch?.(this, call);
    }
    if (type === "finish") this.#send(call, { type: "FINISHED" });
    if (type === "settled") this.#settle(call);
  }

  #settle(call: CallState): void {
    call.settledCount += 1;
    this.watcher.onSettled?.(this, call);
    if (call.epoch !== this.epoch || this.#epochActor === undefined) return;
    if (call.standing === "launched") {
      this.#running -= 1;
      if (call.isWrite && !call.hasExecutorEnded) this.#keepLanes(call);
      else this.#releaseLanes(call);
    } else {
      this.#withdraw(call);
    }
    if (isUncertain(call)) this.#judgeOthers(call);
    this.#send("epoch", { type: "CALL_SETTLED" });
  }

  #judgeOthers(lost: CallState): void {
    for (const other of this.current) {
      const isWaiting = other.standing === "queued" || other.standing === "ready" || other.standing === "admitted";
      if (isWaiting && this.#blockIfUncertain(other, [lost])) this.#withdraw(other);
    }
  }

  #withdraw(call: CallState): void {
    if (call.standing === "none" || call.standing === "launched") return;
    if (call.standing === "admitted") this.#running -= 1;
    call.standing = "none";
    this.#releaseLanes(call);
  }

  #blockIfUncertain(call: CallState, uncertain: readonly CallState[]): boolean {
    const writes = uncertain.map(({ index, conflictKeys }) => ({
      operationId: String(index),
      callId: String(index),
      toolName: "",
      conflictKeys,
      isOfThisBatch: true,
    }));
    if (this.parts.findBlocker(call, writes) === undefined) return false;
    this.#send(call, { type: "BLOCKED" });
    return true;
  }

  #consider(call: CallState): void {
    if (call.standing === "queued" && this.#isStartable(call)) call.standing = "ready";
  }

  #isStartable(call: CallState): boolean {
    if (call.isWrite && this.calls.some(isLiveKeylessHold)) return false;
    return this.parts.lanes.headsItsLanes(this.#lanes, call, NOW_MS);
  }

  #releaseLanes(call: CallState): void {
    for (const next of this.parts.lanes.leaveLanes(this.#lanes, call, NOW_MS)) this.#consider(next);
  }

  #keepLanes(call: CallState): void {
    const hold = { untilMs: LATER_MS, nowMs: NOW_MS };
    for (const next of this.parts.lanes.holdLanes(this.#lanes, call, hold)) this.#consider(next);
  }

  #endLate(call: CallState): void {
    if (call.heldUntilMs !== undefined) this.#releaseLanes(call);
    this.#recheck();
  }

  #recheck(): void {
    for (const call of this.current) this.#consider(call);
    this.#send("epoch", { type: "LANE_FREED" });
  }
}
