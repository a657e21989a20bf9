import type { KernelEvent } from "toolkernel";
import { readRecording } from "toolkernel/inspect";
import { describe, expect, it } from "vitest";
import { Story, type TimelineRun } from "../../src/inspect/story/run-story.ts";
import { layColumns, placeIn } from "../../src/inspect/timeline/columns.ts";
import { layOutRun, type PlacedBar, type TimelineLayout } from "../../src/inspect/timeline/lay-out-run.ts";
import { MARK_NAMES, MARKS } from "../../src/inspect/timeline/marks.ts";
import { PATTERNS } from "../../src/inspect/timeline/patterns.ts";
import { MIXED, runOf } from "../support/timeline-scene.ts";
import { manyCalls, playBatches } from "./play-batches.ts";

const WIDTH = 1_000;

function barsOf({ lanes }: TimelineLayout): readonly PlacedBar[] {
  return lanes.flatMap(({ bars }) => bars);
}

/** `1.2`, in brackets where the call is shown in full elsewhere. */
function nameOf({ call, isShadow }: PlacedBar): string {
  const name = `${call.turn}.${call.callIndex}`;
  return isShadow ? `(${name})` : name;
}

function overlaps({ lanes }: TimelineLayout): readonly string[] {
  return lanes.flatMap(({ label, bars }) =>
    bars.flatMap((bar, index) =>
      bars
        .slice(index + 1)
        .filter((other) => other.y === bar.y && other.from < bar.to && bar.from < other.to)
        .map((other) => `${label}: #${bar.call.callIndex} and #${other.call.callIndex}`),
    ),
  );
}

/** One response of epochs, each given by its calls. */
function runOfEpochs(epochs: readonly string[]): TimelineRun {
  const story = new Story();
  let seq = 0;
  let callIndex = 0;
  const tell = (fields: object): void =>
    story.addEvent({ seq: seq++, timeMs: seq, runId: "r", turn: 1, audience: "internal", ...fields } as KernelEvent);
  const dispatches = epochs.map((epoch) => {
    return epoch.split(", ").map((name) => {
      const call = { callId: `c${callIndex}`, callIndex, toolName: name, operationId: "", isWrite: name === "write" };
      callIndex += 1;
      tell({ kind: "toolPrepared", ...call, conflictKeys: [] });
      return call;
    });
  });
  for (const [epoch, calls] of dispatches.entries()) {
    tell({ kind: "epochStarted", epoch, callIds: calls.map(({ callId }) => callId) });
    for (const call of calls)
      tell({ kind: "toolDispatched", ...call, epoch, waitedMs: 0, barrierMs: 0, keyMs: 0, queueMs: 0 });
    tell({ kind: "epochSettled", epoch });
  }
  const [run] = story.runs;
  if (run === undefined) throw new Error("no run was told of");
  return run;
}

describe("the columns of a timeline", () => {
  it("EPOCH-2: are the epochs of each response, the write that has one to itself as barrier", async () => {
    const { columns } = layColumns(await runOf(MIXED), WIDTH);
    expect(columns.map(({ kind, turn, epoch, isBarrier, calls }) => [kind, turn, epoch, isBarrier, calls])).toEqual([
      ["prepare", 1, undefined, false, 6],
      ["epoch", 1, 0, false, 3],
      ["epoch", 1, 1, true, 1],
      ["epoch", 1, 2, false, 1],
      ["pause", 2, undefined, false, 0],
      ["prepare", 2, undefined, false, 2],
      ["epoch", 2, 0, false, 2],
    ]);
  });

  it.each([
    ["a read that overlaps nothing", ["read, read", "lone read", "read, read"], [false, true, false]],
    ["the write among single calls", ["read", "write", "read"], [false, true, false]],
    ["nothing where there is one epoch", ["write"], [false]],
    ["nothing where several overlap", ["read, read"], [false]],
  ])("EPOCH-2: show as barrier %s", (_what, epochs, barriers) => {
    const { columns } = layColumns(runOfEpochs(epochs), WIDTH);
    expect(columns.filter(({ kind }) => kind === "epoch").map(({ isBarrier }) => isBarrier)).toEqual(barriers);
  });

  it("lie side by side and fill the width, a longer one wider than a shorter one", async () => {
    const { columns, width } = layColumns(await runOf(MIXED), WIDTH);
    expect(width).toBeCloseTo(WIDTH, 6);
    for (const [index, { x, width: own }] of columns.entries()) {
      expect(columns[index + 1]?.x ?? WIDTH).toBeCloseTo(x + own, 6);
    }
    const [long, short] = [columns[2], columns[3]].map((column) => column?.width ?? 0);
    expect(long).toBeGreaterThan(short ?? 0);
  });

  it("place a moment evenly, and what is outside of them at their edge", () => {
    const column = {
      kind: "epoch",
      turn: 1,
      isBarrier: false,
      calls: 1,
      fromMs: 100,
      toMs: 200,
      x: 50,
      width: 80,
    } as const;
    expect([50, 100, 150, 200, 300].map((timeMs) => placeIn(column, timeMs))).toEqual([50, 50, 90, 130, 130]);
  });
});

