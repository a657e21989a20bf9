/**
 * The queue between the actors of a session.
 * Owns: the events that have been sent and not delivered. Invariants: first in, first out; an event is
 * delivered when the one before it has been processed to the end, so that actors that answer each other
 * never nest.
 */

/** Anything that takes events. */
export interface Addressee<Event> {
  send(event: Event): void;
}

/** See the file header. */
export class Mailbox {
  readonly #onFault: (error: unknown) => void;
  #queue: (() => void)[] = [];
  #isDelivering = false;

  /** `onFault` is told of a throw that no actor or driver should ever make. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Sends an event to an actor, behind all that were sent before. */
  send<Event>(actor: Addressee<Event>, event: Event): void {
    this.run(() => actor.send(event));
  }

  /** Runs a task, behind all that were sent before. */
  run(task: () => void): void {
    this.#queue.push(task);
    if (!this.#isDelivering) this.#deliver();
  }

  #deliver(): void {
    this.#isDelivering = true;
    try {
      for (let place = 0; place < this.#queue.length; place++) {
        try {
          this.#queue[place]?.();
        } catch (error) {
          this.#onFault(error);
        }
      }
    } finally {
      this.#queue = [];
      this.#isDelivering = false;
    }
  }
}
