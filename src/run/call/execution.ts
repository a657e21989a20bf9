/**
 * One run of an executor: its signal, its time-out, its grace, its progress and its one answer.
 * Owns: the deadlines of this executor, what it answered. Does not own: what follows from it (the
 * chart's). Invariants: one answer is read; progress after the end or beyond the limit is dropped and
 * counted; an end after the call was given up changes no result and frees its keys (CAN-2, EPOCH-8).
 */

import type { StopCause } from "../../../machines/tool-call-facts.ts";
import type { DurableOutcome } from "../../domain/action.ts";
import type { PreparedCall } from "../../domain/call.ts";
import type { ToolResult } from "../../domain/content.ts";
import { durableOutcomeOf } from "../../domain/durable-result.ts";
import { isOutcomeUnknownError, isToolError } from "../../domain/errors.ts";
import type { ToolContext } from "../../domain/tool.ts";
import { recordValue } from "../../settle/record-value.ts";
import { readReturn } from "../../settle/settle-call.ts";
import type { Deadline } from "../deadlines.ts";
import { FACTS } from "../facts.ts";
import { dispatch, type ExecutorEnd, type ExecutorWatcher } from "./dispatch.ts";
import { addDurableFacts, graceEnd } from "./durable-call.ts";
import { releaseLanes } from "./lane-traffic.ts";
import { toolForAgain } from "./run-again.ts";
import type { CallRun } from "./run-call.ts";
import { createToolContext } from "./tool-context.ts";

/** See the file header. */
export class Execution implements ExecutorWatcher {
  /** When it was dispatched, as hosts are told. */
  readonly startedAtMs: number;
  /** The same by the clock that never jumps; what is waited for is measured from here. */
  readonly beganMs: number;
  /** What a return was read as. */
  answer: ToolResult | undefined;
  /** What a durable tool said of its action beside that. */
  durable: DurableOutcome | undefined;
  /** What was thrown; `undefined` inside when nothing was. */
  thrown: { readonly error: unknown } | undefined;
  hasEnded = false;
  /** An end that came when the call was given up and had no result yet; told after its result. */
  #lateEnd: ExecutorEnd | undefined;
  /** When its signal fired. */
  signalledAtMs: number | undefined;
  readonly #call: CallRun;
  readonly #prepared: PreparedCall;
  #controller: AbortController | undefined;
  #progressCount = 0;
  #droppedProgress = 0;
  #deadline: Deadline | undefined;

  constructor(call: CallRun, prepared: PreparedCall) {
    this.#call = call;
    this.#prepared = prepared;
    const { clock, steady } = call.owner.core.settings;
    this.startedAtMs = clock.now();
    this.beganMs = steady.now();
  }

  /** The executor's signal; made when it is first looked at, or when it has to fire. */
  get signal(): AbortSignal {
    return this.#control().signal;
  }

