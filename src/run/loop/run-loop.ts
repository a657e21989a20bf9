/**
 * Drives a run by its chart.
 * Owns: the run's actor, its transcript, its queues, its turn, its abort. Does not own: how a batch runs
 * (run/run-batch), how a model is asked (run/request-model). Invariants: every tool call of the transcript
 * has one result, in order, however the run ends (RUN-5); what was accepted is delivered or given back
 * (RUN-3); `runEnded` comes last (RUN-4).
 */
import type { RunEmitted, RunEvent, runMachine } from "../../../machines/run.machine.ts";
import type { BatchResult } from "../../domain/batch.ts";
import type { RunStatus } from "../../domain/event.ts";
import type { Message, UserMessage } from "../../domain/message.ts";
import type { QueueAnswer, RunOutcome } from "../../domain/run.ts";
import type { BatchRun } from "../batch/run-batch.ts";
import { type ChartActor, moveBelow, startChart } from "../chart-actor.ts";
import { RUN_CHART } from "../charts.ts";
import type { SessionCore } from "../session-core.ts";
import { recordBegin, recordEnd } from "../store/run-records.ts";
import type { StoredBatch } from "../store/stored-run.ts";
import { askModel } from "./ask-model.ts";
import { closeTurn } from "./close-turn.ts";
import { executeTurn } from "./execute-turn.ts";
import { type PreparedTurn, prepareTurn, toTurnEvent } from "./prepare-turn.ts";
import { codeOf, outcomeOf } from "./run-outcome.ts";
import { type QueueName, RunQueues } from "./run-queues.ts";
import type { ResumeFacts, RunSettings } from "./run-settings.ts";
import { hearEarly, hearMessage } from "./said-messages.ts";
import { takeAnswer } from "./take-response.ts";
import { type ReadAssistant, Transcript } from "./transcript.ts";

/** See the file header. */
export class RunLoop {
  readonly core: SessionCore;
  readonly settings: RunSettings;
  transcript: Transcript;
  readonly queues: RunQueues;
  turn = 0;
  totalTokens = 0;
  abortReason: unknown;
  /** The response whose turn runs. */
  assistant: ReadAssistant | undefined;
  batch: BatchRun | undefined;
  batchResult: BatchResult | undefined;
  /** What came with `resume`, until the batch has taken it. */
  resumeFacts: ResumeFacts | undefined;
  /** The batch that an earlier process has left open, until it is taken up. */
  storedBatch: StoredBatch | undefined;
  error: Error | undefined;
  /** Told each time the run comes to an end, or waits for approvals. */
  onEnd: (outcome: RunOutcome) => void = () => undefined;
  #abort = new AbortController();
  #actor: ChartActor<typeof runMachine>;
  #prepared: PreparedTurn | undefined;
  #stopModel: ((reason: unknown) => void) | undefined;
  #isResumed = false;
  /** Before its first event, between its first and its last, after its last. */
  #stage: "opening" | "open" | "closed" = "opening";

  constructor(core: SessionCore, settings: RunSettings, messages: readonly Message[]) {
    this.core = core;
    this.settings = settings;
    this.transcript = new Transcript(messages);
    this.queues = new RunQueues(core.settings.limits.maxQueuedMessages);
    this.#actor = this.#startActor();
  }

  /** Whether it has begun, in this process, and not ended. */
  get isOpen(): boolean {
    return this.#stage === "open";
  }

  /** Fires when the run is aborted. */
  get cancellation(): AbortSignal {
    return this.#abort.signal;
  }

