/**
 * The responses of a session, one after another.
 * Owns: the jobs that wait, the one that runs, the batch that waits for approvals, the turn. Does not own:
 * how a batch runs (run/run-batch), what a store keeps (session-record). Invariants: jobs run in the order
 * they were given; every job's handle gets one result or one error.
 */
import type { BatchResult } from "../domain/batch.ts";
import type { KernelError } from "../domain/errors.ts";
import type { EventStream } from "../observe/event-stream.ts";
import { hasDuplicateIds, nameCalls } from "../run/batch/call-ids.ts";
import { type BatchResponse, BatchRun } from "../run/batch/run-batch.ts";
import type { SessionCore } from "../run/session-core.ts";
import { asMisuse } from "../run/thrown.ts";
import type { BatchHandle } from "./batch-handle.ts";
import type { ExecuteOptions, ReadResponse } from "./read-response.ts";
import { checkAgainstSuspended } from "./same-response.ts";
import type { SessionRecord } from "./session-record.ts";

/** One `execute` that waits for its turn. */
export interface Job {
  readonly response: ReadResponse;
  readonly options: ExecuteOptions;
  readonly handle: BatchHandle;
}

/** The job that runs. */
interface Current {
  readonly job: Job;
  batch: BatchRun | undefined;
  release: () => void;
  hasAnswered?: boolean;
}

/** What a queue works with. */
export interface BatchQueueParts {
  readonly core: SessionCore;
  readonly events: EventStream;
  readonly record: SessionRecord | undefined;
}

/** See the file header. */
export class BatchQueue {
  readonly #core: SessionCore;
  readonly #events: EventStream;
  readonly #record: SessionRecord | undefined;
  readonly #queue: Job[] = [];
  #current: Current | undefined;
  #suspended: BatchRun | undefined;
  #turn = 0;
  #fault: KernelError | undefined;
  /** The fault is one of its own: nobody can say whether what runs will ever end. */
  #isBroken = false;
  #closing: { readonly done: Promise<void>; readonly finish: () => void } | undefined;

  constructor({ core, events, record }: BatchQueueParts) {
    this.#core = core;
    this.#events = events;
    this.#record = record;
  }

