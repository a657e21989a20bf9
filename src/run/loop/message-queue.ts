import type { UserMessage } from "../../domain/message.ts";
import type { QueueAnswer } from "../../domain/run.ts";

/**
 * Messages on their way to the model, in order, bounded (RUN-3).
 * Owns: what has been accepted and not delivered. Nothing accepted is lost: it is delivered or given back.
 */
export class MessageQueue {
  readonly #maxMessages: number;
  #messages: UserMessage[] = [];
  #isClosed = false;

  constructor(maxMessages: number) {
    this.#maxMessages = maxMessages;
  }

  get length(): number {
    return this.#messages.length;
  }

  /** Accepts a message, unless the queue is full or the run has ended. */
  accept(message: UserMessage): QueueAnswer {
    if (this.#isClosed) return { accepted: false, reason: "ended" };
    if (this.#messages.length >= this.#maxMessages) return { accepted: false, reason: "full" };
    this.#messages.push(message);
    return { accepted: true };
  }

  /** Puts in what was accepted before all that is in, by an earlier process too; it is not refused again. */
  putFirst(messages: readonly UserMessage[]): void {
    this.#messages = [...messages, ...this.#messages];
  }

  /** Takes everything out, in order. */
  take(): readonly UserMessage[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }

  /** Accepts nothing more; what is still in stays to be taken. */
  close(): void {
    this.#isClosed = true;
  }

  /** Accepts messages again. */
  open(): void {
    this.#isClosed = false;
  }
}
