/**
 * What is said to a run while it goes.
 * Owns: steering and follow-ups, and which of the two the next request is for. Invariants: order is kept;
 * what was accepted is delivered once or given back once (RUN-3); a run that has ended, or waits for
 * approvals, accepts nothing.
 */
import type { UserMessage } from "../../domain/message.ts";
import type { QueueAnswer } from "../../domain/run.ts";
import { MessageQueue } from "./message-queue.ts";
import type { SaidMessage } from "./said-messages.ts";

/** The two ways to say something to a run. */
export type QueueName = "steering" | "followUp";

/** See the file header. */
export class RunQueues {
  /** What was accepted before the run was open, and is not recorded or told of yet. */
  readonly early: SaidMessage[] = [];
  /** What was accepted and is not durable yet, where the run is recorded. */
  readonly unrecorded = new Set<{ readonly message: UserMessage }>();
  readonly #queues: Readonly<Record<QueueName, MessageQueue>>;
  #due: QueueName | undefined;

  /** `maxMessages` bounds each of the two. */
  constructor(maxMessages: number) {
    this.#queues = { steering: new MessageQueue(maxMessages), followUp: new MessageQueue(maxMessages) };
  }

  get hasSteering(): boolean {
    return this.#queues.steering.length > 0;
  }

  get hasFollowUp(): boolean {
    return this.#queues.followUp.length > 0;
  }

  accept(name: QueueName, message: UserMessage): QueueAnswer {
    return this.#queues[name].accept(message);
  }

  /** Puts in what was accepted before everything that is in, however many. */
  putFirst(name: QueueName, messages: readonly UserMessage[]): void {
    this.#queues[name].putFirst(messages);
  }

  /** Says which queue the next request is for. */
  makeDue(name: QueueName): void {
    this.#due = name;
  }

  /** How many messages the next request would bring. */
  get dueCount(): number {
    return this.#due === undefined ? 0 : this.#queues[this.#due].length;
  }

  /** Takes out what the next request is for. */
  takeDue(): { readonly queue: QueueName | undefined; readonly messages: readonly UserMessage[] } {
    const queue = this.#due;
    this.#due = undefined;
    return { queue, messages: queue === undefined ? [] : this.#queues[queue].take() };
  }

  /** Accepts nothing more; what is in stays. */
  close(): void {
    for (const queue of Object.values(this.#queues)) queue.close();
  }

  /** Accepts messages again; `first` comes before all of them. */
  open(first: UserMessage | undefined): void {
    for (const queue of Object.values(this.#queues)) queue.open();
    // Steering is empty here: what was in it when approvals were asked has been their answer (APP-4).
    if (first !== undefined) this.#queues.steering.accept(first);
  }

  /** Gives back what was never delivered: steering, then follow-ups. */
  takeAll(): readonly UserMessage[] {
    return [...this.#queues.steering.take(), ...this.#queues.followUp.take()];
  }
}