  /** Why nothing more is taken, once that is so. */
  get fault(): KernelError | undefined {
    return this.#fault;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * Takes a job; it starts in a microtask, or when its turn has come.
   * @throws KernelError `INVALID_OPTIONS` for what can be seen at once.
   */
  push(job: Job): void {
    // What a store still has to tell is checked once it has.
    const canCheck = this.#record === undefined || this.#suspended !== undefined;
    if (canCheck && this.#current === undefined && this.#queue.length === 0)
      checkAgainstSuspended(this.#suspended, job);
    this.#queue.push(job);
    queueMicrotask(() => this.#next());
  }

  /** Cancels what runs or waits and ends the session; resolves when every call has its result. */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      let finish: () => void = () => undefined;
      const done = new Promise<void>((resolve) => {
        finish = resolve;
      });
      this.#closing = { done, finish };
      this.#current?.batch?.cancel("the session was closed");
      if (this.#current === undefined || this.#isBroken) this.#after();
    }
    return this.#closing.done;
  }

  /** Steps can no longer be recorded: running calls end, and nothing more is taken (CAN-5). */
  loseStore(error: KernelError): void {
    this.#fault ??= error;
    this.#current?.batch?.halt();
    for (const { handle } of this.#queue.splice(0)) handle.reject(error);
  }

  /** An invariant was broken: nobody can say what is true any more, so nothing more is started. */
  break(fault: KernelError): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#fault ??= fault;
    this.#current?.job.handle.reject(fault);
    for (const { handle } of this.#queue.splice(0)) handle.reject(fault);
    // What runs is told, and what waits in lanes that others share leaves them.
    this.#current?.batch?.cancel("the session broke one of its own rules");
    this.#closing?.finish();
  }

  #next(): void {
    if (this.#current !== undefined || this.#fault !== undefined) return;
    const job = this.#queue.shift();
    if (job === undefined) return;
    const current: Current = { job, batch: undefined, release: () => undefined };
    this.#current = current;
    const refuse = (error: unknown): void => this.#refuse(current, error);
    if (this.#record === undefined) this.#attempt(current, () => this.#enter(current));
    else this.#record.ready(job).then(() => this.#attempt(current, () => this.#enter(current)), refuse);
  }

  /** Misuse that can only be seen once a job's turn has come is its result's. */
  #attempt(current: Current, start: () => void): void {
    try {
      start();
    } catch (error) {
      this.#refuse(current, error);
    }
  }

  #refuse(current: Current, error: unknown): void {
    this.#current = undefined;
    current.job.handle.reject(asMisuse(error, "The session could not run this response."));
    this.#after();
  }

  #enter(current: Current): void {
    const { job } = current;
    if (this.#record === undefined || this.#suspended !== undefined) checkAgainstSuspended(this.#suspended, job);
    this.#events.direct(job.handle.hub);
    if (this.#suspended === undefined) this.#begin(current);
    else this.#goOn(current, this.#suspended);
  }

  #begin(current: Current): void {
    const { response, options } = current.job;
    const anew = { kind: "run", turn: options.turn ?? this.#turn + 1, stored: undefined } as const;
    const start = this.#record?.start(response, options) ?? anew;
    if (start.kind === "known") {
      this.#onResult(start.result);
      return;
    }
    const { turn, stored } = start;
    this.#turn = turn;
    const { calls, stopReason } = response;
    const named = { calls: nameCalls(calls, turn), hasDuplicateIds: hasDuplicateIds(calls), stopReason, turn };
    // What was recorded of a response stands, also why it stopped.
    const whole: BatchResponse = stored === undefined ? named : { ...stored.response, stored };
    if (this.#record === undefined || stored !== undefined) this.#run(current, whole);
    else
      this.#record.record(whole).then(
        () => this.#run(current, whole),
        (error: unknown) => this.#refuse(current, error),
      );
  }

  #run(current: Current, response: BatchResponse): void {
    this.#core.mailbox.run(() => {
      current.batch = new BatchRun(this.#core, response, (result) => this.#onStop(current, result));
      current.release = this.#obeySignal(current.batch, current.job.options.signal);
    });
  }

  #goOn(current: Current, batch: BatchRun): void {
    this.#suspended = undefined;
    current.batch = batch;
    this.#core.mailbox.run(() => {
      current.release = this.#obeySignal(batch, current.job.options.signal);
      if (!batch.cancellation.aborted) this.#decide(current);
    });
  }

  #decide({ batch, job }: Current): void {
    batch?.decide(job.options.approvals ?? {}, job.options.blockOthers === true);
  }

  /** A batch that an earlier process has asked about stops once more to take the answers that came with the job. */
  #onStop(current: Current, result: BatchResult): void {
    const { approvals, blockOthers } = current.job.options;
    const isAnswered = Object.keys(approvals ?? {}).length > 0 || blockOthers === true;
    if (result.approvals !== undefined && isAnswered && !current.hasAnswered) {
      current.hasAnswered = true;
      this.#decide(current);
      return;
    }
    this.#onResult(result);
  }

  #obeySignal(batch: BatchRun, signal: AbortSignal | undefined): () => void {
    if (this.#closing !== undefined) batch.cancel("the session was closed");
    if (signal === undefined) return () => undefined;
    const cancel = (): void => batch.cancel(signal.reason);
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    return () => signal.removeEventListener("abort", cancel);
  }

  #onResult(result: BatchResult): void {
    const current = this.#current;
    if (current === undefined) return;
    current.release();
    this.#current = undefined;
    if (result.approvals !== undefined) this.#suspended = current.batch;
    else if (current.batch !== undefined) this.#record?.keep(current.batch.response, result);
    this.#events.direct(undefined);
    this.#record?.noteStatus(result.approvals === undefined ? "running" : "awaitingApproval");
    const lost = this.#core.recorder?.lost;
    if (lost === undefined) current.job.handle.resolve(result);
    else current.job.handle.reject(lost);
    this.#after();
  }

  #after(): void {
    if (this.#queue.length > 0) {
      queueMicrotask(() => this.#next());
      return;
    }
    if (this.#closing === undefined) return;
    const { finish } = this.#closing;
    const suspended = this.#suspended;
    if (this.#record === undefined) {
      // A batch that waits for approvals will get no answer any more.
      suspended?.cancel("the session was closed");
      finish();
      return;
    }
    // With a store somebody else may still answer: the run is given back as it is.
    this.#record.close({ isOpen: suspended !== undefined }).then(() => {
      this.#core.recorder = undefined;
      suspended?.cancel("the session was closed");
      finish();
    }, finish);
  }
}
