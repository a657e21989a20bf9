/**
 * The events of a run, from the drivers to whoever listens now.
 * Owns: the sequence numbers, which hub is told, the run's figures. Does not own: the hubs. Invariants:
 * every event is stamped once, counted once and traced once, in order, whether or not anybody listens;
 * between batches it is only traced (RUN-4); a telemetry sink that throws changes nothing.
 */
import type {
  CallEventFields,
  CallEventKind,
  CallPlace,
  EventPort,
  KernelEvent,
  KernelEventKind,
  KernelEventMap,
} from "../domain/event.ts";
import type { Clock, Telemetry, TraceRecord } from "../domain/ports.ts";
import { ignoreRejection } from "../domain/promise-like.ts";
import { audienceOf } from "./audience.ts";
import { makeCallEvent } from "./call-event.ts";
import { EventHub } from "./event-hub.ts";
import { LaneNumbers } from "./lane-numbers.ts";
import type { GameAgentPerformanceSummary } from "./performance-summary.ts";
import { PerformanceTally } from "./performance-tally.ts";
import { type TraceOptions, traceEvent } from "./trace-event.ts";

/** What a stream is made with. */
export interface EventStreamOptions {
  readonly runId: string;
  readonly clock: Clock;
  readonly telemetry: Telemetry | undefined;
}

const MAX_NAME_CHARACTERS = 128;

/** See the file header. */
export class EventStream implements EventPort {
  readonly #options: EventStreamOptions;
  readonly #tally = new PerformanceTally();
  readonly #tracing: TraceOptions;
  #hub: EventHub | undefined;
  #seq = 0;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    const wantsConflictKeys = options.telemetry?.wantsConflictKeys === true;
    this.#tracing = { lanes: new LaneNumbers(), wantsConflictKeys };
  }

  /** The figures of the run as of its last event (OBS-4). */
  performance(): GameAgentPerformanceSummary {
    return this.#tally.summary();
  }

  /** Makes a hub whose faults are traced; events go there from {@link EventStream.direct} on. */
  createHub(): EventHub {
    return new EventHub((error) => this.#traceFault(error));
  }

  /** Sends events to a hub from now on; `undefined`: to telemetry only. */
  direct(hub: EventHub | undefined): void {
    this.#hub = hub;
  }

  emit<Kind extends KernelEventKind>(kind: Kind, turn: number, fields: KernelEventMap[Kind]): void {
    const { runId, clock } = this.#options;
    const base = { kind, seq: this.#seq++, timeMs: clock.now(), runId, turn, audience: audienceOf(kind, fields) };
    this.#publish(Object.assign(base, fields));
  }

  emitCall<Kind extends CallEventKind>(kind: Kind, call: CallPlace, fields: CallEventFields<Kind>): void {
    const { runId, clock } = this.#options;
    this.#publish(makeCallEvent(kind, { seq: this.#seq++, timeMs: clock.now(), runId, call }, fields));
  }

  traceDroppedProgress({ turn, callId, callIndex, toolName, operationId }: CallPlace, dropped: number): void {
    const { runId, clock } = this.#options;
    const attributes = { turn, callId, callIndex, toolName, operationId, dropped };
    this.#record(() => ({ name: "kernel.progressdropped", timeMs: clock.now(), runId, attributes }));
  }

  #publish(made: object): void {
    // A kind and the fields of that kind make an event of it; the union cannot be seen through a type parameter.
    const event = made as KernelEvent;
    this.#tally.add(event);
    this.#hub?.emit(event);
    if (this.#options.telemetry !== undefined) this.#record(() => traceEvent(event, this.#tracing));
  }

  /** A listener that threw is reported once (OBS-1); it has been dropped. Its error's text stays out. */
  #traceFault(error: unknown): void {
    const { runId, clock } = this.#options;
    const attributes = { error: kindOfError(error) };
    this.#record(() => ({ name: "kernel.listenerdropped", timeMs: clock.now(), runId, attributes }));
  }

  #record(makeRecord: () => TraceRecord): void {
    try {
      ignoreRejection(this.#options.telemetry?.record(makeRecord()));
    } catch {
      // The sink's own affair.
    }
  }
}

/** The class of an error, never its text; reading it never throws. */
function kindOfError(error: unknown): string {
  try {
    return error instanceof Error ? String(error.name).slice(0, MAX_NAME_CHARACTERS) : typeof error;
  } catch {
    return "unknown";
  }
}
