/**
 * A session: the tool calls of one run, one response at a time.
 * Owns: the queue of responses, the batch that waits for approvals, the turn. Does not own: how a batch
 * runs (run/run-batch). Invariants: batches run one after another, in the order of `execute`; work starts
 * in a microtask after `execute` has returned.
 */

import type { BatchResult } from "../domain/batch.ts";
import type { KernelError } from "../domain/errors.ts";
import type { AnyTool } from "../domain/tool.ts";
import { EventStream } from "../observe/event-stream.ts";
import type { GameAgentPerformanceSummary } from "../observe/performance-summary.ts";
import { createLanes } from "../plan/lanes.ts";
import { ajvValidator } from "../prepare/ajv-validator.ts";
import { registerTools } from "../prepare/register-tools.ts";
import { NO_REPEATS } from "../repeat/repeat-tracker.ts";
import { hasDuplicateIds, nameCalls } from "../run/call-ids.ts";
import { BatchRun } from "../run/run-batch.ts";
import type { CallRun } from "../run/run-call.ts";
import { SessionCore } from "../run/session-core.ts";
import { type Batch, BatchHandle } from "./batch-handle.ts";
import { invalidOption } from "./check-options.ts";
import {
  type ExecuteOptions,
  type GivenResponse,
  type ReadResponse,
  readExecuteOptions,
  readResponse,
} from "./read-response.ts";
import { resolveUncertain, type UncertaintyResolution } from "./resolve-uncertain.ts";
import { isSameResponse } from "./same-response.ts";
import { readLanes, readSessionOptions, stuckError, type ToolSessionOptions } from "./session-options.ts";

/** One `execute` that waits for its turn. */
interface Job {
  readonly response: ReadResponse;
  readonly options: ExecuteOptions;
  readonly handle: BatchHandle;
}

/** See the file header; made by {@link createToolSession}. */
export class ToolSession implements AsyncDisposable {
  readonly runId: string;
  readonly #core: SessionCore;
  readonly #events: EventStream;
  readonly #validator: NonNullable<ToolSessionOptions["jsonSchemaValidator"]>;
  readonly #queue: Job[] = [];
  #current: { readonly job: Job; batch: BatchRun | undefined; release: () => void } | undefined;
  #suspended: BatchRun | undefined;
  #turn = 0;
  #fault: KernelError | undefined;
  #closing: { readonly done: Promise<void>; readonly finish: () => void } | undefined;

