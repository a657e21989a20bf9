/**
 * The scheduling of batches as a pure system that can be copied and explored: the charts of batch, epoch and
 * call on their compiled tables, with the very functions of `src/plan` that the kernel runs, put together as
 * `src/run` puts them together.
 * Owns: where every call stands. Does not own: time (a deadline passes when the explorer says so), prepared
 * arguments, executors (they answer when the explorer says so). `composed-batch.test.ts` holds it to the
 * real kernel, step by step.
 */
import type { EventObject } from "xstate";
import type { batchMachine, epochMachine, toolCallMachine } from "../../machines/index.ts";
import type { AnyTool, ToolExecution } from "../../src/domain/tool.ts";
import type { ChartRow, ChartTable } from "../../src/interpreter/compile-chart.ts";
import type { LaneEntry, Lanes } from "../../src/plan/lanes.ts";

/** What a call is to the scheduler. */
export interface CallKind {
  readonly name: string;
  readonly isWrite: boolean;
  readonly conflictKeys: readonly string[];
  /** The tool's own mark. */
  readonly executionMode?: "sequential" | "parallel";
}

/** The parts it is put together from: the kernel's own, or altered ones. */
export interface SchedulerParts {
  readonly batch: ChartTable;
  readonly epoch: ChartTable;
  readonly call: ChartTable;
  readonly lanes: Pick<
    typeof import("../../src/plan/lanes.ts"),
    "createLanes" | "headsItsLanes" | "holdLanes" | "joinLanes" | "leaveLanes"
  >;
  readonly planEpochs: typeof import("../../src/plan/plan-epochs.ts").planEpochs;
  readonly findBlocker: typeof import("../../src/plan/uncertain-writes.ts").findBlocker;
}

/** The charts whose tables are in {@link SchedulerParts}. */
export type SchedulerCharts = {
  readonly batch: typeof batchMachine;
  readonly epoch: typeof epochMachine;
  readonly call: typeof toolCallMachine;
};

/** What is explored: batches of one session, one after another. */
export interface Scope {
  readonly batches: readonly (readonly CallKind[])[];
  readonly mode: ToolExecution;
  readonly cap: number;
}

/** Something that happens to the system from outside. */
export type Stimulus =
  | { readonly kind: "cancel" }
  /** An executor answers, a deadline of a call passes, or an abandoned executor ends at last. */
  | { readonly kind: "call"; readonly call: number; readonly fact: CallFact }
  /** The time for which an abandoned write keeps later ones back is over. */
  | { readonly kind: "holdOver"; readonly call: number };

/** What can be told to a call that was dispatched. */
export type CallFact = "SUCCEEDED" | "FAILED" | "THREW" | "LOST" | "TIMED_OUT" | "GRACE_OVER" | "EXECUTOR_ENDED";

/** A place in the machinery that invariants look at. */
export interface SchedulerWatcher {
  onDispatch?(system: ComposedBatch, call: CallState): void;
  onSettled?(system: ComposedBatch, call: CallState): void;
}

interface ActorState {
  row: ChartRow;
  context: object;
}

/** One call. `standing`: where it is in its epoch's hands, besides its chart. */
export interface CallState extends LaneEntry, ActorState {
  readonly index: number;
  /** Which batch it is of. */
  readonly batch: number;
  readonly kind: CallKind;
  epoch: number;
  standing: "none" | "queued" | "ready" | "admitted" | "launched";
  isDispatched: boolean;
  hasExecutorEnded: boolean;
  /** Whether the time is over for which it would keep later writes back. */
  isHoldOver: boolean;
  settledCount: number;
}

/** Any time at all: holds are over when the explorer says so. */
const NOW_MS = 0;
const LATER_MS = 1;

const PREPARATION = ["FOUND", "SHAPED", "VALID", "KEPT", "REFINED", "KEYED", "ALLOWED"];

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
    while (this.#running < this.scope.cap) {
      const call = this.current.find(({ standing }) => standing === "ready");
      if (call === undefined) return;
      this.#running += 1;
      call.standing = "admitted";
      this.#post({ run: () => this.#launch(call) });
    }
  }

  #launch(call: CallState): void {
    if (this.isCancelled || call.standing !== "admitted") return;
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

