import type { Observable } from "rxjs";
import type { BatchResult } from "../domain/batch.ts";
import type { KernelError } from "../domain/errors.ts";
import type { KernelEvent } from "../domain/event.ts";
import type { EventHub, EventListener } from "../observe/event-hub.ts";

/**
 * The execution of one response. Iterating gives every event from the first on, however late it starts,
 * also after the end; leaving the loop cancels nothing; a slow reader stalls nothing (OBS-1).
 */
export interface Batch extends AsyncIterable<KernelEvent> {
  /** The same events as an rxjs Observable; a subscriber that throws is dropped. */
  readonly events$: Observable<KernelEvent>;
  /**
   * Calls a function with every event from the first on; returns a function that stops it.
   * @throws KernelError `INVALID_OPTIONS` for anything but a function.
   */
  subscribe(listener: EventListener): () => void;
  /**
   * What the batch came to: all calls settled, or approvals to be decided. Never rejects for anything a
   * tool or hook did; rejects with `KernelError` for misuse that could only be seen once the batch's turn
   * had come. Need not be awaited.
   */
  readonly result: Promise<BatchResult>;
}

/** A batch as its session holds it. */
export class BatchHandle implements Batch {
  readonly hub: EventHub;
  readonly result: Promise<BatchResult>;
  #resolve: (result: BatchResult) => void = () => undefined;
  #reject: (error: KernelError) => void = () => undefined;

  constructor(hub: EventHub) {
    this.hub = hub;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A host that never looks at the result must not be ended by it.
    this.result.catch(() => undefined);
  }

  get events$(): Observable<KernelEvent> {
    return this.hub.events$;
  }

  subscribe(listener: EventListener): () => void {
    return this.hub.subscribe(listener);
  }

  [Symbol.asyncIterator](): AsyncIterator<KernelEvent, void, undefined> {
    return this.hub.iterate();
  }

  /** Ends the events, then gives the result. */
  resolve(result: BatchResult): void {
    this.hub.end();
    this.#resolve(result);
  }

  /** Ends the events, then fails the result; for misuse and broken invariants only. */
  reject(error: KernelError): void {
    this.hub.end();
    this.#reject(error);
  }
}
