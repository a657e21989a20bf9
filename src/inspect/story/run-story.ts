/**
 * What a recording tells, as runs, batches, epochs, calls and charts.
 * Owns: what is known of each, as of the last entry. Invariants: entries are taken in their order; an entry
 * that tells nothing new changes nothing; nothing here depends on when it is asked.
 */
import type { KernelEvent, RecordedEvent, RunStatus } from "toolkernel";
import type { ActorEntry, ContentEntry, RecordingEntry, TransitionEntry } from "../recording/entry.ts";
import { beginCall, type CallEvent, type CallStory, tellCall } from "./call-story.ts";

/** One epoch of a batch. */
export interface EpochStory {
  readonly epoch: number;
  readonly startedAtMs: number;
  readonly settledAtMs?: number;
}

/** The calls of one response. */
export interface BatchStory {
  readonly turn: number;
  readonly startedAtMs: number;
  /** The time of the newest entry about it. */
  readonly lastAtMs: number;
  readonly epochs: readonly EpochStory[];
  /** In source order. */
  readonly calls: readonly CallStory[];
}

/** A chart that runs or has run. */
export interface ActorStory {
  /** Such as `call:1:3`. */
  readonly id: string;
  readonly chart: string;
  /** Absent until it has taken its first event. */
  readonly last?: TransitionEntry;
  /** The state before {@link ActorStory.last}. */
  readonly from?: string;
}

/** One run. */
export interface RunStory {
  readonly runId: string;
  readonly startedAtMs: number;
  readonly lastAtMs: number;
  readonly status?: RunStatus;
  readonly endedBy?: string;
  readonly batches: readonly BatchStory[];
  /** By the kernel's names for them. */
  readonly actors: ReadonlyMap<string, ActorStory>;
}

/** What a timeline needs of a run. */
export type TimelineRun = Omit<RunStory, "actors">;

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

interface OpenBatch {
  readonly turn: number;
  readonly startedAtMs: number;
  lastAtMs: number;
  readonly epochs: Map<number, EpochStory>;
  readonly calls: Map<number, CallStory>;
  /** By call index; what a call was given may be told before the call is. */
  readonly contents: Map<number, CallContents>;
}

type EpochStart = Pick<RecordedEvent<"epochStarted">, "epoch" | "callIds" | "timeMs">;

type CallContents = Pick<CallStory, "arguments" | "result">;

interface OpenRun extends Writable<Omit<RunStory, "batches" | "actors">> {
  readonly batches: Map<number, OpenBatch>;
  readonly actors: Map<string, ActorStory>;
  /** By the recorder's numbers; a recorder of another process begins anew. */
  readonly actorIds: Map<number, string>;
  readonly lanes: Map<string, number>;
}

/** See the file header. */
export class Story {
  readonly #runs = new Map<string, OpenRun>();

  /** Tells what a recording holds, from the first entry on. */
  static of(entries: Iterable<RecordingEntry>): Story {
    const story = new Story();
    for (const entry of entries) story.add(entry);
    return story;
  }

  /** Takes the next entry. */
  add(entry: RecordingEntry): void {
    switch (entry.type) {
      case "event":
        this.addEvent(entry.event);
        break;
      case "actor":
        addActor(this.#run(entry), entry);
        break;
      case "transition":
        addTransition(this.#run(entry), entry);
        break;
      case "content":
        addContent(this.#run(entry), entry);
        break;
    }
  }

  /** Takes the next event, recorded or live. */
  addEvent(event: RecordedEvent | KernelEvent): void {
    const run = this.#run(event);
    switch (event.kind) {
      case "runEnded":
        run.status = event.status;
        if (event.endedBy !== undefined) run.endedBy = event.endedBy;
        break;
      case "runResumed":
        delete run.status;
        delete run.endedBy;
        break;
      case "epochStarted":
        startEpoch(batchOf(run, event), event);
        break;
      case "epochSettled":
        settleEpoch(batchOf(run, event), event);
        break;
      default:
        if ("callIndex" in event) addCallEvent(run, event);
    }
  }

  /** All runs, in the order in which they were first heard of. */
  get runs(): readonly RunStory[] {
    return [...this.#runs.values()].map(({ actorIds: _numbers, lanes: _lanes, ...run }) => ({
      ...run,
      batches: [...run.batches.values()].map(closeBatch),
    }));
  }

  #run({ runId, timeMs }: { readonly runId: string; readonly timeMs: number }): OpenRun {
    const known = this.#runs.get(runId);
    if (known !== undefined) {
      known.lastAtMs = timeMs;
      return known;
    }
    const maps = { batches: new Map(), actors: new Map(), actorIds: new Map(), lanes: new Map() };
    const run: OpenRun = { runId, startedAtMs: timeMs, lastAtMs: timeMs, ...maps };
    this.#runs.set(runId, run);
    return run;
  }
}

