import { escapeMarkup } from "../markup.ts";
import type { CallStory } from "../story/call-story.ts";
import type { TimelineRun } from "../story/run-story.ts";
import { countOf, shortTime } from "../wording.ts";
import { drawRun } from "./draw-run.ts";
import { layOutRun, type TimelineOptions } from "./lay-out-run.ts";
import { countMarks, MARKS, type Mark, markOf } from "./marks.ts";

/** The scrolling part of a run's timeline: lane names and heads stay in view beside the drawing. */
export function timelineGrid(run: TimelineRun, options: TimelineOptions): string {
  const { head, names, body } = drawRun(layOutRun(run, options));
  return [
    '<div class="tl-grid">',
    '<div class="tl-corner">lane</div>',
    `<div class="tl-head-cell">${head}</div>`,
    `<div class="tl-names-cell">${names}</div>`,
    `<div class="tl-body-cell">${body}</div>`,
    "</div>",
  ].join("");
}

/** A run in one line of words. */
export function runWords(run: TimelineRun): string {
  const calls = callsOf(run);
  const epochs = run.batches.reduce((sum, { epochs: own }) => sum + own.length, 0);
  const ended =
    run.status === undefined ? [] : [run.endedBy === undefined ? run.status : `${run.status} (${run.endedBy})`];
  const parts = [
    countOf(run.batches.length, "response"),
    countOf(calls.length, "call"),
    countOf(epochs, "epoch"),
    shortTime(run.lastAtMs - run.startedAtMs),
    ...ended,
  ];
  return parts.join(" · ");
}

/** The calls of a run, in the order in which the model made them. */
export function callsOf(run: TimelineRun): readonly CallStory[] {
  return run.batches.flatMap(({ calls }) => calls);
}

/** How many calls ended how, each with its sign. */
export function markChips(calls: readonly CallStory[]): string {
  const chips = countMarks(calls).map(([mark, count]) => `<li>${markSign(mark)}${count} ${MARKS[mark].words}</li>`);
  return `<ul class="chips" aria-label="How the calls ended">${chips.join("")}</ul>`;
}

/** The sign of a mark, as it stands in its bars. */
export function markSign(mark: Mark): string {
  return `<span class="sign sign-${mark}" aria-hidden="true">${MARKS[mark].glyph}</span>`;
}

/** Every call in a row of a table: the same as the drawing, for those who do not look at drawings. */
export function callTable(calls: readonly CallStory[]): string {
  const heads = ["response", "call", "tool", "epoch", "lanes", "waited", "ran", "outcome"];
  const rows = calls.map((call) => {
    const { turn, callIndex, toolName, epoch, lanes, waits, durationMs } = call;
    const waited = waits === undefined ? "" : shortTime(waits.barrierMs + waits.keyMs + waits.queueMs);
    const cells = [turn, `#${callIndex}`, toolName, epoch ?? "", lanes.join(", "), waited];
    const ran = durationMs === undefined ? "" : shortTime(durationMs);
    const mark = markOf(call);
    const text = [...cells, ran].map((cell) => `<td>${escapeMarkup(String(cell))}</td>`).join("");
    return `<tr>${text}<td>${markSign(mark)} ${MARKS[mark].words}</td></tr>`;
  });
  const headCells = heads.map((name) => `<th scope="col">${name}</th>`).join("");
  return `<table class="calls"><thead><tr>${headCells}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

/** What the shapes and textures mean. */
export function legend(): string {
  const waits = [
    ["barrier", "waits for its epoch"],
    ["key", "waits for its keys"],
    ["slot", "waits for a slot, or until its start is recorded"],
  ] as const;
  const swatches = waits.map(([kind, words]) => `<li><i class="swatch swatch-${kind}"></i>${words}</li>`);
  const kinds = [
    '<li><i class="swatch swatch-read"></i>read runs</li>',
    '<li><i class="swatch swatch-write"></i>write runs (thick edge)</li>',
    '<li><i class="swatch swatch-ground"></i>barrier: one call alone</li>',
  ];
  const marks = Object.entries(MARKS).map(([mark, { words }]) => `<li>${markSign(mark as Mark)}${words}</li>`); // the table's own keys
  return `<ul class="legend" aria-label="Legend">${[...swatches, ...kinds, ...marks].join("")}</ul>`;
}
