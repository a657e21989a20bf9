import type { CallStory } from "../story/call-story.ts";
import type { TimelineRun } from "../story/run-story.ts";
import { type Bar, barOf, callTitle, labelWidth, shadowOf } from "./bars.ts";
import { layColumns, type TimeColumn } from "./columns.ts";

/** A bar in its row. */
export interface PlacedBar extends Bar {
  readonly y: number;
}

/** A lane, or the calls without a key. */
export interface TimelineLane {
  readonly label: string;
  readonly y: number;
  readonly height: number;
  readonly bars: readonly PlacedBar[];
}

/** A run, laid out: lanes below each other, time from left to right. */
export interface TimelineLayout {
  readonly columns: readonly TimeColumn[];
  readonly lanes: readonly TimelineLane[];
  readonly width: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly showsWaiting: boolean;
}

/** What a person can choose. */
export interface TimelineOptions {
  /** The width to fill, in pixels; narrower than the columns' smallest widths it is not obeyed. */
  readonly width: number;
  /** How many times as wide the columns are; default and at least 1. */
  readonly zoom?: number | undefined;
  /** Whether the waiting parts are shown; default for at most {@link ROOMY_CALLS} calls. */
  readonly showWaiting?: boolean | undefined;
}

/** So many calls have rows with room for a label each; more are drawn close together. */
export const ROOMY_CALLS = 80;

const ROOMY_ROW = 25;
const DENSE_ROW = 17;
const LANE_PADDING = 5;
const GAP = 4;
/** Kept free at the right at most, for labels beside the last bars. */
const MOST_LABEL_ROOM = 240;
const NO_KEY = -1;

/** Lays out a run. The same run and options give the same layout. */
export function layOutRun(run: TimelineRun, { width, zoom, showWaiting }: TimelineOptions): TimelineLayout {
  const calls = run.batches.flatMap((batch) => batch.calls);
  const isRoomy = calls.length <= ROOMY_CALLS;
  const showsWaiting = showWaiting ?? isRoomy;
  const rowHeight = isRoomy ? ROOMY_ROW : DENSE_ROW;
  const laid = layColumns(run, isRoomy ? width - labelRoom(run) : width, zoom);
  const bars = calls.flatMap((call) => {
    const bar = barOf(call, laid.columns, { showWaiting: showsWaiting, labelsBeside: isRoomy });
    return bar === undefined ? [] : [bar];
  });
  const lanes: TimelineLane[] = [];
  for (const { label, members } of groupByLane(bars, calls)) {
    const above = lanes.at(-1);
    const y = above === undefined ? 0 : above.y + above.height;
    lanes.push(placeLane(label, members, { y, rowHeight }));
  }
  const last = lanes.at(-1);
  const widest = Math.max(width, laid.width, ...bars.map(({ to }) => to + GAP));
  return {
    columns: laid.columns,
    lanes,
    width: Math.ceil(widest),
    height: last === undefined ? rowHeight : last.y + last.height,
    rowHeight,
    showsWaiting,
  };
}

/** The longest label that can stand beside a bar at the right edge: of a call of the last response. */
function labelRoom({ batches }: TimelineRun): number {
  const labels = (batches.at(-1)?.calls ?? []).map((call) => labelWidth(callTitle(call)) + 2 * GAP);
  return Math.min(MOST_LABEL_ROOM, Math.max(0, ...labels));
}

interface LaneGroup {
  readonly label: string;
  readonly members: readonly Bar[];
}

function groupByLane(bars: readonly Bar[], calls: readonly CallStory[]): readonly LaneGroup[] {
  const members = new Map<number, Bar[]>();
  for (const bar of bars) {
    const [own = NO_KEY, ...others] = bar.call.lanes;
    const shadow = shadowOf(bar);
    addTo(members, own, bar);
    for (const lane of others) if (shadow !== undefined) addTo(members, lane, shadow);
  }
  const keyed = [...members.keys()].filter((lane) => lane !== NO_KEY).sort((one, other) => one - other);
  const order = members.has(NO_KEY) ? [...keyed, NO_KEY] : keyed;
  return order.map((lane) => ({ label: laneLabel(lane, calls), members: members.get(lane) ?? [] }));
}

function addTo(members: Map<number, Bar[]>, lane: number, bar: Bar): void {
  const known = members.get(lane);
  if (known === undefined) members.set(lane, [bar]);
  else known.push(bar);
}

/** A lane by its key where that was recorded, else by its number. */
function laneLabel(lane: number, calls: readonly CallStory[]): string {
  if (lane === NO_KEY) return "no key";
  const named = calls.find(({ lanes, conflictKeys }) => conflictKeys !== undefined && lanes.includes(lane));
  return named?.conflictKeys?.[named.lanes.indexOf(lane)] ?? `lane ${lane}`;
}

interface LanePlace {
  readonly y: number;
  readonly rowHeight: number;
}

/** Each bar goes to the first row that is free where it begins. */
function placeLane(label: string, members: readonly Bar[], { y, rowHeight }: LanePlace): TimelineLane {
  const ends: number[] = [];
  const bars = [...members]
    .sort((one, other) => one.from - other.from || one.call.callIndex - other.call.callIndex)
    .map((bar) => {
      const free = ends.findIndex((end) => end + GAP <= bar.from);
      const row = free === -1 ? ends.length : free;
      ends[row] = bar.to;
      return { ...bar, y: y + LANE_PADDING + row * rowHeight };
    });
  return { label, y, height: ends.length * rowHeight + 2 * LANE_PADDING, bars };
}
