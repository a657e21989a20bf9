/**
 * Drives a run by its chart.
 * Owns: the run's actor, its transcript, its queues, its turn, its abort. Does not own: how a batch runs
 * (run/run-batch), how a model is asked (run/request-model). Invariants: every tool call of the transcript
 * has one result, in order, however the run ends (RUN-5); what was accepted is delivered or given back
 * (RUN-3); `runEnded` comes last (RUN-4).
 */
import type { RunEmitted, RunEvent, runMachine } from "../../machines/run.machine.ts";
import type { BatchResult } from "../domain/batch.ts";
import type { RunStatus } from "../domain/event.ts";
import type { Message, UserMessage } from "../domain/message.ts";
import type { QueueAnswer, RunOutcome } from "../domain/run.ts";
import { NO_REPEATS } from "../repeat/repeat-tracker.ts";
import { askModel } from "./ask-model.ts";
import { type ChartActor, startChart } from "./chart-actor.ts";
import { RUN_CHART } from "./charts.ts";
import { closeTurn } from "./close-turn.ts";
import { MessageQueue } from "./message-queue.ts";
import { type PreparedTurn, prepareTurn, type TurnPrepared } from "./prepare-turn.ts";
import type { ModelAnswer } from "./request-model.ts";
import { BatchRun } from "./run-batch.ts";
import { codeOf, outcomeOf } from "./run-outcome.ts";
import type { ResumeFacts, RunSettings } from "./run-settings.ts";
import type { SessionCore } from "./session-core.ts";
import { takeResponse } from "./take-response.ts";
import { type ReadAssistant, Transcript } from "./transcript.ts";

/** See the file header. */
export class RunLoop {
  readonly core: SessionCore;
  readonly settings: RunSettings;
  readonly transcript: Transcript;
  readonly steering: MessageQueue;
  readonly followUps: MessageQueue;
  turn = 0;
  totalTokens = 0;
  abortReason: unknown;
  /** The response whose turn runs. */
  assistant: ReadAssistant | undefined;
  batch: BatchRun | undefined;
  batchResult: BatchResult | undefined;
  error: Error | undefined;
  /** Told each time the run comes to an end, or waits for approvals. */
  onEnd: (outcome: RunOutcome) => void = () => undefined;
  #abort = new AbortController();
  #actor: ChartActor<typeof runMachine>;
  #prepared: PreparedTurn | undefined;
  #stopModel: ((reason: unknown) => void) | undefined;
  #resume: ResumeFacts | undefined;
  #hasBegun = false;
  #hasEnded = false;
  /** Queues of messages accepted before `runStarted`, which comes first. */
  readonly #queuedEarly: ("steering" | "followUp")[] = [];

  constructor(core: SessionCore, settings: RunSettings, messages: readonly Message[]) {
    this.core = core;
    this.settings = settings;
    this.transcript = new Transcript(messages);
    this.steering = new MessageQueue(core.settings.limits.maxQueuedMessages);
    this.followUps = new MessageQueue(core.settings.limits.maxQueuedMessages);
    this.#actor = this.#startActor();
  }

  /** Fires when the run is aborted. */
  get cancellation(): AbortSignal {
    return this.#abort.signal;
  }

