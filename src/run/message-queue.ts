import type { UserMessage } from "../domain/message.ts";
import type { QueueAnswer } from "../domain/run.ts";

/**
 * Messages on their way to the model, in order, bounded (RUN-3).
 * Owns: what has been accepted and not delivered. Nothing accepted is lost: it is delivered or given back.
 */
export class MessageQueue {
  readonly #maxMessages: number;
  #messages: UserMessage[] = [];
  #hasEnded = false;

  constructor(maxMessages: number) {
    this.#maxMessages = maxMessages;
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** Accepts a message, unless the queue is full or the run has ended. */
  accept(message: UserMessage): QueueAnswer {
    if (this.#hasEnded) return { accepted: false, reason: "ended" };
    if (this.#messages.length >= this.#maxMessages) return { accepted: false, reason: "full" };
    this.#messages.push(message);
    return { accepted: true };
  }

  /** Takes everything out, in order. */
  take(): readonly UserMessage[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }

  /** Accepts nothing more; what is still in stays to be taken. */
  end(): void {
    this.#hasEnded = true;
  }
}
