/**
 * The queue between the actors of a session.
 * Owns: what has been sent and not delivered. Invariants: first in, first out; a delivery begins when the
 * one before it has been processed to the end, so that actors that answer each other never nest.
 */

/** Anything that takes events. */
export interface Addressee<Event> {
  send(event: Event): void;
}

/** See the file header. */
export class Mailbox {
  readonly #onFault: (error: unknown) => void;
  /** Addressees and their events, in turn; a task stands as an addressee of its own. */
  readonly #queue: unknown[] = [];
  #isDelivering = false;

  /** `onFault` is told of a throw that no actor or driver should ever make. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Sends an event to an actor, after all that were sent before. */
  send<Event>(actor: Addressee<Event>, event: Event): void {
    if (this.#isDelivering) {
      this.#queue.push(actor, event);
      return;
    }
    this.#isDelivering = true;
    this.#deliver(actor, event);
    this.#deliverQueued();
  }

  /** Runs a task, after all that were sent before. */
  run(task: () => void): void {
    this.send(TASKS, task);
  }

  #deliverQueued(): void {
    const queue = this.#queue;
    for (let index = 0; index < queue.length; index += 2) {
      // Every even index holds the addressee of the event behind it.
      this.#deliver(queue[index] as Addressee<unknown>, queue[index + 1]);
      if (index > 1_024 && index * 2 > queue.length) {
        queue.splice(0, index + 2);
        index = -2;
      }
    }
    // To empty an array costs even where it is empty, which it nearly always is.
    if (queue.length > 0) queue.length = 0;
    this.#isDelivering = false;
  }

  #deliver<Event>(actor: Addressee<Event>, event: Event): void {
    try {
      actor.send(event);
    } catch (error) {
      this.#onFault(error);
    }
  }
}

/** Runs what it is sent. */
const TASKS: Addressee<() => void> = Object.freeze({ send: (task: () => void) => task() });