  /** Begins with the prompt. */
  begin(prompt: readonly Message[]): void {
    this.#hasBegun = true;
    this.core.events.emit("runStarted", 0, {});
    for (const queue of this.#queuedEarly) this.core.events.emit("messageQueued", 0, { queue });
    for (const message of prompt) this.append(message);
    this.#tell({ type: "BEGIN" });
  }

  /** Goes on with the batch whose approvals were open (APP-3). */
  resume(facts: ResumeFacts): void {
    this.#resume = facts;
    this.#abort = new AbortController();
    this.#actor = this.#startActor();
    this.core.events.emit("runResumed", this.turn, {});
    this.#tell({ type: "RESUME" });
  }

  /** Ends the run as soon as every running call has its result (CAN-1). The first reason counts. */
  abort(reason: unknown): void {
    if (this.#abort.signal.aborted) return;
    this.abortReason = reason;
    this.#abort.abort(reason);
    this.#tell({ type: "CANCEL" });
  }

  /** Ends the run as it stands, since an invariant was broken. */
  breakOff(error: Error): void {
    this.error = error;
    this.#finish("kernelError", undefined);
  }

  /** Accepts a message for the next turn boundary, or for when the loop would end (RUN-3). */
  enqueue(queue: "steering" | "followUp", message: UserMessage): QueueAnswer {
    const answer = (queue === "steering" ? this.steering : this.followUps).accept(message);
    if (!answer.accepted) return answer;
    if (this.#hasBegun) this.core.events.emit("messageQueued", this.turn, { queue });
    else this.#queuedEarly.push(queue);
    return answer;
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
      onEmitted: (emitted) => mailbox.run(() => this.#perform(emitted)),
      onFault: (error) => this.core.fault(error),
    });
    this.core.root = actor;
    return actor;
  }

  #tell(event: RunEvent): void {
    this.core.mailbox.send(this.#actor, event);
  }

  #perform(emitted: RunEmitted): void {
    switch (emitted.type) {
      case "prepareTurn":
        prepareTurn(this, (prepared) => {
          if (prepared.kind === "ready") this.#prepared = prepared;
          if (prepared.kind === "faulted") this.error = prepared.error;
          this.#tell(toTurnEvent(prepared));
        });
        break;
      case "requestModel":
        this.#stopModel = askModel(this, this.#prepared, (answer) => this.#onAnswer(answer));
        break;
      case "stopModel":
        this.#stopModel?.(this.abortReason);
        break;
      case "executeBatch":
        this.#executeBatch();
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
        this.#deliver(this.steering);
        break;
      case "deliverFollowUps":
        this.#deliver(this.followUps);
        break;
      case "settled":
        // Behind everything that was told before: `runEnded` is the last event.
        this.core.mailbox.run(() => this.#end());
        break;
    }
  }

  #onAnswer(answer: ModelAnswer): void {
    if (answer.kind === "responded") {
      this.batchResult = undefined;
      this.batch = undefined;
      this.assistant = takeResponse(this, answer.response);
      this.#tell({ type: "RESPONDED", hasCalls: this.assistant.calls.length > 0 });
      return;
    }
    this.error = answer.error;
    this.#tell({ type: "MODEL_FAILED", endedBy: answer.endedBy });
  }

  #executeBatch(): void {
    const resumed = this.#resume;
    this.#resume = undefined;
    if (resumed !== undefined && this.batch !== undefined) {
      if (resumed.message !== undefined) this.steering.accept(resumed.message);
      this.batch.decide(resumed.approvals, resumed.blockOthers || resumed.message !== undefined);
      return;
    }
    const { assistant, turn } = this;
    if (assistant === undefined || this.#prepared === undefined)
      throw new Error("a batch was to run without a response");
    this.core.tools = this.#prepared.tools;
    const { calls, hasDuplicateIds, message } = assistant;
    const response = { calls, hasDuplicateIds, stopReason: message.stopReason, turn };
    this.batch = new BatchRun(this.core, response, (result) => this.#onBatch(result));
  }

  #onBatch(result: BatchResult): void {
    if (result.approvals !== undefined) {
      // Steering that came before the question is an answer to it: everything undecided is refused (APP-4).
      if (this.steering.isEmpty) this.#tell({ type: "APPROVALS_ASKED" });
      else this.batch?.decide({}, true);
      return;
    }
    this.batchResult = result;
    for (const message of result.messages) this.append(message);
    this.#tell({ type: "BATCH_SETTLED" });
  }

  #deliver(queue: MessageQueue): void {
    this.core.repeats = NO_REPEATS;
    for (const message of queue.take()) this.append(message);
  }

  #end(): void {
    const { value, context } = this.#actor.getSnapshot();
    this.#finish(value as RunStatus, context.endedBy); // the chart's final states are the statuses
  }

  #finish(status: RunStatus, cause: string | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = status !== "awaitingApproval";
    if (this.#hasEnded) {
      this.steering.end();
      this.followUps.end();
    }
    const outcome = outcomeOf(this, status, cause);
    if (status === "kernelError") this.core.events.emit("runFaulted", this.turn, { code: codeOf(this.error) });
    this.core.events.emit("runEnded", this.turn, { status, ...(cause !== undefined && { endedBy: cause }) });
    this.onEnd(outcome);
  }
}

function toTurnEvent(prepared: TurnPrepared): RunEvent {
  if (prepared.kind === "ready") return { type: "READY" };
  return prepared.kind === "limit" ? { type: "LIMIT_REACHED", limit: prepared.limit } : { type: "FAULTED" };
}