  /** @throws KernelError `INVALID_OPTIONS`, `DUPLICATE_TOOL`, `INVALID_TOOL_SCHEMA`. */
  constructor(options: ToolSessionOptions) {
    const settings = readSessionOptions(options);
    const { runId, clock } = settings;
    this.runId = runId;
    this.#validator = options.jsonSchemaValidator ?? ajvValidator();
    this.#events = new EventStream({ runId, clock, telemetry: options.telemetry });
    this.#core = new SessionCore(settings, {
      tools: registerTools(options.tools, this.#validator),
      lanes: options.lanes === undefined ? createLanes<CallRun>() : readLanes<CallRun>(options.lanes),
      events: this.#events,
      host: options.host,
      onFault: (error) => this.#break(error),
    });
  }

  /**
   * Runs the tool calls of one response; while another runs it queues. Answers at once: events and result
   * come by the {@link Batch}. The same response with `approvals` goes on with the batch that waits for
   * them (APP-3).
   * @throws KernelError `INVALID_OPTIONS` for a response or option that is none, for an unknown approval
   * id, and for another response while approvals are open.
   */
  execute(response: GivenResponse, options: ExecuteOptions = {}): Batch {
    if (this.#fault !== undefined) throw this.#fault;
    if (this.#closing !== undefined)
      throw invalidOption("execute", "was called on a session that is closed; create another");
    const checked = readExecuteOptions(options);
    const job: Job = {
      response: readResponse(response, checked.stopReason),
      options: checked,
      handle: new BatchHandle(this.#events.createHub()),
    };
    if (this.#current === undefined && this.#queue.length === 0) this.#checkApprovals(job);
    this.#queue.push(job);
    queueMicrotask(() => this.#next());
    return job.handle;
  }

  /** Steering or a follow-up has reached the model: what it repeats after that is no repeat (REP-7). */
  noteNewEvidence(): void {
    this.#core.repeats = NO_REPEATS;
  }

  /**
   * Says what became of an uncertain write, by operation id or by call id (the newest unresolved one).
   * Later calls that are not judged yet are no longer blocked by it; settled results stay (UNC-5).
   * Rejects with KernelError `OPERATION_UNKNOWN` or `INVALID_OPTIONS`.
   */
  async resolveUncertain(operationIdOrCallId: string, resolution: UncertaintyResolution): Promise<void> {
    resolveUncertain(this.#core, operationIdOrCallId, resolution);
  }

  /**
   * Replaces the tools, between batches: a batch that runs keeps its own.
   * @throws KernelError as the constructor; the tools are then unchanged.
   */
  setTools(tools: readonly AnyTool[]): void {
    if (!Array.isArray(tools)) throw invalidOption("tools", "must be an array");
    this.#core.tools = registerTools(tools, this.#validator, this.#core.tools);
  }

  /** The figures of the session as of its last event (OBS-4). */
  performance(): GameAgentPerformanceSummary {
    return this.#events.performance();
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
      if (this.#current === undefined || this.#fault !== undefined) this.#after();
    }
    return this.#closing.done;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #next(): void {
    if (this.#current !== undefined || this.#fault !== undefined) return;
    const job = this.#queue.shift();
    if (job === undefined) return;
    try {
      this.#checkApprovals(job);
    } catch (error) {
      job.handle.reject(error as KernelError); // `checkApprovals` throws nothing else
      this.#after();
      return;
    }
    this.#events.direct(job.handle.hub);
    if (this.#suspended === undefined) this.#begin(job);
    else this.#goOn(job, this.#suspended);
  }

  #begin(job: Job): void {
    const turn = job.options.turn ?? this.#turn + 1;
    this.#turn = turn;
    const current = { job, batch: undefined as BatchRun | undefined, release: (): void => undefined };
    this.#current = current;
    const { calls, stopReason } = job.response;
    const response = { calls: nameCalls(calls, turn), hasDuplicateIds: hasDuplicateIds(calls), stopReason, turn };
    this.#core.mailbox.run(() => {
      current.batch = new BatchRun(this.#core, response, (result) => this.#onResult(result));
      current.release = this.#obeySignal(current.batch, job.options.signal);
    });
  }

  #goOn(job: Job, batch: BatchRun): void {
    this.#suspended = undefined;
    const current = { job, batch, release: (): void => undefined };
    this.#current = current;
    this.#core.mailbox.run(() => {
      current.release = this.#obeySignal(batch, job.options.signal);
      if (!batch.cancellation.aborted) batch.decide(job.options.approvals ?? {}, job.options.blockOthers === true);
    });
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
    this.#events.direct(undefined);
    current.job.handle.resolve(result);
    this.#after();
  }

  #after(): void {
    if (this.#queue.length > 0) {
      queueMicrotask(() => this.#next());
      return;
    }
    if (this.#closing === undefined) return;
    // A batch that waits for approvals will get no answer any more.
    this.#suspended?.cancel("the session was closed");
    this.#closing.finish();
  }

  /** While approvals are open only their own response may come, with answers to open ids (APP-2, APP-3). */
  #checkApprovals({ response, options }: Job): void {
    const batch = this.#suspended;
    const ids = Object.keys(options.approvals ?? {});
    const unknown = ids.find((id) => batch?.approvals.has(id) !== true);
    if (unknown !== undefined)
      throw invalidOption(`approvals.${unknown.slice(0, 64)}`, "is no open approval of this session");
    if (batch === undefined) return;
    const isOther = !isSameResponse(batch.response, { ...response, turn: options.turn ?? batch.turn });
    if (isOther)
      throw invalidOption(
        "response",
        "is another one while approvals are open; execute the same response with approvals or blockOthers first",
      );
  }

  /** A broken invariant: nobody can say what is true any more, so nothing more is started. */
  #break(error: unknown): void {
    if (this.#fault !== undefined) return;
    this.#fault = stuckError(error);
    this.#current?.job.handle.reject(this.#fault);
    for (const { handle } of this.#queue.splice(0)) handle.reject(this.#fault);
    // What runs is told, and what waits in lanes that others share leaves them.
    this.#current?.batch?.cancel("the session broke one of its own rules");
    this.#closing?.finish();
  }
}

/**
 * Creates a session: one per run, one `execute` per model response.
 * @throws KernelError `INVALID_OPTIONS` naming the option, `DUPLICATE_TOOL`, `INVALID_TOOL_SCHEMA`.
 */
export function createToolSession(options: ToolSessionOptions): ToolSession {
  return new ToolSession(options);
}
