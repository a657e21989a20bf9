/**
 * A session: the tool calls of one run, one response at a time.
 * Owns: its tools, its core. Does not own: the order of its batches (batch-queue). Invariants: batches run
 * one after another, in the order of `execute`; work starts in a microtask after `execute` has returned.
 */

import { checkGiven, invalidOption, mustBeList } from "../domain/check-options.ts";
import type { KernelError } from "../domain/errors.ts";
import type { AnyTool } from "../domain/tool.ts";
import { EventStream } from "../observe/event-stream.ts";
import type { GameAgentPerformanceSummary } from "../observe/performance-summary.ts";
import { createLanes } from "../plan/lanes.ts";
import { stockValidator } from "../prepare/ajv-validator.ts";
import { registerTools } from "../prepare/register-tools.ts";
import { NO_REPEATS } from "../repeat/repeat-tracker.ts";
import type { CallRun } from "../run/call/run-call.ts";
import { SessionCore } from "../run/session-core.ts";
import { type Batch, BatchHandle } from "./batch-handle.ts";
import { BatchQueue } from "./batch-queue.ts";
import { LateFacts } from "./late-facts.ts";
import { type ExecuteOptions, type GivenResponse, readExecuteOptions, readResponse } from "./read-response.ts";
import { resolveUncertain, type UncertaintyResolution } from "./resolve-uncertain.ts";
import { readLanes, readSessionOptions, stuckError, type ToolSessionOptions } from "./session-options.ts";
import { SessionRecord } from "./session-record.ts";

/** See the file header; made by {@link createToolSession}. */
export class ToolSession implements AsyncDisposable {
  readonly runId: string;
  readonly #core: SessionCore;
  readonly #events: EventStream;
  readonly #validator: NonNullable<ToolSessionOptions["jsonSchemaValidator"]>;
  readonly #record: SessionRecord | undefined;
  readonly #facts: LateFacts | undefined;
  readonly #batches: BatchQueue;

  /** @throws KernelError `INVALID_OPTIONS`, `DUPLICATE_TOOL`, `INVALID_TOOL_SCHEMA`. */
  constructor(options: ToolSessionOptions) {
    const settings = readSessionOptions(options);
    const { runId, clock } = settings;
    this.runId = runId;
    this.#validator = options.jsonSchemaValidator ?? stockValidator;
    this.#events = new EventStream({ runId, clock, telemetry: options.telemetry });
    this.#core = new SessionCore(settings, {
      tools: registerTools(options.tools, this.#validator),
      lanes: options.lanes === undefined ? createLanes<CallRun>() : readLanes<CallRun>(options.lanes),
      events: this.#events,
      host: options.host,
      onFault: (error) => this.#batches.break(stuckError(error)),
    });
    const { runStore } = options;
    this.#facts = runStore === undefined ? undefined : new LateFacts(this.#core, runStore);
    const loseStore = (error: KernelError): void => this.#batches.loseStore(error);
    this.#record = runStore === undefined ? undefined : new SessionRecord(this.#core, runStore, loseStore);
    this.#batches = new BatchQueue({ core: this.#core, events: this.#events, record: this.#record });
  }

  /**
   * Runs the tool calls of one response; while another runs it queues. Returns at once: events and result
   * come through the {@link Batch}. The same response with `approvals` continues the batch that waits for
   * them (APP-3).
   * @throws KernelError `INVALID_OPTIONS` for an invalid response or option, for an unknown approval
   * id, and for another response while approvals are open.
   */
  execute(response: GivenResponse, options: ExecuteOptions = {}): Batch {
    if (this.#batches.fault !== undefined) throw this.#batches.fault;
    if (this.#batches.isClosed) {
      throw invalidOption("execute", "was called on a session that is closed; create another");
    }
    const checked = readExecuteOptions(options);
    const handle = new BatchHandle(this.#events.createHub());
    this.#batches.push({ response: readResponse(response, checked.stopReason), options: checked, handle });
    return handle;
  }

  /** Steering or a follow-up has reached the model: what it repeats after that is not a repeat (REP-7). */
  noteNewEvidence(): void {
    this.#core.repeats = NO_REPEATS;
    this.#record?.noteEvidence();
  }

  /**
   * Says what became of an uncertain write, by operation id or by call id (the newest unresolved one).
   * Later calls that are not judged yet are no longer blocked by it; settled results stay (UNC-5).
   * With a run store it is durable when the promise resolves, also once the session is closed: then the run is
   * claimed again for this one record (RUN-6).
   * Rejects with KernelError `OPERATION_UNKNOWN` or `INVALID_OPTIONS`, or with what the store says, `RUN_CLAIMED`
   * for one where somebody else holds the run by now.
   */
  async resolveUncertain(operationIdOrCallId: string, resolution: UncertaintyResolution): Promise<void> {
    // What an earlier process has left uncertain is known once the run has been claimed.
    if (this.#record !== undefined) await this.#record.open();
    await resolveUncertain({ core: this.#core, facts: this.#facts }, operationIdOrCallId, resolution);
  }

  /**
   * Replaces the tools, between batches: a batch that runs keeps its own.
   * @throws KernelError as the constructor; the tools are then unchanged.
   */
  setTools(tools: readonly AnyTool[]): void {
    checkGiven(tools, "tools", mustBeList);
    this.#core.tools = registerTools(tools, this.#validator, this.#core.tools);
  }

  /** The tools that the next batch runs with, in the order they were given. */
  get tools(): readonly AnyTool[] {
    return [...this.#core.tools.values()].map(({ tool }) => tool);
  }

  /** The figures of the session as of its last event (OBS-4). */
  performance(): GameAgentPerformanceSummary {
    return this.#events.performance();
  }

  /** Cancels what runs or waits and ends the session; resolves when every call has its result. */
  close(): Promise<void> {
    return this.#batches.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Creates a session: one per run, one `execute` per model response.
 * @throws KernelError `INVALID_OPTIONS` naming the option, `DUPLICATE_TOOL`, `INVALID_TOOL_SCHEMA`.
 */
export function createToolSession(options: ToolSessionOptions): ToolSession {
  return new ToolSession(options);
}