function batchOf(run: OpenRun, { turn, timeMs }: { readonly turn: number; readonly timeMs: number }): OpenBatch {
  const batch = run.batches.get(turn) ?? {
    turn,
    startedAtMs: timeMs,
    lastAtMs: timeMs,
    epochs: new Map(),
    calls: new Map(),
    contents: new Map(),
  };
  batch.lastAtMs = timeMs;
  run.batches.set(turn, batch);
  return batch;
}

function closeBatch({ turn, startedAtMs, lastAtMs, epochs, calls, contents }: OpenBatch): BatchStory {
  const inOrder = [...calls.values()].sort((one, other) => one.callIndex - other.callIndex);
  return {
    turn,
    startedAtMs,
    lastAtMs,
    epochs: [...epochs.values()],
    calls: inOrder.map((call) => ({ ...call, ...contents.get(call.callIndex) })),
  };
}

/** The events of a call name its epoch only once it has been dispatched; the epoch names its calls at once. */
function startEpoch(batch: OpenBatch, { epoch, callIds, timeMs }: EpochStart): void {
  batch.epochs.set(epoch, { epoch, startedAtMs: timeMs });
  const members = new Set(callIds);
  for (const [index, call] of batch.calls) if (members.has(call.callId)) batch.calls.set(index, { ...call, epoch });
}

function settleEpoch(batch: OpenBatch, { epoch, timeMs }: { readonly epoch: number; readonly timeMs: number }): void {
  const known = batch.epochs.get(epoch);
  if (known !== undefined) batch.epochs.set(epoch, { ...known, settledAtMs: timeMs });
}

function addCallEvent(run: OpenRun, event: CallEvent): void {
  // What happens to a call after its batch must not make the batch longer.
  const isLate = event.kind === "toolLateSettled" || event.kind === "toolUncertaintyResolved";
  const batch = (isLate ? run.batches.get(event.turn) : undefined) ?? batchOf(run, event);
  const call = batch.calls.get(event.callIndex) ?? beginCall(event);
  batch.calls.set(
    event.callIndex,
    tellCall(call, event, (keys) => numberKeys(run.lanes, keys)),
  );
}

function numberKeys(lanes: Map<string, number>, keys: readonly string[]): readonly number[] {
  return keys.map((key) => {
    const number = lanes.get(key) ?? lanes.size;
    lanes.set(key, number);
    return number;
  });
}

function addActor(run: OpenRun, { actor, id, chart }: ActorEntry): void {
  run.actorIds.set(actor, id);
  run.actors.set(id, { id, chart });
}

function addTransition(run: OpenRun, entry: TransitionEntry): void {
  const actor = run.actors.get(run.actorIds.get(entry.actor) ?? "");
  if (actor === undefined) return;
  const { id, chart, last } = actor;
  run.actors.set(id, { id, chart, last: entry, ...(last !== undefined && { from: last.state }) });
}

function addContent(run: OpenRun, entry: ContentEntry): void {
  const { contents } = batchOf(run, entry);
  const { text, isCut, part, callIndex } = entry;
  contents.set(callIndex, { ...contents.get(callIndex), [part]: { text, isCut } });
}
