import { escapeMarkup } from "../markup.ts";
import { textWidth } from "../text-width.ts";
import { countOf, shortTime } from "../wording.ts";
import { type BarPart, callTitle, glyphOf } from "./bars.ts";
import { callSentence } from "./call-words.ts";
import type { TimeColumn } from "./columns.ts";
import type { PlacedBar, TimelineLane, TimelineLayout } from "./lay-out-run.ts";
import { PATTERNS } from "./patterns.ts";

/** The four parts of a drawn run, so that a page can keep heads and names in view while the body scrolls. */
export interface DrawnRun {
  readonly head: string;
  readonly names: string;
  readonly body: string;
}

/** The height of the head in pixels: responses above, epochs below. */
export const HEAD_HEIGHT = 44;
/** The width of the column of lane names in pixels. */
export const NAMES_WIDTH = 128;

const TURN_HEIGHT = 20;
const HEAD_STYLE = { size: 11, bold: true };

/** Draws a laid out run as SVG elements, in the classes of the page's style sheet. */
export function drawRun(layout: TimelineLayout): DrawnRun {
  const { width, height, lanes, columns, rowHeight } = layout;
  const bars = lanes.flatMap((lane) => lane.bars.map((bar) => drawBar(bar, rowHeight)));
  const body = [
    PATTERNS,
    ...lanes.map((lane, index) => drawLaneGround(lane, { width, isOdd: index % 2 === 1 })),
    ...columns.map((column) => drawColumnGround(column, height)),
    ...bars,
  ];
  return {
    head: svg("tl-head", { width, height: HEAD_HEIGHT }, drawHead(columns)),
    names: svg("tl-names", { width: NAMES_WIDTH, height }, lanes.map(drawLaneName).join("")),
    body: svg("tl-body", { width, height }, body.join("")),
  };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function svg(name: string, { width, height }: Size, content: string): string {
  const size = `width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="${name}" ${size}>${content}</svg>`;
}

function drawHead(columns: readonly TimeColumn[]): string {
  const turns = new Set(columns.filter(({ kind }) => kind !== "pause").map(({ turn }) => turn));
  return [...turns].map((turn) => drawTurn(columns.filter((column) => column.turn === turn))).join("");
}

function drawTurn(all: readonly TimeColumn[]): string {
  const columns = all.filter(({ kind }) => kind !== "pause");
  const [first] = columns;
  const last = columns.at(-1);
  if (first === undefined || last === undefined) return "";
  const width = last.x + last.width - first.x;
  const calls = first.calls;
  const texts = [`response ${first.turn} · ${countOf(calls, "call")}`, `response ${first.turn}`, String(first.turn)];
  const frame = `<rect class="tl-turn" x="${round(first.x + 1)}" y="1" width="${round(width - 2)}" height="${TURN_HEIGHT - 2}" rx="4"/>`;
  const label = headText(texts, { x: first.x, width, y: 14, name: "tl-turn-text" });
  return frame + label + all.map(drawColumnHead).join("");
}

function drawColumnHead(column: TimeColumn): string {
  const { kind, epoch, calls, x, width, isBarrier, fromMs, toMs } = column;
  const time = shortTime(toMs - fromMs);
  const name = isBarrier ? `▮ barrier ${epoch}` : `epoch ${epoch}`;
  const texts: Readonly<Record<TimeColumn["kind"], readonly string[]>> = {
    prepare: [`prepare ${time}`, "prepare", "prep", ""],
    epoch: [
      `${name} · ${countOf(calls, "call")} · ${time}`,
      `${name} · ${time}`,
      name,
      `${isBarrier ? "▮" : "e"}${epoch}`,
    ],
    closing: ["", ""],
    pause: ["⋯", ""],
  };
  const tooltip = kind === "pause" ? `between responses: ${time}` : `${kind === "epoch" ? name : kind}, ${time}`;
  const label = headText(texts[kind], { x, width, y: TURN_HEIGHT + 16, name: "tl-column-text" });
  return `<g><title>${escapeMarkup(tooltip)}</title>${label}</g>`;
}

interface HeadPlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly name: string;
}

/** The longest of the texts that fits. */
function headText(texts: readonly string[], { x, y, width, name }: HeadPlace): string {
  const text = texts.find((each) => textWidth(each, HEAD_STYLE) * 1.08 + 6 <= width) ?? "";
  return `<text class="${name}" x="${round(x + width / 2)}" y="${y}">${escapeMarkup(text)}</text>`;
}

