/** What is said to a run while it goes: taken in, recorded, delivered (RUN-3, RUN-6). */
import type { UserMessage } from "../../domain/message.ts";
import type { QueueAnswer } from "../../domain/run.ts";
import { NO_REPEATS } from "../../repeat/repeat-tracker.ts";
import { recordSaid } from "../store/run-records.ts";
import type { RunLoop } from "./run-loop.ts";
import type { QueueName } from "./run-queues.ts";

/** A message, and the queue it was said to. */
export interface SaidMessage {
  readonly queue: QueueName;
  readonly message: UserMessage;
}

/** Accepts a message for the next turn boundary, or for when the loop would end. */
export function hearMessage(run: RunLoop, said: SaidMessage): QueueAnswer {
  const answer = run.queues.accept(said.queue, said.message);
  if (!answer.accepted) return answer;
  if (run.isOpen) takeIn(run, said);
  else run.queues.early.push(said);
  return answer;
}

/** Takes in what was said before the run was open. */
export function hearEarly(run: RunLoop): void {
  for (const said of run.queues.early.splice(0)) takeIn(run, said);
}

/** Takes what came with `resume` in place of an answer; it was said before all that is said from now on (APP-4). */
export function hearWithResume(run: RunLoop, message: UserMessage | undefined): void {
  if (message === undefined) return;
  run.queues.putFirst("steering", [message]);
  recordSaid(run, { queue: "steering", message });
}

/** Takes what the next request is for into the transcript; it is new evidence (REP-7). */
export function deliverDue(run: RunLoop): void {
  const { queue, messages } = run.queues.takeDue();
  if (queue === undefined || messages.length === 0) return;
  run.core.repeats = NO_REPEATS;
  run.core.recorder?.note({ kind: "delivered", queue });
  for (const message of messages) run.append(message);
}

function takeIn(run: RunLoop, said: SaidMessage): void {
  recordSaid(run, said);
  run.core.events.emit("messageQueued", run.turn, { queue: said.queue });
}
