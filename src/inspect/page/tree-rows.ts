import type { CallStory } from "../story/call-story.ts";
import type { BatchStory, EpochStory, RunStory } from "../story/run-story.ts";
import { MARKS, type Mark, markOf } from "../timeline/marks.ts";
import { countOf } from "../wording.ts";
import type { Selection } from "./inspector-model.ts";

/** One row of the tree. */
export interface TreeRow {
  readonly key: string;
  readonly selection: Selection;
  /** Depth, first 1. */
  readonly level: number;
  /** The keys of the rows it lies under, the outermost first. */
  readonly above: readonly string[];
  readonly label: string;
  /** Where its chart is, or what is known without one. */
  readonly state: string;
  readonly sign?: { readonly mark: Mark; readonly glyph: string };
  readonly hasChildren: boolean;
}

/** The rows of all runs; a call stands in its epoch, and before it has one directly in its response. */
export function treeRows(runs: readonly RunStory[]): readonly TreeRow[] {
  return runs.flatMap((run) => {
    const place = { run, above: [] };
    const own = rowOf(place, { id: "", label: `run ${run.runId}`, known: run.status ?? "", isParent: true });
    return [own, ...run.batches.flatMap((batch) => batchRows({ run, above: [own.key] }, batch))];
  });
}

interface Place {
  readonly run: RunStory;
  readonly above: readonly string[];
}

interface RowParts {
  readonly id: string;
  readonly label: string;
  /** What is known without a chart. */
  readonly known: string;
  readonly isParent: boolean;
  readonly mark?: Mark;
}

function rowOf({ run, above }: Place, { id, label, known, isParent, mark }: RowParts): TreeRow {
  const state = run.actors.get(id === "" ? `run:${run.runId}` : id)?.last?.state ?? known;
  return {
    key: `${run.runId}/${id}`,
    selection: { runId: run.runId, id },
    level: above.length + 1,
    above,
    label,
    state,
    ...(mark !== undefined && { sign: { mark, glyph: MARKS[mark].glyph } }),
    hasChildren: isParent,
  };
}

function batchRows(place: Place, batch: BatchStory): readonly TreeRow[] {
  const { turn, calls, epochs } = batch;
  const label = `response ${turn} · ${countOf(calls.length, "call")}`;
  const own = rowOf(place, { id: `batch:${turn}`, label, known: "", isParent: true });
  const below = { run: place.run, above: [...place.above, own.key] };
  const planned = new Set(epochs.map(({ epoch }) => epoch));
  const unplanned = calls.filter(({ epoch }) => epoch === undefined || !planned.has(epoch));
  return [
    own,
    ...epochs.flatMap((epoch) => epochRows(below, batch, epoch)),
    ...unplanned.map((call) => callRow(below, call)),
  ];
}

function epochRows(place: Place, { turn, calls }: BatchStory, { epoch, settledAtMs }: EpochStory): readonly TreeRow[] {
  const known = settledAtMs === undefined ? "running" : "settled";
  const own = rowOf(place, { id: `epoch:${turn}:${epoch}`, label: `epoch ${epoch}`, known, isParent: true });
  const below = { run: place.run, above: [...place.above, own.key] };
  return [own, ...calls.filter((call) => call.epoch === epoch).map((call) => callRow(below, call))];
}

function callRow(place: Place, call: CallStory): TreeRow {
  const mark = markOf(call);
  const label = `#${call.callIndex} ${call.toolName}`;
  return rowOf(place, {
    id: `call:${call.turn}:${call.callIndex}`,
    label,
    known: MARKS[mark].words,
    isParent: false,
    mark,
  });
}
