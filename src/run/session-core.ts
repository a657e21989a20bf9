/**
 * What all batches of a session share.
 * Owns: the repeat sequence, the uncertain writes, the holds of abandoned writes, the counters. Does not
 * own: the lanes (may be shared with other sessions), the clock. One batch runs at a time, so nothing here
 * is written by two at once.
 */
import type { DurableToolPort } from "../domain/action.ts";
import type { CallPlace, EventPort } from "../domain/event.ts";
import type { SessionHooks } from "../domain/hooks.ts";
import type { Limits } from "../domain/limits.ts";
import type { Clock, Inspect } from "../domain/ports.ts";
import type { ToolExecution } from "../domain/tool.ts";
import type { Lanes } from "../plan/lanes.ts";
import { isMinded, type UncertainWrite } from "../plan/uncertain-writes.ts";
import type { CompatOption } from "../prepare/compat.ts";
import type { ToolRegistry } from "../prepare/register-tools.ts";
import { NO_REPEATS, type RepeatSequence, type RepeatThresholds } from "../repeat/repeat-tracker.ts";
import type { EpochRun } from "./batch/run-epoch.ts";
import type { CallRun } from "./call/run-call.ts";
import type { ChartActor, Interpreter } from "./chart-actor.ts";
import { Deadlines } from "./deadlines.ts";
import { Mailbox } from "./mailbox.ts";
import { OperationIds } from "./operation-id.ts";
import type { FactRecorder } from "./store/fact-recorder.ts";

/** What a session was configured with, checked and complete. */
export interface SessionSettings {
  readonly runId: string;
  readonly toolExecution: ToolExecution;
  readonly limits: Limits;
  readonly hooks: SessionHooks;
  readonly uncertainWriteScope: "batch" | "run";
  readonly compat: CompatOption | undefined;
  /** What time it is, in events, records and results. */
  readonly clock: Clock;
  /** What waits and time-outs are measured by: it never jumps. */
  readonly steady: Clock;
  readonly inspect: Inspect | undefined;
  readonly interpreter: Interpreter;
}

/** An uncertain write that the host may still resolve. */
export interface OpenUncertainty extends Omit<UncertainWrite, "isOfThisBatch">, CallPlace {
  readonly epochField: { readonly epoch?: number };
  /** The batch it is of, by identity. */
  readonly batch: object;
  /** Who closes it by hand, where it is a durable action. */
  readonly durable?: DurableToolPort | undefined;
}

/** The uncertain writes that one batch minds, of the list they were read from, as far as it was read. */
interface MindedWrites {
  readonly batch: object | undefined;
  readonly of: readonly OpenUncertainty[];
  read: number;
  readonly writes: UncertainWrite[];
}

/** What a session is built from beside its settings. */
export interface SessionParts {
  readonly tools: ToolRegistry;
  readonly lanes: Lanes<CallRun>;
  readonly events: EventPort;
  /** Told of a throw that no driver should ever make. */
  readonly onFault: (error: unknown) => void;
  readonly host: unknown;
}

/** See the file header. */
export class SessionCore {
  readonly settings: SessionSettings;
  readonly deadlines: Deadlines;
  readonly mailbox: Mailbox;
  readonly lanes: Lanes<CallRun>;
  readonly events: EventPort;
  readonly thresholds: RepeatThresholds;
  readonly operationIds: OperationIds;
  /** Records the run's facts, where the host gave a run store. */
  recorder: FactRecorder | undefined;
  /** The run's actor, if a run is above. */
  root: ChartActor | undefined;
  tools: ToolRegistry;
  repeats: RepeatSequence = NO_REPEATS;
  /** Newest last. Added to in place; replaced when one is taken out. */
  uncertain: OpenUncertainty[] = [];
  /** What {@link SessionCore.uncertainFor} has returned last, so that each write is looked at once per batch. */
  #minded: MindedWrites = { batch: undefined, of: this.uncertain, read: 0, writes: [] };
  /** Operation ids of uncertain writes that the host has resolved in an earlier process (RUN-6). */
  resolved: ReadonlySet<string> = new Set();
  /** Abandoned writes without a key whose executor may still be alive (EPOCH-8). */
  readonly keylessHolds = new Set<CallRun>();
  toolCalls = 0;
  /** Handed to hooks and tools untouched. */
  host: unknown;
  /** The epoch that runs now, if one does. */
  runningEpoch: EpochRun | undefined;
  /** Told of a throw that no driver should ever make. */
  readonly fault: (error: unknown) => void;

  constructor(settings: SessionSettings, parts: SessionParts) {
    this.settings = settings;
    this.tools = parts.tools;
    this.lanes = parts.lanes;
    this.events = parts.events;
    this.deadlines = new Deadlines(settings.steady);
    this.mailbox = new Mailbox(parts.onFault);
    this.operationIds = new OperationIds(settings.runId);
    this.fault = parts.onFault;
    this.host = parts.host;
    const { exactToolRepeatAdvisoryThreshold: advisory, exactToolRepeatTerminationThreshold: termination } =
      settings.limits;
    this.thresholds = { advisory, termination };
  }

  /** The uncertain writes that a batch has to mind: its own, and under scope `run` the keyed ones before (UNC-6). */
  uncertainFor(batch: object): readonly UncertainWrite[] {
    if (this.#minded.batch !== batch || this.#minded.of !== this.uncertain) {
      this.#minded = { batch, of: this.uncertain, read: 0, writes: [] };
    }
    const minded = this.#minded;
    for (const write of this.uncertain.slice(minded.read)) {
      const judged = { ...write, isOfThisBatch: write.batch === batch };
      if (isMinded(judged, this.settings.uncertainWriteScope)) minded.writes.push(judged);
    }
    minded.read = this.uncertain.length;
    return minded.writes;
  }

  /** The uncertainty of a call of the batch that runs; undefined once it is resolved. */
  uncertaintyOf({ operationId }: CallRun): UncertainWrite | undefined {
    const found = this.uncertain.findLast((write) => write.operationId === operationId);
    return found && { ...found, isOfThisBatch: true };
  }
}
