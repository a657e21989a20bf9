import type { Observable } from "rxjs";
import type { KernelEvent } from "../domain/event.ts";
import type { UserMessage } from "../domain/message.ts";
import type { QueueAnswer, RunOutcome } from "../domain/run.ts";
import type { EventHub, EventListener } from "../observe/event-hub.ts";
import type { GameAgentPerformanceSummary } from "../observe/performance-summary.ts";
import type { UncertaintyResolution } from "./resolve-uncertain.ts";

/** What a run came to, with its figures. */
export interface RunResult extends RunOutcome {
  readonly performance: GameAgentPerformanceSummary;
}

/**
 * A run of an Agent. Iterating gives every event from the first on, as for a batch; `runEnded` is the
 * last (RUN-4).
 */
export interface Run extends AsyncIterable<KernelEvent> {
  readonly runId: string;
  readonly events$: Observable<KernelEvent>;
  /** As of a batch. */
  subscribe(listener: EventListener): () => void;
  /** Says something at the next turn boundary, after the running batch's results (RUN-3). */
  steer(message: string | UserMessage): QueueAnswer;
  /** Says something when the loop would end (RUN-3). */
  followUp(message: string | UserMessage): QueueAnswer;
  /** Starts nothing more, gives running calls the grace, then ends the run; the reason is in its result. */
  abort(reason?: unknown): void;
  /** As of a session. */
  resolveUncertain(operationIdOrCallId: string, resolution: UncertaintyResolution): Promise<void>;
  /** The figures up to now (OBS-4). */
  performance(): GameAgentPerformanceSummary;
  /** Never rejects: misuse and faults are in its `error`. Need not be awaited. */
  readonly result: Promise<RunResult>;
}

/** What a run does when it is asked to, by whoever drives it. */
export interface RunControls {
  readonly runId: string;
  readonly enqueue: (queue: "steering" | "followUp", message: string | UserMessage) => QueueAnswer;
  readonly abort: (reason: unknown) => void;
  readonly resolveUncertain: Run["resolveUncertain"];
  readonly performance: () => GameAgentPerformanceSummary;
}

/** A run as its Agent holds it. */
export class RunHandle implements Run {
  readonly runId: string;
  readonly result: Promise<RunResult>;
  readonly #hub: EventHub;
  readonly #controls: RunControls;
  #resolve: (result: RunResult) => void = () => undefined;

  constructor(hub: EventHub, controls: RunControls) {
    this.#hub = hub;
    this.#controls = controls;
    this.runId = controls.runId;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get events$(): Observable<KernelEvent> {
    return this.#hub.events$;
  }

  subscribe(listener: EventListener): () => void {
    return this.#hub.subscribe(listener);
  }

  [Symbol.asyncIterator](): AsyncIterator<KernelEvent, void, undefined> {
    return this.#hub.iterate();
  }

  steer(message: string | UserMessage): QueueAnswer {
    return this.#controls.enqueue("steering", message);
  }

  followUp(message: string | UserMessage): QueueAnswer {
    return this.#controls.enqueue("followUp", message);
  }

  abort(reason?: unknown): void {
    this.#controls.abort(reason);
  }

  resolveUncertain(operationIdOrCallId: string, resolution: UncertaintyResolution): Promise<void> {
    return this.#controls.resolveUncertain(operationIdOrCallId, resolution);
  }

  performance(): GameAgentPerformanceSummary {
    return this.#controls.performance();
  }

  /** Ends the events, then gives the result. */
  end(outcome: RunOutcome): void {
    this.#hub.end();
    this.#resolve({ ...outcome, performance: this.#controls.performance() });
  }
}