  /**
   * Begins with the prompt, or continues the batch whose approvals were open (APP-3). One task, so that
   * what listeners do meanwhile comes after it.
   */
  enter(type: "BEGIN" | "RESUME" | "CLOSE_TURN", prompt: readonly Message[]): void {
    this.core.mailbox.run(() => {
      this.#stage = "open";
      this.#tell({ type });
      if (this.cancellation.aborted) this.#tell({ type: "CANCEL" });
      this.core.events.emit(this.#isResumed ? "runResumed" : "runStarted", this.turn, {});
      if (!this.#isResumed) recordBegin(this, prompt);
      hearEarly(this);
      for (const message of prompt) this.append(message);
    });
  }

  /** Opens the run again: from here on it can be aborted and spoken to. */
  reopen(facts: ResumeFacts): void {
    this.resumeFacts = facts;
    this.#isResumed = true;
    this.#stage = "opening";
    this.#abort = new AbortController();
    this.#actor = this.#startActor();
    // The batch goes on, below the actor that its run has now.
    if (this.batch !== undefined) moveBelow(this.batch.actor, this.#actor);
    this.queues.open(facts.message);
  }

  /** Takes up what an earlier process has left, once that is restored (RUN-6). */
  takeUp(facts: ResumeFacts): void {
    this.resumeFacts = facts;
    this.#isResumed = true;
  }

  /** Gives the result of a run that has ended before; what was said to it meanwhile comes back with it (RUN-3). */
  endAgain(outcome: RunOutcome): void {
    this.#stage = "closed";
    this.queues.close();
    this.onEnd({ ...outcome, undelivered: [...outcome.undelivered, ...this.queues.takeAll()] });
  }

  /** Steps can no longer be recorded: nothing more is dispatched, and the run ends (CAN-5). */
  loseStore(error: Error): void {
    this.error ??= error;
    this.#tell({ type: "FAULTED" });
  }

  /** Ends the run as soon as every running call has its result (CAN-1). The first reason counts. */
  abort(reason: unknown): void {
    if (this.#stage === "closed" || this.cancellation.aborted) return;
    this.abortReason = reason;
    this.#abort.abort(reason);
    if (this.#stage !== "open") return;
    // At once, so that a call that has been let in already is not dispatched any more.
    this.batch?.cancel(reason);
    this.#tell({ type: "CANCEL" });
  }

  /** Ends the run as it stands, since an invariant was broken; nothing more is started. */
  breakOff(error: Error): void {
    this.error = error;
    this.#finish("kernelError", undefined);
    this.#stopModel?.(error);
    this.batch?.cancel(error);
  }

  /** Accepts a message for the next turn boundary, or for when the loop would end (RUN-3). */
  enqueue(queue: QueueName, message: UserMessage): QueueAnswer {
    return hearMessage(this, { queue, message });
  }

  /** Adds a message to the transcript and tells of it. */
  append(message: Message): void {
    this.transcript.append(message);
    this.core.events.emit("messageEnded", this.turn, { message });
  }

  #startActor(): ChartActor<typeof runMachine> {
    const { settings, mailbox } = this.core;
    const actor = startChart(RUN_CHART, {
      interpreter: settings.interpreter,
      id: `run:${settings.runId}`,
      input: { runId: settings.runId },
      inspect: settings.inspect,
      driver: {
        perform: (emitted) => mailbox.run(() => this.#perform(emitted)),
        fault: (error) => this.core.fault(error),
      },
    });
    this.core.root = actor;
    return actor;
  }

  #tell(event: RunEvent): void {
    this.core.mailbox.send(this.#actor, event);
  }

  #perform(emitted: RunEmitted): void {
    if (this.#stage === "closed") return;
    switch (emitted.type) {
      case "prepareTurn":
        prepareTurn(this, (prepared) => {
          if (prepared.kind === "ready") this.#prepared = prepared;
          if (prepared.kind === "faulted") this.error = prepared.error;
          this.#tell(toTurnEvent(prepared));
        });
        break;
      case "requestModel":
        this.#stopModel = askModel(this, this.#prepared, (answer) =>
          takeAnswer(this, answer, (event) => this.#tell(event)),
        );
        break;
      case "stopModel":
        this.#stopModel?.(this.abortReason);
        break;
      case "executeBatch":
        executeTurn(this, this.#prepared?.tools ?? this.settings.tools, (event) => this.#tell(event));
        break;
      case "haltBatch":
        this.batch?.halt();
        break;
      case "cancelBatch":
        this.batch?.cancel(this.abortReason);
        break;
      case "closeTurn":
        closeTurn(this, (closed) => {
          if (closed.type === "FAULTED") this.error = closed.error;
          this.#tell(closed);
        });
        break;
      case "deliverSteering":
        this.queues.makeDue("steering");
        break;
      case "deliverFollowUps":
        this.queues.makeDue("followUp");
        break;
      case "settled": {
        const { value, context } = this.#actor.getSnapshot();
        // Behind everything that was told before: `runEnded` is the last event. Final states are the statuses.
        this.core.mailbox.run(() => this.#finish(value as RunStatus, context.endedBy));
        break;
      }
    }
  }

  #finish(status: RunStatus, cause: string | undefined): void {
    if (this.#stage === "closed") return;
    this.#stage = "closed";
    this.queues.close();
    const outcome = outcomeOf(this, status, cause);
    const recorded = recordEnd(this, outcome);
    if (recorded === undefined) this.#tellEnd(outcome);
    else recorded.then((known) => this.#tellEnd(known)).catch((error: unknown) => this.core.fault(error));
  }

  #tellEnd(outcome: RunOutcome): void {
    const { status, endedBy, error } = outcome;
    try {
      if (status === "kernelError") this.core.events.emit("runFaulted", this.turn, { code: codeOf(error) });
      this.core.events.emit("runEnded", this.turn, { status, ...(endedBy !== undefined && { endedBy }) });
    } finally {
      // Whatever becomes of the events, such as on a clock that fails: nobody waits for ever.
      this.onEnd(outcome);
    }
  }
}
