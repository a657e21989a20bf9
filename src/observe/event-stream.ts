/**
 * The events of a run, from the drivers to whoever listens now.
 * Owns: the sequence numbers, which hub is told. Does not own: the hubs. Invariants: every event is
 * stamped once and traced once, in order; between batches it is only traced (RUN-4); a telemetry sink
 * that throws changes nothing.
 */
import type { EventPort, KernelEvent, KernelEventKind, KernelEventMap } from "../domain/event.ts";
import type { Clock, Telemetry, TraceRecord } from "../domain/ports.ts";
import { audienceOf, traceOf } from "./event-facts.ts";
import { EventHub } from "./event-hub.ts";

/** What a stream is made with. */
export interface EventStreamOptions {
  readonly runId: string;
  readonly clock: Clock;
  readonly telemetry: Telemetry | undefined;
}

/** See the file header. */
export class EventStream implements EventPort {
  readonly #options: EventStreamOptions;
  #hub: EventHub | undefined;
  #seq = 0;

  constructor(options: EventStreamOptions) {
    this.#options = options;
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
    const { runId, clock, telemetry } = this.#options;
    if (this.#hub === undefined && telemetry === undefined) return;
    const base = { seq: this.#seq++, timeMs: clock.now(), runId, turn, audience: audienceOf(kind) };
    // A kind and the fields of that kind make an event of it; the union cannot be seen through a type parameter.
    const event = { kind, ...base, ...fields } as unknown as KernelEvent;
    this.#hub?.emit(event);
    if (telemetry !== undefined) this.#record(traceOf(event));
  }

  /** A listener that threw is reported once (OBS-1); it has been dropped. Its error's text stays out. */
  #traceFault(error: unknown): void {
    const { runId, clock } = this.#options;
    const name = error instanceof Error ? error.name : typeof error;
    this.#record({ name: "kernel.listenerdropped", timeMs: clock.now(), runId, attributes: { error: name } });
  }

  #record(traceRecord: TraceRecord): void {
    try {
      this.#options.telemetry?.record(traceRecord);
    } catch {
      // The sink's own affair.
    }
  }
}