  /** Arms the time-out, which runs from dispatch (CAN-3), and calls the executor. */
  begin(): void {
    const { deadlines, settings } = this.#call.owner.core;
    const { tool } = this.#prepared;
    const timeoutMs = tool.timeoutMs ?? settings.limits.toolTimeoutMs;
    const again = this.#call.earlierDispatch === undefined ? tool : toolForAgain(tool);
    if (again === undefined) {
      // Whoever called it is gone, and so is its answer (RUN-6).
      this.hasEnded = true;
      this.#call.tell(FACTS.LOST);
      return;
    }
    this.#deadline = deadlines.arm(this.beganMs + timeoutMs, () => this.#call.tell(FACTS.TIMED_OUT));
    dispatch(again, this.#prepared.arguments, this);
  }

  /** Fires the executor's signal; from here the grace runs (CAN-2). */
  stop(cause: StopCause): void {
    const { core, cancellation } = this.#call.owner;
    core.deadlines.disarm(this.#deadline);
    this.signalledAtMs = core.settings.steady.now();
    this.#awaitGrace(this.signalledAtMs);
    const timeout = new DOMException("The tool timed out.", "TimeoutError");
    this.#control().abort(cause === "timeout" ? timeout : cancellation.reason);
  }

  /** Gives the call up when its grace is over, which may be later than it seemed when its receipt is being saved. */
  #awaitGrace(signalledAtMs: number): void {
    const { core } = this.#call.owner;
    const overAtMs = graceEnd(this.#call, signalledAtMs);
    this.#deadline = core.deadlines.arm(overAtMs, () => {
      if (graceEnd(this.#call, signalledAtMs) > core.settings.steady.now()) this.#awaitGrace(signalledAtMs);
      else this.#call.tell(FACTS.GRACE_OVER);
    });
  }

  /** What the executor is given. */
  createContext(): ToolContext {
    const context = createToolContext(this.#call, this);
    const { tool } = this.#prepared;
    return tool.durable === undefined ? context : addDurableFacts(context, tool, this.#call);
  }

  /** The executor has ended, however it did; told once (see dispatch). */
  end(end: ExecutorEnd): void {
    this.#call.owner.core.mailbox.run(() => this.#end(end));
  }

  #control(): AbortController {
    this.#controller ??= new AbortController();
    return this.#controller;
  }

  #end(end: ExecutorEnd): void {
    const { core } = this.#call.owner;
    this.hasEnded = true;
    const { state } = this.#call;
    if (state !== "running" && state !== "stopping") {
      this.#endLate(end);
      return;
    }
    core.deadlines.disarm(this.#deadline);
    this.#call.tell(FACTS[this.#readEnd(end)]);
  }

  #readEnd(end: ExecutorEnd): "SUCCEEDED" | "FAILED" | "LOST" | "THREW" {
    if (end.kind === "interrupted") return "THREW";
    if (end.kind === "threw") {
      this.thrown = { error: end.error };
      if (isToolError(end.error)) return "FAILED";
      return isOutcomeUnknownError(end.error) ? "LOST" : "THREW";
    }
    const { isWrite, owner } = this.#call;
    const { maxResultCharacters: maxCharacters } = owner.core.settings.limits;
    const { means, result } = readReturn(end.value, { maxCharacters, isWrite });
    this.answer = result;
    this.durable = durableOutcomeOf(end.value);
    if (means === "success") return "SUCCEEDED";
    return means === "failure" ? "FAILED" : "LOST";
  }

  /** The call was given up before this: no result changes, its keys are free, the host may know. */
  #endLate(end: ExecutorEnd): void {
    const { core } = this.#call.owner;
    this.#call.tell(FACTS.EXECUTOR_ENDED);
    this.#lateEnd = end;
    if (this.#call.settled !== undefined) this.tellLateEnd();
    core.keylessHolds.delete(this.#call);
    if (this.#call.heldUntilMs !== undefined) releaseLanes(core, this.#call);
    core.runningEpoch?.recheck();
  }

  /** Tells of an end that came too late, if one did; never before the call has its result. */
  tellLateEnd(): void {
    if (this.#lateEnd === undefined) return;
    const returned = this.#lateEnd.kind === "returned";
    this.#call.owner.core.events.emitCall("toolLateSettled", this.#call, { ...this.#call.epochField, returned });
  }

  /** The executor reports progress; what comes too late or too often is dropped and counted. */
  progress(update: unknown): void {
    const { core } = this.#call.owner;
    const { limits } = core.settings;
    const { state } = this.#call;
    const isAccepted = !this.hasEnded && (state === "running" || state === "stopping");
    if (!isAccepted || this.#progressCount >= limits.maxProgressEventsPerTool) {
      this.#droppedProgress += 1;
      // Once, and then each time it has doubled: a flood is told of, and makes none.
      if (Number.isInteger(Math.log2(this.#droppedProgress)))
        core.events.traceDroppedProgress(this.#call, this.#droppedProgress);
      return;
    }
    this.#progressCount += 1;
    const recorded = recordValue(update, limits.maxResultCharacters);
    const shown = recorded.kind === "json" ? recorded.value : null;
    core.events.emitCall("toolProgressed", this.#call, { ...this.#call.epochField, update: shown });
  }
}
