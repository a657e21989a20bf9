/**
 * Drives one tool call by its chart.
 * Owns: the call's actor, its executor's signal and deadlines, its answer, its result. Does not own: its
 * place in the lanes (the epoch's), when it may start (the epoch's and the batch's). Invariants: it settles
 * once, when its chart does; what an executor does after that changes nothing but its keys (CAN-2, CAN-4).
 */
import type { toolCallMachine } from "../../../machines/tool-call.machine.ts";
import type { ToolCallEmitted, ToolCallEvent } from "../../../machines/tool-call-facts.ts";
import type { ActionIdentity, DurableAbandonment } from "../../domain/action.ts";
import type { Outcome, PreparedCall, Refusal, SettledCall, ToolCall } from "../../domain/call.ts";
import type { ToolResult } from "../../domain/content.ts";
import type { CallPlace } from "../../domain/event.ts";
import { type AnyTool, isWrite } from "../../domain/tool.ts";
import type { LaneEntry } from "../../plan/lanes.ts";
import type { UncertainWrite } from "../../plan/uncertain-writes.ts";
import type { DraftCall, PrepareFact } from "../../prepare/preparation.ts";
import type { ToolRegistry } from "../../prepare/register-tools.ts";
import { freezeResult } from "../../settle/freeze-result.ts";
import type { CallStanding } from "../batch/ready-calls.ts";
import type { EpochRun } from "../batch/run-epoch.ts";
import { type ChartActor, type ChartDriver, startChart } from "../chart-actor.ts";
import { CALL_CHART } from "../charts.ts";
import { FACTS } from "../facts.ts";
import type { SessionCore } from "../session-core.ts";
import { type FactOf, type StoredBatch, unfinishedDispatch } from "../store/stored-run.ts";
import { shapeResult } from "./after-tool-call.ts";
import { resultBeforeDispatch, resultOfDispatched } from "./call-result.ts";
import { describeDispatch, describeEnd, describeSettled, settledFact } from "./call-settled.ts";
import { abandonDurable, projectResult } from "./durable-call.ts";
import { Execution } from "./execution.ts";
import { askRecovery, type Recovery } from "./recovery.ts";
import { toolForAgain } from "./run-again.ts";

/** What a call needs of its batch. */
export interface CallOwner {
  readonly core: SessionCore;
  readonly turn: number;
  readonly response: { readonly stored?: StoredBatch | undefined };
  /** The tools as they were when the batch began. */
  readonly tools: ToolRegistry;
  /** Fires when the batch is cancelled. */
  readonly cancellation: AbortSignal;
  /** Whether it has; asked in place of the signal, which costs more than many a call and which few look at. */
  readonly isCancelled: boolean;
  /** Whether nothing more may be dispatched: cancelled, or steps can no longer be recorded. */
  readonly isStopping: boolean;
  readonly actor: ChartActor;
  /** Told before anybody sees that a write is uncertain, so that whoever sees it can resolve it. */
  onUncertain(call: CallRun): void;
  onCallSettled(call: CallRun): void;
}

/** See the file header. */
export class CallRun implements LaneEntry, CallPlace, DraftCall, ChartDriver<ToolCallEmitted> {
  readonly owner: CallOwner;
  readonly call: ToolCall;
  readonly callIndex: number;
  readonly callId: string;
  readonly toolName: string;
  /** The kernel's own; of a durable action its durable id, once it is prepared. */
  operationId: string;
  readonly isWrite: boolean;
  readonly actor: ChartActor<typeof toolCallMachine>;
  prepared: PreparedCall | undefined;
  refusal: Refusal | undefined;
  repeatCount = 0;
  blocker: UncertainWrite | undefined;
  epochRun: EpochRun | undefined;
  /** Where it stands in its epoch, which alone changes it. */
  standing: CallStanding | undefined;
  hasLeft = false;
  heldUntilMs: number | undefined;
  /** When its preparation ended; waiting is counted from then. */
  preparedAtMs = 0;
  /** When it headed all its lanes. */
  headedAtMs = 0;
  execution: Execution | undefined;
  recovery: Recovery | undefined;
  /** Which durable action it is, once it is prepared; the host is not asked again. */
  identity: ActionIdentity | undefined;
  /** What stands of a durable action that did not answer in time. */
  abandonment: DurableAbandonment | undefined;
  /** Whether its receipt could not be projected: then its batch closes the loop (PROJ-5). */
  isProjectionFailed = false;
  /** Its dispatch by an earlier process that left no settlement (RUN-6). */
  readonly earlierDispatch: FactOf<"dispatched"> | undefined;
  settled: SettledCall | undefined;
  #result: ToolResult | undefined;

