/**
 * What the inspector page knows and what a person has chosen.
 * Owns: the entries, the words of each, the story as of the shown moment, the selection. Does not own: any
 * element. Invariants: without a chosen moment the newest entry is shown; a chosen moment stays while entries come.
 */
import { type EntryWords, entryWords } from "../entry-words.ts";
import type { RecordingEntry } from "../recording/entry.ts";
import type { CallStory } from "../story/call-story.ts";
import { type ActorStory, type RunStory, Story } from "../story/run-story.ts";

/** What can be selected: a run, or below it a response, an epoch or a call, by the kernel's name for its chart. */
export interface Selection {
  readonly runId: string;
  /** Such as `batch:1`, `epoch:1:0`, `call:1:3`; empty for the run. */
  readonly id: string;
}

/** A line of the log. */
export interface LogLine extends EntryWords {
  readonly index: number;
  readonly timeMs: number;
  readonly isChart: boolean;
  readonly selection: Selection;
  /** What is searched, in lower case. */
  readonly searched: string;
}

/** See the file header. */
export class InspectorModel {
  readonly lines: LogLine[] = [];
  selection: Selection | undefined;
  readonly #entries: RecordingEntry[] = [];
  /** By run, since each recorder counts anew. */
  readonly #actorIds = new Map<string, Map<number, string>>();
  readonly #newest = new Story();
  #moment: number | undefined;
  #shown: { readonly moment: number; readonly runs: readonly RunStory[] } | undefined;

  /** Takes the next entries. */
  add(entries: readonly RecordingEntry[]): void {
    for (const entry of entries) {
      this.lines.push(this.#lineOf(entry));
      this.#entries.push(entry);
      this.#newest.add(entry);
    }
    this.selection ??= this.#firstSelection();
  }

  /** How many entries there are. */
  get count(): number {
    return this.#entries.length;
  }

  /** The index of the entry as of which everything is shown; -1 while there is none. */
  get moment(): number {
    return this.#moment ?? this.count - 1;
  }

  /** Whether the newest entry is shown, whatever comes. */
  get isFollowing(): boolean {
    return this.#moment === undefined;
  }

  /** Shows everything as of an entry; the newest one means to follow. */
  showMoment(index: number): void {
    const bounded = Math.max(0, Math.min(index, this.count - 1));
    this.#moment = bounded >= this.count - 1 ? undefined : bounded;
  }

  /** All runs as of the shown moment. */
  get runs(): readonly RunStory[] {
    const { moment } = this;
    if (this.#shown?.moment !== moment) {
      const story = this.isFollowing ? this.#newest : Story.of(this.#entries.slice(0, moment + 1));
      this.#shown = { moment, runs: story.runs };
    }
    return this.#shown.runs;
  }

  /** The run of the selection; the first one where that has not begun yet. */
  get run(): RunStory | undefined {
    return this.runs.find(({ runId }) => runId === this.selection?.runId) ?? this.runs[0];
  }

  /** The chart of the selection, where the recording has it. */
  get actor(): ActorStory | undefined {
    const { run, selection } = this;
    return selection === undefined ? undefined : run?.actors.get(selection.id || `run:${selection.runId}`);
  }

  /** The chart of the selected call's durable action, as the recording tells of its life. */
  get action(): ActorStory | undefined {
    const { run, call } = this;
    return call === undefined ? undefined : run?.actors.get(`action:${call.turn}:${call.callIndex}`);
  }

  /** The selected call, if a call is selected. */
  get call(): CallStory | undefined {
    const [kind, turn, place] = (this.selection?.id ?? "").split(":");
    if (kind !== "call") return undefined;
    const batch = this.run?.batches.find((each) => String(each.turn) === turn);
    return batch?.calls.find(({ callIndex }) => String(callIndex) === place);
  }

  /** The widest thing that is told of: an Agent's run, or the first response of a session. */
  #firstSelection(): Selection | undefined {
    const wide = this.lines.find(({ selection: { id } }) => id === "" || id.startsWith("batch:"));
    return (wide ?? this.lines[0])?.selection;
  }

  #lineOf(entry: RecordingEntry): LogLine {
    const { runId, timeMs } = entry.type === "event" ? entry.event : entry;
    const ids = this.#actorIds.get(runId) ?? new Map<number, string>();
    this.#actorIds.set(runId, ids);
    if (entry.type === "actor") ids.set(entry.actor, entry.id);
    const words = entryWords(entry, ids);
    return {
      ...words,
      index: this.#entries.length,
      timeMs,
      isChart: entry.type === "actor" || entry.type === "transition",
      selection: { runId, id: selectedId(words.scope) },
      searched: `${words.scope} ${words.what} ${words.text}`.toLowerCase(),
    };
  }
}

/** `1.3` is about `call:1:3`, `1 e0` about `epoch:1:0`, `1` about `batch:1`. */
function selectedId(scope: string): string {
  const call = /^(\d+)\.(\d+)$/.exec(scope);
  if (call !== null) return `call:${call[1]}:${call[2]}`;
  const epoch = /^(\d+) e(\d+)$/.exec(scope);
  if (epoch !== null) return `epoch:${epoch[1]}:${epoch[2]}`;
  return scope === "" ? "" : `batch:${scope}`;
}
