/**
 * The figures of one run, counted event by event.
 * Owns: the counts, what is open now (the run, its model request, calls, executors, a question to a
 * person), the waits of the batch that runs. Does not own: the events. Invariants (OBS-4): the time
 * between two events is given once to each thing that was open then, so parallel time is not summed
 * twice; waits are measured when their batch ends, so nothing grows with the batches behind it.
 */
import { CallPhases } from "./call-phases.ts";
import { IntervalSet } from "./interval-set.ts";
import { emptySummary, type GameAgentPerformanceSummary, type SummaryDraft } from "./performance-summary.ts";
import type { RecordedEvent } from "./recorded-event.ts";

/** See the file header. */
export class PerformanceTally {
  readonly #figures: SummaryDraft = emptySummary();
  readonly #calls = new CallPhases();
  readonly #queueWaits = new IntervalSet();
  readonly #keyWaits = new IntervalSet();
  readonly #barrierWaits = new IntervalSet();
  readonly #approvalWaits = new IntervalSet();
  readonly #durableWork = new IntervalSet();
  #isRunOpen = false;
  #isModelOpen = false;
  #askedAtMs: number | undefined;
  #lastMs: number | undefined;
  #turn: number | undefined;

  /** Counts an event, live or recorded; events come in the order of their sequence numbers. */
  add(event: RecordedEvent): void {
    this.#advance(event);
    switch (event.kind) {
      case "runStarted":
        this.#isRunOpen = true;
        break;
      case "runResumed":
        this.#isRunOpen = true;
        // Whatever ran before the process ended runs no more.
        this.#isModelOpen = false;
        this.#calls.stopAll();
        break;
      case "turnStarted":
        this.#enterTurn(event.turn);
        break;
      case "modelRequestStarted":
        this.#figures.modelRequests += 1;
        this.#isModelOpen = true;
        break;
      case "messageEnded":
        if (event.message.role === "assistant") this.#isModelOpen = false;
        break;
      case "turnEnded":
        this.#isModelOpen = false;
        break;
      case "runEnded":
        this.#isRunOpen = false;
        this.#isModelOpen = false;
        if (event.status !== "awaitingApproval") this.#closeBatch();
        break;
      case "epochStarted":
        this.#closeQuestion(event.timeMs);
        break;
      case "toolLateSettled":
        this.#figures.lateSettlements += 1;
        break;
      case "toolUncertaintyResolved":
        this.#figures.uncertaintiesResolved += 1;
        break;
      case "toolStarted":
      case "toolRefused":
      case "toolDispatched":
      case "approvalRequested":
      case "toolRepeatDetected":
      case "toolEnded":
        this.#addCallEvent(event);
        break;
      default:
    }
  }

