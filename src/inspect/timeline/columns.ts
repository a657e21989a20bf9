import type { CallStory } from "../story/call-story.ts";
import type { BatchStory, TimelineRun } from "../story/run-story.ts";

/** A stretch of time with a place of its own: preparing a batch, one epoch, the end of a batch, or a pause between two. */
export interface TimeColumn {
  readonly kind: "prepare" | "epoch" | "closing" | "pause";
  readonly turn: number;
  readonly epoch?: number;
  /** Whether one call keeps the epochs beside it apart. */
  readonly isBarrier: boolean;
  readonly calls: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly x: number;
  readonly width: number;
}

/** All columns of a run, side by side. */
export interface TimeColumns {
  readonly columns: readonly TimeColumn[];
  readonly width: number;
}

type Stretch = Omit<TimeColumn, "x" | "width">;

const SMALLEST_WIDTH: Readonly<Record<TimeColumn["kind"], number>> = { prepare: 26, epoch: 58, closing: 14, pause: 30 };
/** More calls need more room to be told apart. */
const WIDTH_PER_CALL = 6;

/**
 * Cuts the time of a run into columns that fill a width, or that width so many times. Within a column time runs evenly; every column has a
 * smallest width and beyond it a share by the square root of its duration, so that a short epoch beside a long
 * one is still seen, and a long one beside a short one is longer.
 */
export function layColumns(run: TimelineRun, wantedWidth: number, zoom = 1): TimeColumns {
  const stretches = withPauses(run.batches.flatMap(stretchesOf));
  const smallest = stretches.reduce((sum, stretch) => sum + smallestWidth(stretch), 0);
  const total = stretches.reduce((sum, stretch) => sum + weightOf(stretch), 0);
  const spare = Math.max(wantedWidth, smallest) * zoom - smallest;
  let x = 0;
  const columns = stretches.map((stretch) => {
    const width = smallestWidth(stretch) + (total === 0 ? 0 : (spare * weightOf(stretch)) / total);
    const column = { ...stretch, x, width };
    x += width;
    return column;
  });
  return { columns, width: x };
}

/** Where a moment lies in a column; what is outside of it lies at its edge. */
export function placeIn({ fromMs, toMs, x, width }: TimeColumn, timeMs: number): number {
  if (toMs <= fromMs) return timeMs > toMs ? x + width : x;
  const share = (timeMs - fromMs) / (toMs - fromMs);
  return x + Math.min(1, Math.max(0, share)) * width;
}

function smallestWidth({ kind, calls }: Stretch): number {
  return SMALLEST_WIDTH[kind] + (kind === "epoch" ? WIDTH_PER_CALL * calls : 0);
}

/** A pause has a width of its own, however long it was. */
function weightOf({ kind, fromMs, toMs }: Stretch): number {
  return kind === "pause" ? 0 : Math.sqrt(Math.max(0, toMs - fromMs));
}

function stretchesOf(batch: BatchStory): readonly Stretch[] {
  const { turn, startedAtMs, lastAtMs, epochs, calls } = batch;
  const base = { turn, isBarrier: false, calls: calls.length };
  const firstEpochAtMs = epochs[0]?.startedAtMs ?? lastAtMs;
  const stretches: Stretch[] = [{ ...base, kind: "prepare", fromMs: startedAtMs, toMs: firstEpochAtMs }];
  const members = epochs.map(({ epoch }) => calls.filter((call) => call.epoch === epoch));
  for (const [index, { epoch, startedAtMs: fromMs, settledAtMs }] of epochs.entries()) {
    const toMs = settledAtMs ?? epochs[index + 1]?.startedAtMs ?? lastAtMs;
    const isBarrier = keepsApart(members, index);
    stretches.push({ ...base, kind: "epoch", epoch, isBarrier, calls: members[index]?.length ?? 0, fromMs, toMs });
  }
  const endMs = stretches.at(-1)?.toMs ?? lastAtMs;
  if (epochs.length > 0 && lastAtMs > endMs)
    stretches.push({ ...base, kind: "closing", fromMs: endMs, toMs: lastAtMs });
  return stretches;
}

/**
 * Of two epochs side by side one is a call that overlaps nothing, or they would be one epoch (EPOCH-2). Several
 * calls are never that; of single ones beside each other it is the write, as no event tells the tools' marks.
 */
function keepsApart(epochs: readonly (readonly CallStory[])[], index: number): boolean {
  const [only, ...others] = epochs[index] ?? [];
  if (only === undefined || others.length > 0 || epochs.length === 1) return false;
  const isBesideSeveral = [epochs[index - 1], epochs[index + 1]].some((beside) => (beside?.length ?? 0) > 1);
  return isBesideSeveral || only.isWrite === true;
}

function withPauses(stretches: readonly Stretch[]): readonly Stretch[] {
  return stretches.flatMap((stretch, index) => {
    const before = stretches[index - 1];
    if (before === undefined || before.turn === stretch.turn) return [stretch];
    const { turn } = stretch;
    const pause = {
      kind: "pause",
      turn,
      isBarrier: false,
      calls: 0,
      fromMs: before.toMs,
      toMs: stretch.fromMs,
    } as const;
    return [pause, stretch];
  });
}
