/**
 * Drives the calls of one model response by the batch chart.
 * Owns: the batch's actor, its calls, its epochs, its cancellation, its result. Does not own: what it
 * leaves for later batches (the session core). Invariants: nothing is dispatched before every call is
 * prepared and decided (PREP-1, APP-1); every call has one result, in source order, when the batch ends
 * (CAN-4, EPOCH-6).
 */
import type { BatchEmitted, batchMachine } from "../../../machines/batch.machine.ts";
import type { ApprovalDecisions } from "../../domain/approval.ts";
import type { BatchResult } from "../../domain/batch.ts";
import type { SettledCall, StopReason, ToolCall } from "../../domain/call.ts";
import { judgeResponse, type ResponseRefusal } from "../../plan/judge-response.ts";
import { refuse } from "../../prepare/refuse.ts";
import type { ToolRegistry } from "../../prepare/register-tools.ts";
import { describeUncertainty } from "../call/call-settled.ts";
import { CallRun } from "../call/run-call.ts";
import { type ChartActor, startChart } from "../chart-actor.ts";
import { BATCH_CHART } from "../charts.ts";
import { FACTS } from "../facts.ts";
import type { SessionCore } from "../session-core.ts";
import { restoreCalls } from "../store/restore-batch.ts";
import { isBegun, type StoredBatch } from "../store/stored-run.ts";
import { BatchApprovals } from "./batch-approvals.ts";
import { checkRepeats, type RepeatCheck, UNCHECKED, uncountCancelled } from "./check-repeats.ts";
import { batchEnd, closeBatch } from "./close-batch.ts";
import { type PlannedEpoch, planBatch } from "./plan-batch.ts";
import { prepareCalls, refuseCall } from "./prepare-batch.ts";
import { type EpochOwner, EpochRun } from "./run-epoch.ts";

/** The response a batch runs. */
export interface BatchResponse {
  /** With ids that are distinct. */
  readonly calls: readonly ToolCall[];
  /** Whether the ids that the response came with were not (PREP-9). */
  readonly hasDuplicateIds: boolean;
  readonly stopReason: StopReason;
  readonly turn: number;
  /** What an earlier process did of it, if one did (RUN-6). */
  readonly stored?: StoredBatch | undefined;
}

/** See the file header. */
export class BatchRun implements EpochOwner {
  readonly core: SessionCore;
  readonly turn: number;
  readonly tools: ToolRegistry;
  readonly response: BatchResponse;
  readonly actor: ChartActor<typeof batchMachine>;
  readonly calls: readonly CallRun[];
  readonly approvals: BatchApprovals;
  readonly #cancellation = new AbortController();
  isCancelled = false;
  readonly #onResult: (result: BatchResult) => void;
  #refusal: ResponseRefusal | undefined;
  #repeats: RepeatCheck = UNCHECKED;
  #plan: readonly PlannedEpoch[] = [];
  #epochRun: EpochRun | undefined;
  #settledCount = 0;
  #isEnding = false;