  /** The figures as of the last event; what is open then counts up to it. */
  summary(): GameAgentPerformanceSummary {
    const { outcomes, failuresByCategory, times } = this.#figures;
    const summary = { ...this.#figures, outcomes: { ...outcomes }, failuresByCategory: { ...failuresByCategory } };
    return { ...summary, times: this.#addWaits({ ...times }) };
  }

  /** Gives the time since the last event to all that was open during it. */
  #advance({ kind, timeMs }: RecordedEvent): void {
    if (this.#lastMs === undefined) this.#figures.runs = 1;
    const elapsedMs = timeMs - (this.#lastMs ?? timeMs);
    this.#lastMs = timeMs;
    // A clock that was set back gives no time, rather than a negative one.
    if (elapsedMs <= 0 || !(this.#isRunOpen || this.#calls.open > 0)) return;
    const isAsking = this.#askedAtMs !== undefined;
    // Nobody worked while the process was gone; a person may have been thinking.
    if (kind === "runResumed" && !isAsking) return;
    const { times } = this.#figures;
    const isRunning = this.#calls.running > 0;
    times.totalMs += elapsedMs;
    if (this.#isModelOpen) times.modelMs += elapsedMs;
    if (isAsking) times.approvalMs += elapsedMs;
    if (isRunning) times.toolMs += elapsedMs;
    if (!(this.#isModelOpen || isAsking || isRunning)) times.frameworkMs += elapsedMs;
  }

  #addCallEvent(event: RecordedEvent<CallKind>): void {
    this.#isModelOpen = false;
    this.#enterTurn(event.turn);
    this.#calls.begin(event.callIndex);
    switch (event.kind) {
      case "approvalRequested":
        this.#askedAtMs ??= event.timeMs;
        break;
      case "toolRepeatDetected":
        this.#closeQuestion(event.timeMs);
        if (event.action === "advisory") this.#figures.exactRepeatAdvisories += 1;
        else this.#figures.exactRepeatTerminations += 1;
        break;
      case "toolDispatched":
        this.#addDispatch(event);
        break;
      case "toolEnded":
        this.#closeQuestion(event.timeMs);
        this.#addEnd(event);
        break;
      default:
    }
  }

  /** Reads the three waits backwards from the dispatch: the slot last, before it the keys, first the epoch. */
  #addDispatch(event: RecordedEvent<"toolDispatched">): void {
    const headedAtMs = event.timeMs - event.queueMs;
    const epochStartedAtMs = headedAtMs - event.keyMs;
    this.#queueWaits.add(headedAtMs, event.timeMs);
    this.#keyWaits.add(epochStartedAtMs, headedAtMs);
    this.#barrierWaits.add(epochStartedAtMs - event.barrierMs, epochStartedAtMs);
    this.#calls.run(event.callIndex);
    if (event.isWrite) this.#figures.worldWrites += 1;
  }

  #addEnd(event: RecordedEvent<"toolEnded">): void {
    const { outcome, failureCategory, action, timeMs } = event;
    const figures = this.#figures;
    const wasDispatched = this.#calls.end(event.callIndex) === "running";
    figures.toolCalls += 1;
    figures.outcomes[outcome] += 1;
    if (outcome !== "succeeded") figures.failuresByCategory[failureCategory ?? "unspecified"] += 1;
    if (event.outcomeUncertain) figures.uncertainWrites += 1;
    if (action !== undefined) {
      if (action.duplicateExecutionPrevented) figures.duplicatesPrevented += 1;
      if (action.recovered) figures.recoveries += 1;
      if (wasDispatched && event.isWrite && action.disposition !== "executed") figures.worldWrites -= 1;
      const startedAtMs = timeMs - (event.durationMs ?? action.hostMs + action.frameworkMs);
      this.#durableWork.add(startedAtMs, Math.min(startedAtMs + action.frameworkMs, timeMs));
    }
    if (this.#calls.open === 0) this.#closeBatch();
  }

  #closeQuestion(nowMs: number): void {
    if (this.#askedAtMs === undefined) return;
    this.#approvalWaits.add(this.#askedAtMs, nowMs);
    this.#askedAtMs = undefined;
  }

  #enterTurn(turn: number): void {
    if (turn === this.#turn) return;
    this.#turn = turn;
    this.#figures.turns += 1;
    if (this.#calls.open > 0) this.#closeBatch();
  }

  /** Measures what the batch waited for and forgets it; a batch that was dropped midway ends here too. */
  #closeBatch(): void {
    this.#addWaits(this.#figures.times);
    for (const waits of [this.#queueWaits, this.#keyWaits, this.#barrierWaits]) waits.clear();
    this.#approvalWaits.clear();
    this.#durableWork.clear();
    this.#calls.clear();
    this.#askedAtMs = undefined;
  }

  #addWaits(times: SummaryDraft["times"]): SummaryDraft["times"] {
    times.queueMs += this.#queueWaits.lengthMs();
    times.keyMs += this.#keyWaits.lengthMs();
    times.barrierMs += this.#barrierWaits.lengthOutsideMs(this.#approvalWaits);
    times.durableFrameworkMs += this.#durableWork.lengthMs();
    return times;
  }
}

type CallKind =
  | "toolStarted"
  | "toolRefused"
  | "toolDispatched"
  | "approvalRequested"
  | "toolRepeatDetected"
  | "toolEnded";