  constructor(owner: CallOwner, call: ToolCall, callIndex: number) {
    this.owner = owner;
    this.call = Object.freeze(call); // hooks are shown it; what it holds was copied and frozen when it was read
    this.callIndex = callIndex;
    this.callId = call.id;
    this.toolName = call.name;
    this.operationId = owner.core.operationIds.derive({ turn: owner.turn, callIndex, toolName: call.name });
    const tool = owner.tools.get(call.name)?.tool;
    this.isWrite = tool === undefined || isWrite(tool);
    this.earlierDispatch = unfinishedDispatch(owner.response.stored, callIndex);
    this.actor = startChart(CALL_CHART, {
      interpreter: owner.core.settings.interpreter,
      id: `call:${owner.turn}:${callIndex}`,
      parent: owner.actor,
      input: {
        callId: call.id,
        isWrite: this.isWrite,
        throwIsUncertain: tool?.throwMeans !== "failed",
        canRecover: tool?.recover !== undefined,
        isRecorded: owner.core.recorder !== undefined,
        wasDispatched: this.earlierDispatch !== undefined,
      },
      driver: this,
    });
  }

  /** The tool, once the call is prepared; what is not prepared is never planned. */
  get tool(): Pick<AnyTool, "risk" | "executionMode"> {
    return this.prepared?.tool ?? {};
  }

  get conflictKeys(): readonly string[] {
    return this.prepared?.conflictKeys ?? [];
  }

  /** Whether an earlier process has dispatched it and nobody may call its executor again (RUN-6). */
  get isLost(): boolean {
    const { earlierDispatch, prepared } = this;
    return earlierDispatch !== undefined && prepared !== undefined && toolForAgain(prepared.tool) === undefined;
  }

  /** Where its chart is, as XState's state value. */
  get state(): unknown {
    return this.actor.value;
  }

  /** Tells its chart that a step of preparation is behind it. */
  note(type: PrepareFact): void {
    this.tell(FACTS[type]);
  }

  /** Tells its chart a fact, after all that were told before. */
  tell(event: ToolCallEvent): void {
    this.owner.core.mailbox.send(this.actor, event);
  }

  get turn(): number {
    return this.owner.turn;
  }

  /** Its epoch, once it is known, as events carry it. */
  get epochField(): { readonly epoch?: number } {
    return this.epochRun === undefined ? {} : { epoch: this.epochRun.epoch };
  }

  /** Its chart broke, which none should. */
  fault(error: unknown): void {
    this.owner.core.fault(error);
  }

  /** Does what its chart asks for. */
  perform(emitted: ToolCallEmitted): void {
    switch (emitted.type) {
      case "recordDispatch":
        this.#recordDispatch();
        break;
      case "dispatch":
        this.#dispatch();
        break;
      case "stopExecutor":
        this.execution?.stop(this.actor.getSnapshot().context.stopCause ?? "cancelled");
        break;
      case "askRecovery":
        abandonDurable(this);
        this.recovery = askRecovery(this);
        break;
      case "stopRecovery":
        this.recovery?.stop();
        break;
      case "finish":
        this.#finish();
        break;
      case "settled":
        this.#settle();
        break;
    }
  }

  /** Makes the dispatch durable first (RUN-6). */
  #recordDispatch(): void {
    const { core, turn } = this.owner;
    const fact = { kind: "dispatched", turn, index: this.callIndex, atMs: core.settings.clock.now() } as const;
    // If it cannot be recorded the batch is halted, which cancels this call (CAN-5).
    core.recorder?.record([fact]).then(
      () => this.tell(FACTS.RECORDED),
      () => undefined,
    );
  }

  #dispatch(): void {
    const { core } = this.owner;
    if (this.prepared === undefined || this.epochRun === undefined) throw new Error("dispatched before it was planned");
    this.execution = new Execution(this, this.prepared);
    if (!this.isLost) core.events.emitCall("toolDispatched", this, describeDispatch(this, this.epochRun));
    this.execution.begin();
  }

  #finish(): void {
    const shaped = shapeResult(this, resultOfDispatched(this));
    if (!("then" in shaped)) {
      this.#result = shaped;
      this.tell(FACTS.FINISHED);
      return;
    }
    shaped.then(
      (later) => {
        this.#result = later;
        this.tell(FACTS.FINISHED);
      },
      (error: unknown) => this.owner.core.fault(error),
    );
  }

  #settle(): void {
    // Settled by an earlier process already.
    if (this.settled !== undefined) return;
    const { core } = this.owner;
    // The chart's final states are named after the outcomes.
    const outcome = this.state as Outcome;
    const result = freezeResult(this.#result ?? projectResult(this, resultBeforeDispatch(this, outcome), outcome));
    const settled = describeSettled(this, outcome, result);
    if (outcome === "uncertain") this.owner.onUncertain(this);
    if (core.recorder === undefined) {
      this.#publish(settled);
      return;
    }
    // Durable before anybody sees it (RUN-6). Where the store is lost the host is still told what is true.
    const publish = (): void => core.mailbox.run(() => this.#publish(settled));
    core.recorder.record([settledFact(this, settled)]).then(publish, publish);
  }

  #publish(settled: SettledCall): void {
    this.settled = settled;
    this.owner.core.events.emitCall("toolEnded", this, describeEnd(this, settled));
    this.execution?.tellLateEnd();
    this.owner.onCallSettled(this);
    // A batch lives until its last call has settled; what nobody asks for any more need not live as long.
    if (this.execution?.hasEnded === true) this.execution = undefined;
  }
}