function drawLaneName({ label, y, height }: TimelineLane): string {
  const shown = label.length > 19 ? `…${label.slice(-18)}` : label;
  const line = `<line class="tl-rule" x1="0" x2="${NAMES_WIDTH}" y1="${round(y + height)}" y2="${round(y + height)}"/>`;
  return `<g><title>${escapeMarkup(label)}</title><text class="tl-name" x="8" y="${round(y + 17)}">${escapeMarkup(shown)}</text>${line}</g>`;
}

function drawLaneGround({ y, height }: TimelineLane, { width, isOdd }: { width: number; isOdd: boolean }): string {
  return `<rect class="tl-lane${isOdd ? " tl-odd" : ""}" x="0" y="${round(y)}" width="${round(width)}" height="${round(height)}"/>`;
}

function drawColumnGround({ kind, x, width, isBarrier }: TimeColumn, height: number): string {
  const name = isBarrier ? "tl-barrier" : `tl-${kind}`;
  const ground = `<rect class="tl-column ${name}" x="${round(x)}" y="0" width="${round(width)}" height="${round(height)}"/>`;
  const edge = `<line class="tl-edge" x1="${round(x)}" x2="${round(x)}" y1="0" y2="${round(height)}"/>`;
  return ground + edge;
}

function drawBar(bar: PlacedBar, rowHeight: number): string {
  const { call, mark, parts, label, isShadow } = bar;
  const height = rowHeight - 5;
  const shapes = parts.map((part) => drawPart(part, { y: bar.y, height, bar })).join("");
  const base = bar.y + height / 2 + 4;
  const place = label?.isInside === true ? "tl-inside" : "tl-beside";
  const text =
    label === undefined
      ? ""
      : `<text class="tl-label ${place}" x="${round(label.x)}" y="${round(base)}">${escapeMarkup(label.text)}</text>`;
  if (isShadow) {
    const title = escapeMarkup(`${callTitle(call)} holds this lane too`);
    return `<g class="tl-shadow tl-${mark}"><title>${title}</title>${shapes}${text}</g>`;
  }
  const sentence = escapeMarkup(callSentence(call));
  const names = `class="tl-call tl-${mark}${call.isWrite === true ? " tl-write" : ""}"`;
  const role = `role="button" tabindex="-1" aria-label="${sentence}"`;
  return `<g ${names} data-call="${escapeMarkup(callKey(call))}" ${role}><title>${sentence}</title>${shapes}${text}</g>`;
}

/** Names a call among all calls of a report. */
export function callKey({ runId, turn, callIndex }: { runId: string; turn: number; callIndex: number }): string {
  return `${runId}/${turn}/${callIndex}`;
}

interface PartPlace {
  readonly y: number;
  readonly height: number;
  readonly bar: PlacedBar;
}

function drawPart({ kind, x, width }: BarPart, { y, height, bar }: PartPlace): string {
  const middle = y + height / 2;
  switch (kind) {
    case "barrier":
      return `<line class="tl-wait-barrier" x1="${round(x)}" x2="${round(x + width)}" y1="${round(middle)}" y2="${round(middle)}"/>`;
    case "late":
      return `<line class="tl-late" x1="${round(x)}" x2="${round(x + width)}" y1="${round(middle)}" y2="${round(middle)}"/>`;
    case "key":
    case "slot":
      return `<rect class="tl-wait-${kind}" x="${round(x)}" y="${round(y + height * 0.22)}" width="${round(width)}" height="${round(height * 0.56)}"/>`;
    case "run":
    case "sign":
      return drawRunPart({ kind, x, width }, { y, height, bar });
  }
}

function drawRunPart({ x, width }: BarPart, { y, height, bar }: PartPlace): string {
  const place = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="4"`;
  const glyph = glyphOf(bar);
  const sign =
    glyph === undefined
      ? ""
      : `<text class="tl-glyph" x="${round(x + 8.5)}" y="${round(y + height / 2 + 4)}">${glyph}</text>`;
  const texture = bar.isShadow ? "" : `<rect class="tl-texture" ${place}/>`;
  return `<rect class="tl-run" ${place}/>${texture}${sign}`;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