  /**
   * Starts a batch. `onResult` is told each time it comes to a stop: while approvals are open, and at its
   * end. Must be called as a task of the session's mailbox: the chart asks for its first effect while it
   * starts, before there are calls, and that has to wait in the queue.
   */
  constructor(core: SessionCore, response: BatchResponse, onResult: (result: BatchResult) => void) {
    this.core = core;
    this.turn = response.turn;
    this.tools = core.tools;
    this.response = response;
    this.#onResult = onResult;
    this.approvals = new BatchApprovals(this);
    this.actor = startChart(BATCH_CHART, {
      interpreter: core.settings.interpreter,
      id: `batch:${this.turn}`,
      input: { turn: this.turn, calls: response.calls.length },
      // Below a run the run's actor is the root that is inspected.
      ...(core.root === undefined ? { inspect: core.settings.inspect } : { parent: core.root }),
      driver: {
        perform: (emitted) => core.mailbox.run(() => this.#perform(emitted)),
        fault: (error) => core.fault(error),
      },
    });
    this.calls = response.calls.map((call, index) => new CallRun(this, call, index));
  }

  /** Fires when the batch is cancelled. */
  get cancellation(): AbortSignal {
    return this.#cancellation.signal;
  }

  get isStopping(): boolean {
    return this.isCancelled || this.core.recorder?.lost !== undefined;
  }

  /** Steps can no longer be recorded: running calls end by themselves, nothing more is dispatched (CAN-5). */
  halt(): void {
    // Before the first epoch nothing runs, and whoever is asked is told that nobody waits for the answer.
    if (this.#epochRun === undefined) this.#fireCancellation(undefined);
    this.core.mailbox.send(this.actor, { type: "STORE_LOST" });
  }

  /** Starts nothing more; running calls get the grace, all others settle as cancelled (CAN-1, PREP-12). */
  cancel(reason: unknown): void {
    if (this.isCancelled) return;
    this.#fireCancellation(reason);
    this.core.mailbox.send(this.actor, { type: "CANCEL" });
  }

  /** Answers open approvals; with `blockOthers` what is then undecided is refused (APP-2). */
  decide(decisions: ApprovalDecisions, blockOthers: boolean): void {
    const decided = this.approvals.decide(decisions, blockOthers);
    this.core.recorder?.note({ kind: "decided", turn: this.turn, decisions: decided });
    this.core.mailbox.send(this.actor, { type: "DECIDED", undecided: this.approvals.open.length });
  }

  onUncertain(call: CallRun): void {
    this.core.uncertain.push(describeUncertainty(call, this));
  }

  onCallSettled(call: CallRun): void {
    this.#settledCount += 1;
    call.epochRun?.onCallSettled(call);
    if (this.#isEnding) this.#end();
  }

  onEpochSettled(): void {
    this.core.mailbox.send(this.actor, { type: "EPOCH_SETTLED" });
  }

  #perform(emitted: BatchEmitted): void {
    switch (emitted.type) {
      case "prepareCalls":
        this.#prepare();
        break;
      case "refuseCalls":
        this.#refuseCalls();
        break;
      case "askApprovals":
        this.#onResult({ messages: [], settled: [], closed: false, approvals: this.approvals.open });
        break;
      case "checkRepeats":
        this.#repeats = checkRepeats(this.core, this.calls, this.response.stored);
        this.core.mailbox.send(this.actor, { type: "CHECKED" });
        break;
      case "planEpochs":
        this.#planEpochs();
        break;
      case "startEpoch":
        this.#startEpoch(emitted.epoch);
        break;
      case "haltEpoch":
        this.#epochRun?.halt();
        break;
      case "cancelEpoch":
        this.#epochRun?.cancel();
        break;
      case "cancelCalls":
        for (const call of this.calls) call.tell(FACTS.CANCEL);
        // Behind the calls that have just been told, none of which has anything to wait for.
        this.core.mailbox.send(this.actor, { type: "CALLS_SETTLED" });
        break;
      case "settled":
        this.#end();
        break;
    }
  }

  #fireCancellation(reason: unknown): void {
    this.isCancelled = true;
    this.#cancellation.abort(reason);
  }

  #prepare(): void {
    const earlierToolCalls = this.core.toolCalls;
    const { stored } = this.response;
    // What was prepared has been judged, by the limits of then.
    if (stored?.preparations === undefined)
      this.#refusal = judgeResponse({ ...this.response, earlierToolCalls }, this.core.settings.limits);
    if (this.#refusal !== undefined) {
      this.core.mailbox.send(this.actor, { type: "REFUSE" });
      return;
    }
    this.core.toolCalls += this.calls.length;
    if (stored !== undefined && isBegun(stored)) {
      this.#settledCount = restoreCalls(this, stored);
      // Calls that settled and were never prepared were cancelled while they were.
      if (stored.preparations === undefined) this.core.mailbox.send(this.actor, { type: "CANCEL" });
      else this.core.mailbox.send(this.actor, { type: "PREPARED", undecided: this.approvals.restore(stored) });
      return;
    }
    // A task of its own, so that each call's chart keeps step with its preparation.
    Promise.resolve()
      .then(() => prepareCalls(this, this.calls))
      .then(() => (this.isCancelled ? 0 : this.approvals.ask()))
      .then(
        (undecided) => this.core.mailbox.send(this.actor, { type: "PREPARED", undecided }),
        (error: unknown) => this.core.fault(error),
      );
  }

  #refuseCalls(): void {
    if (this.response.stored !== undefined) this.#settledCount = restoreCalls(this, this.response.stored);
    for (const call of this.calls) {
      if (call.settled !== undefined) continue;
      const reason = this.#refusal?.reason ?? "not_executed";
      refuseCall(call, refuse(this.#refusal?.failureCategory ?? "internal", reason, {}));
      call.tell(FACTS.CHECKED);
    }
    this.core.mailbox.send(this.actor, { type: "CALLS_SETTLED" });
  }

  #planEpochs(): void {
    this.#plan = planBatch(this);
    for (const { calls } of this.#plan) for (const call of calls) call.tell(FACTS.PLANNED);
    this.core.mailbox.send(this.actor, { type: "PLANNED", epochs: this.#plan.length });
  }

  #startEpoch(index: number): void {
    const planned = this.#plan[index];
    if (planned === undefined) throw new Error("an epoch was started that was not planned");
    this.#epochRun = new EpochRun(this, planned.epoch, planned.calls);
    this.#epochRun.start();
  }

  #end(): void {
    // A result that is still being recorded is told when it is (RUN-6).
    this.#isEnding = true;
    if (this.#settledCount < this.calls.length) return;
    const settled: SettledCall[] = [];
    for (const call of this.calls) if (call.settled !== undefined) settled.push(call.settled);
    if (settled.length < this.calls.length) this.core.fault(new Error("a call of the batch has no result"));
    if (this.isCancelled && this.#repeats !== UNCHECKED) uncountCancelled(this.core, this.calls, this.#repeats);
    const isProjectionFailed = this.calls.some((call) => call.isProjectionFailed);
    const result = closeBatch(settled, { repeats: this.#repeats, refusal: this.#refusal, isProjectionFailed });
    this.core.recorder?.note(batchEnd(this.turn, result));
    this.#onResult(result);
  }
}