describe("the bars of a timeline", () => {
  it("show what a call waited for, one part after the other, then its run", async () => {
    const bars = barsOf(layOutRun(await runOf(MIXED), { width: WIDTH }));
    const parts = (name: string): readonly string[] =>
      bars.filter((bar) => nameOf(bar) === name).flatMap((bar) => bar.parts.map(({ kind }) => kind));
    expect(["1.0", "1.2", "1.3", "1.5", "(1.2)"].map(parts)).toEqual([
      ["barrier", "run"],
      ["barrier", "key", "run"],
      ["barrier", "run"],
      ["sign"],
      ["run"],
    ]);
    for (const bar of bars) {
      for (const [index, part] of bar.parts.entries()) {
        const next = bar.parts[index + 1];
        if (next !== undefined) expect(part.x + part.width).toBeLessThanOrEqual(next.x + 1);
      }
    }
  });

  it("EPOCH-4: stand in every lane of their call, in full in one of them", async () => {
    const { lanes } = layOutRun(await runOf(MIXED), { width: WIDTH });
    expect(lanes.map(({ label, bars }) => [label, bars.map(nameOf)])).toEqual([
      ["lane 0", ["1.1", "1.2"]],
      ["lane 1", ["1.3", "1.4", "(1.2)"]],
      ["lane 2", ["2.0", "2.1"]],
      ["no key", ["1.0", "1.5"]],
    ]);
  });

  it("of five calls all have their label, and none covers another", async () => {
    const layout = layOutRun(await runOf([manyCalls(5)[0] ?? []]), { width: WIDTH });
    expect(overlaps(layout)).toEqual([]);
    const labels = barsOf(layout).map(({ label }) => label?.text);
    expect(labels.sort()).toEqual(["#0 edit", "#1 read", "#2 read", "#3 edit", "#4 read"]);
  });

  it("of 500 calls all are there, none covers another, and all are wide enough to be hit", async () => {
    const run = await runOf(manyCalls(500));
    for (const showWaiting of [true, false, undefined]) {
      const layout = layOutRun(run, { width: WIDTH, showWaiting });
      expect(overlaps(layout)).toEqual([]);
      expect(barsOf(layout).filter(({ isShadow }) => !isShadow)).toHaveLength(500);
      expect(Math.min(...barsOf(layout).map(({ from, to }) => to - from))).toBeGreaterThanOrEqual(7);
      expect(barsOf(layout).every(({ y }) => y + layout.rowHeight <= layout.height)).toBe(true);
    }
  });

  it("that have not ended reach to the newest entry", async () => {
    const { entries } = readRecording(
      await playBatches([
        [
          { tool: "edit", keys: ["a"], ms: 40 },
          { tool: "edit", keys: ["a"] },
        ],
      ]),
    );
    const until = entries.findIndex((entry) => entry.type === "event" && entry.event.kind === "toolEnded");
    const [run] = Story.of(entries.slice(0, until)).runs;
    const marks = run === undefined ? [] : barsOf(layOutRun(run, { width: WIDTH })).map(({ mark }) => mark);
    expect(marks.sort()).toEqual(["running", "waiting"]);
  });
});

describe("marks are told apart without colour", () => {
  it("by a sign of their own each", () => {
    expect(new Set(MARK_NAMES.map((mark) => MARKS[mark].glyph)).size).toBe(MARK_NAMES.length);
  });

  it("and by a texture: of all that ran or did not, only the good one and the waiting one are plain", () => {
    const textured = MARK_NAMES.filter((mark) => PATTERNS.includes(`id="tl-texture-${mark}"`));
    expect(MARK_NAMES.filter((mark) => !textured.includes(mark))).toEqual(["succeeded", "waiting"]);
    const paths = [...PATTERNS.matchAll(/ d="([^"]+)"/g)].map(([, path]) => path);
    expect(new Set(paths).size).toBe(paths.length);
  });
});