/** The facts that can be told to a call where it stands. */
function factsFor(call: CallState): readonly CallFact[] {
  switch (call.row.value) {
    case "running":
      return ["SUCCEEDED", "FAILED", "THREW", "LOST", "TIMED_OUT"];
    case "stopping":
      return ["SUCCEEDED", "FAILED", "THREW", "LOST", "GRACE_OVER"];
    default:
      // The end of an abandoned read frees nothing that is not free.
      return call.heldUntilMs !== undefined && !call.hasLeft ? ["EXECUTOR_ENDED"] : [];
  }
}

/** Lets an actor take an event; answers what it emits. */
function take(actor: ActorState, event: EventObject): EventObject[] {
  if (actor.row.isFinal) return [];
  const { context } = actor;
  const taken = actor.row.on.get(event.type)?.find(({ guard }) => guard === undefined || guard({ context, event }));
  if (taken === undefined) return [];
  const emitted: EventObject[] = [];
  for (const action of taken.actions) {
    if (action.kind === "assign") actor.context = action.update({ context: actor.context, event });
    else emitted.push(action.event ?? action.make({ context: actor.context, event }));
  }
  actor.row = taken.target;
  return emitted;
}

function callOf(
  parts: SchedulerParts,
  { kind, batch, index }: { readonly kind: CallKind; readonly batch: number; readonly index: number },
): CallState {
  const { isWrite, conflictKeys } = kind;
  const input = { callId: String(index), isWrite, throwIsUncertain: true, canRecover: false, isRecorded: false };
  const call: CallState = {
    row: parts.call.initial,
    context: parts.call.createContext(input),
    kind,
    batch,
    index,
    isWrite,
    conflictKeys,
    hasLeft: false,
    heldUntilMs: undefined,
    epoch: -1,
    standing: "none",
    isDispatched: false,
    hasExecutorEnded: false,
    isHoldOver: false,
    settledCount: 0,
  };
  for (const type of PREPARATION) take(call, { type });
  return call;
}

function toolOf({ isWrite, executionMode }: CallKind): Pick<AnyTool, "risk" | "executionMode"> {
  return { risk: isWrite ? "idempotentWrite" : "readOnly", executionMode };
}

function isUncertain({ row }: CallState): boolean {
  return row.value === "uncertain";
}

function isLiveKeylessHold({ conflictKeys, heldUntilMs, hasLeft }: CallState): boolean {
  return conflictKeys.length === 0 && !hasLeft && heldUntilMs === LATER_MS;
}

function copyLanes(lanes: Lanes<CallState>, twin: (call: CallState) => CallState): Lanes<CallState> {
  const queues = new Map(
    [...lanes.queues].map(([key, { entries, head }]) => [key, { entries: entries.map(twin), head }] as const),
  );
  return { queues, held: new Set([...lanes.held].map(twin)) };
}

const VALUES: readonly (readonly string[])[] = [
  ["barrierWaiting", "authorized", "laneWaiting"],
  ["running"],
  ["stopping"],
  // Nothing that schedules tells a success from a failure.
  ["succeeded", "failed"],
  ["uncertain"],
  ["blocked"],
  ["cancelled"],
];
const CODE_OF_VALUE = new Map<unknown, number>(
  VALUES.flatMap((values, code) => values.map((value) => [value, code] as const)),
);
const STANDINGS = ["none", "queued", "ready", "admitted", "launched"];
const STOPS: readonly unknown[] = [undefined, "timeout", "cancelled"];
const HOLDS: readonly unknown[] = [undefined, LATER_MS, NOW_MS];
const CODES = VALUES.length * STANDINGS.length * 2 * 2 * HOLDS.length * STOPS.length;

function codeOf(call: CallState): number {
  const value = CODE_OF_VALUE.get(call.row.value);
  if (value === undefined) throw new Error(`no call rests in ${JSON.stringify(call.row.value)}`);
  const { stopCause } = call.context as { readonly stopCause?: string };
  let code = value * STANDINGS.length + STANDINGS.indexOf(call.standing);
  code = code * 2 + (call.hasLeft ? 1 : 0);
  code = code * 2 + (call.hasExecutorEnded ? 1 : 0);
  code = code * HOLDS.length + HOLDS.indexOf(call.heldUntilMs);
  return code * STOPS.length + (call.row.isFinal ? 0 : STOPS.indexOf(stopCause));
}
