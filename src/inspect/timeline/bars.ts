import type { CallStory } from "../story/call-story.ts";
import { textWidth } from "../text-width.ts";
import { placeIn, type TimeColumn } from "./columns.ts";
import { MARKS, type Mark, markOf } from "./marks.ts";

/** One stretch of a bar: what the call waited for, its run, or the sign of a call that never ran. */
export interface BarPart {
  readonly kind: "barrier" | "key" | "slot" | "run" | "sign" | "late";
  readonly x: number;
  readonly width: number;
}

/** A call as a bar over time, before it has a row. */
export interface Bar {
  readonly call: CallStory;
  readonly mark: Mark;
  readonly parts: readonly BarPart[];
  /** From where to where it takes up its row, its label included. */
  readonly from: number;
  readonly to: number;
  readonly label?: { readonly text: string; readonly x: number; readonly isInside: boolean };
  /** Whether it stands in a lane beside the one where the call is shown in full. */
  readonly isShadow: boolean;
}

/** What of the calls is shown. */
export interface BarOptions {
  readonly showWaiting: boolean;
  /** Whether every bar has room for its label, if need be beside it. */
  readonly labelsBeside: boolean;
}

const SMALLEST_RUN = 7;
const SIGN_WIDTH = 17;
const GLYPH_WIDTH = 16;
const LABEL_STYLE = { size: 11 };

/** The bar of a call in the columns of its run. */
export function barOf(call: CallStory, columns: readonly TimeColumn[], options: BarOptions): Bar | undefined {
  const own = columns.filter(({ turn, kind }) => turn === call.turn && kind !== "pause");
  const column = own.find(({ epoch, kind }) => kind === "epoch" && epoch === call.epoch) ?? lastColumn(own, call);
  if (column === undefined) return undefined;
  const mark = markOf(call);
  const run = runPart(call, column);
  const waits = options.showWaiting ? waitingParts(call, { own, column, untilX: run.x }) : [];
  const late = lateParts(call, columns, run);
  const parts = [...waits, run, ...late];
  const label = labelOf(call, run, options);
  const from = Math.min(...parts.map(({ x }) => x));
  const partsEnd = Math.max(...parts.map(({ x, width }) => x + width));
  const to = label === undefined || label.isInside ? partsEnd : Math.max(partsEnd, label.x + labelWidth(label.text));
  return { call, mark, parts, from, to, ...(label !== undefined && { label }), isShadow: false };
}

/** The same call in another of its lanes, where it keeps others waiting while it runs. */
export function shadowOf(bar: Bar): Bar | undefined {
  const parts = bar.parts.filter(({ kind }) => kind === "run");
  const [run] = parts;
  if (run === undefined) return undefined;
  const { label: _label, ...bare } = bar;
  const text = `#${bar.call.callIndex}`;
  const label = labelWidth(text) <= run.width ? { text, x: run.x + 5, isInside: true } : undefined;
  return { ...bare, parts, ...(label !== undefined && { label }), from: run.x, to: run.x + run.width, isShadow: true };
}

/** What a call is called: its number in its response and its tool. */
export function callTitle({ callIndex, toolName }: Pick<CallStory, "callIndex" | "toolName">): string {
  return `#${callIndex} ${toolName}`;
}

function lastColumn(own: readonly TimeColumn[], call: CallStory): TimeColumn | undefined {
  const endedAtMs = call.endedAtMs ?? Number.POSITIVE_INFINITY;
  return own.findLast(({ fromMs }) => fromMs <= endedAtMs) ?? own[0];
}

function runPart(call: CallStory, column: TimeColumn): BarPart {
  const { dispatchedAtMs, endedAtMs } = call;
  const edge = column.x + column.width;
  if (dispatchedAtMs === undefined) {
    const x = Math.min(placeIn(column, endedAtMs ?? column.toMs), edge - SIGN_WIDTH);
    return { kind: "sign", x: Math.max(column.x, x), width: SIGN_WIDTH };
  }
  const x = Math.min(placeIn(column, dispatchedAtMs), edge - SMALLEST_RUN);
  const width = Math.max(SMALLEST_RUN, placeIn(column, endedAtMs ?? column.toMs) - x);
  return { kind: "run", x, width };
}

interface WaitingPlace {
  readonly own: readonly TimeColumn[];
  readonly column: TimeColumn;
  readonly untilX: number;
}

function waitingParts(call: CallStory, { own, column, untilX }: WaitingPlace): readonly BarPart[] {
  const { preparedAtMs, waits } = call;
  const [prepare] = own;
  if (preparedAtMs === undefined || prepare === undefined || call.epoch === undefined) return [];
  const preparedX = placeIn(prepare, preparedAtMs);
  // Of a call that never ran nobody says what it waited for in its epoch; with keys it was those.
  const keyX = waits === undefined && call.lanes.length === 0 ? untilX : Math.min(column.x, untilX);
  const slotX = waits === undefined ? untilX : Math.min(placeIn(column, column.fromMs + waits.keyMs), untilX);
  const parts: readonly BarPart[] = [
    { kind: "barrier", x: preparedX, width: keyX - preparedX },
    { kind: "key", x: keyX, width: slotX - keyX },
    { kind: "slot", x: slotX, width: untilX - slotX },
  ];
  return parts.filter(({ width }) => width >= 1);
}

/** An executor that was given up and came back: how long it was still at work. */
function lateParts(call: CallStory, columns: readonly TimeColumn[], run: BarPart): readonly BarPart[] {
  const { lateAtMs } = call;
  if (lateAtMs === undefined) return [];
  const column = columns.findLast(({ fromMs }) => fromMs <= lateAtMs);
  const from = run.x + run.width;
  const to = column === undefined ? from : placeIn(column, lateAtMs);
  return to - from < 2 ? [] : [{ kind: "late", x: from, width: to - from }];
}

function labelOf(call: CallStory, run: BarPart, { labelsBeside }: BarOptions): Bar["label"] {
  const inside = run.x + (run.kind === "run" ? GLYPH_WIDTH : SIGN_WIDTH + 3);
  const room = run.kind === "run" ? run.width - GLYPH_WIDTH : 0;
  const title = callTitle(call);
  for (const text of [title, `#${call.callIndex}`]) {
    if (labelWidth(text) <= room) return { text, x: inside, isInside: true };
    if (labelsBeside) return { text, x: run.x + run.width + 4, isInside: false };
  }
  return undefined;
}

/** The room that a label takes up. */
export function labelWidth(text: string): number {
  return textWidth(text, LABEL_STYLE) * 1.06 + 5;
}

/** The sign of a call where its bar is wide enough for it. */
export function glyphOf(bar: Bar): string | undefined {
  const run = bar.parts.find(({ kind }) => kind === "run" || kind === "sign");
  return run === undefined || run.width < 13 || bar.isShadow ? undefined : MARKS[bar.mark].glyph;
}
