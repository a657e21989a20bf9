import { type ChartModel, transitionText } from "../../src/inspect/charts/chart-model.ts";
import { escapeMarkup } from "../../src/inspect/markup.ts";
import { textWidth } from "../../src/inspect/text-width.ts";
import { PADDING, type Span, STYLES, type TextBox } from "./chart-boxes.ts";
import type { Area, ChartLayout, PlacedEdge, PlacedState, Point } from "./lay-out-chart.ts";

const MARGIN = 20;
const LEGEND_HEIGHT = 24;
const CORNER = 7;

/**
 * Draws a laid out chart. **shape**: an SVG element without a style sheet of its own (chart-style has it).
 * Every state carries its id in `data-state`, every edge `data-from`, `data-to` and `data-events`, so that a
 * page can show which is active.
 */
export function drawChart(chart: ChartModel, layout: ChartLayout): string {
  const [root] = chart.states;
  const header = headerOf(chart);
  const width = Math.ceil(Math.max(layout.width, header.width, LEGEND_WIDTH) + 2 * MARGIN);
  const height = Math.ceil(layout.height + header.height + LEGEND_HEIGHT + 2 * MARGIN);
  const shift = { x: (width - layout.width) / 2, y: MARGIN + header.height };
  const parts = [
    `<title>${escapeMarkup(`${chart.id}: ${root?.description ?? "a chart"}`)}</title>`,
    ARROW,
    `<rect class="ck-sheet" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="12"/>`,
    header.markup,
    `<g transform="translate(${round(shift.x)} ${round(shift.y)})">`,
    ...layout.states.map(drawState),
    ...layout.starts.map(({ x, y }) => `<circle class="ck-start" cx="${round(x)}" cy="${round(y)}" r="5"/>`),
    ...layout.edges.map(drawEdge),
    // Edges into a compound state may cross what it says of itself.
    ...layout.states.filter(({ state }) => state.kind === "compound").map(drawHeading),
    "</g>",
    drawLegend(height - MARGIN),
  ];
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" ${size}>\n${parts.join("\n")}\n</svg>`;
}

const ARROW =
  '<defs><marker id="ck-arrow" viewBox="0 0 10 10" refX="9" refY="5" markerUnits="userSpaceOnUse" markerWidth="8.5" markerHeight="8.5" orient="auto">' +
  '<path class="ck-arrow" d="M0 0.8 L10 5 L0 9.2 z"/></marker></defs>';

interface Header {
  readonly markup: string;
  readonly width: number;
  readonly height: number;
}

function headerOf({ id, states: [root] }: ChartModel): Header {
  const words = root?.description ?? "";
  const titleStyle = { size: 19, bold: true };
  const wordsStyle = { size: 12.5 };
  const title = `<text class="ck-heading" x="${MARGIN}" y="36"${spread(textWidth(id, titleStyle))}>${escapeMarkup(id)}</text>`;
  const line = `<text class="ck-subheading" x="${MARGIN}" y="56"${spread(textWidth(words, wordsStyle))}>${escapeMarkup(words)}</text>`;
  return {
    markup: `${title}\n${line}`,
    width: Math.max(textWidth(id, titleStyle), textWidth(words, wordsStyle)),
    height: 52,
  };
}

function drawState({ state, area, box }: PlacedState): string {
  const { x, y, width, height } = area;
  const place = (inset: number): string =>
    `x="${round(x + inset)}" y="${round(y + inset)}" width="${round(width - 2 * inset)}" height="${round(height - 2 * inset)}"`;
  const frames = [`<rect class="ck-box" ${place(0)} rx="9"/>`];
  if (state.kind === "final") frames.push(`<rect class="ck-inner" ${place(3.5)} rx="6"/>`);
  const tooltip = state.description === undefined ? state.key : `${state.key}: ${state.description}`;
  const text = state.kind === "compound" ? "" : drawText(box, { x: x + PADDING.x, y: y + PADDING.y });
  return [
    `<g class="ck-state ck-${state.kind}" data-state="${escapeMarkup(state.id)}">`,
    `<title>${escapeMarkup(tooltip)}</title>`,
    ...frames,
    text,
    "</g>",
  ].join("");
}

function drawHeading({ state, area, box }: PlacedState): string {
  const text = drawText(box, { x: area.x + PADDING.x, y: area.y + PADDING.y });
  return `<g class="ck-above" data-heading="${escapeMarkup(state.id)}">${text}</g>`;
}

function drawText({ lines }: TextBox, from: Point): string {
  let y = from.y;
  return lines
    .map(({ spans, height }) => {
      y += height;
      return spans.some(({ kind }) => kind === "tag")
        ? drawTags(spans, { x: from.x, y: y - 5 })
        : drawLine(spans, { x: from.x, y: y - 4 });
    })
    .join("");
}

function drawLine(spans: readonly Span[], { x, y }: Point): string {
  let left = x;
  return spans
    .map(({ kind, text }) => {
      const width = textWidth(text, STYLES[kind]);
      const markup = `<text class="ck-${kind}" x="${round(left)}" y="${round(y)}"${spread(width)}>${escapeMarkup(text)}</text>`;
      left += width + 4;
      return markup;
    })
    .join("");
}

function drawTags(spans: readonly Span[], { x, y }: Point): string {
  let left = x;
  return spans
    .map(({ text }) => {
      const width = textWidth(text, STYLES.tag);
      const chip = `<rect class="ck-chip" x="${round(left)}" y="${round(y - 10)}" width="${round(width + 10)}" height="14" rx="7"/>`;
      const label = `<text class="ck-tag" x="${round(left + 5)}" y="${round(y)}"${spread(width)}>${escapeMarkup(text)}</text>`;
      left += width + 14;
      return chip + label;
    })
    .join("");
}

function drawEdge({ edge, points, label }: PlacedEdge): string {
  const line = `<path class="ck-line" d="${roundedPath(points)}" marker-end="url(#ck-arrow)"/>`;
  if (edge === undefined) return `<g class="ck-edge ck-initial">${line}</g>`;
  const events = edge.transitions.map(({ event }) => event).join(" ");
  const names = `data-from="${escapeMarkup(edge.from)}" data-to="${escapeMarkup(edge.to)}" data-events="${escapeMarkup(events)}"`;
  const tooltip = `<title>${escapeMarkup(edge.transitions.map(transitionText).join("\n"))}</title>`;
  const text = label === undefined ? "" : drawLabel(label.box, label.area);
  return `<g class="ck-edge" ${names}>${tooltip}${line}${text}</g>`;
}

function drawLabel(box: TextBox, { x, y, width, height }: Area): string {
  const sheet = `<rect class="ck-label" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="4"/>`;
  return sheet + drawText(box, { x: x + 5, y: y + 3 });
}

/** Straight parts with rounded corners. */
function roundedPath(points: readonly Point[]): string {
  const [first, ...others] = points;
  if (first === undefined) return "";
  const corners = others.slice(0, -1).map((corner, index) => {
    const before = points[index] ?? corner;
    const after = points[index + 2] ?? corner;
    const size = Math.min(CORNER, distance(before, corner) / 2, distance(corner, after) / 2);
    return `L${at(towards(corner, before, size))} Q${at(corner)} ${at(towards(corner, after, size))}`;
  });
  return [`M${at(first)}`, ...corners, `L${at(others.at(-1) ?? first)}`].join(" ");
}

function towards(from: Point, to: Point, length: number): Point {
  const share = length / (distance(from, to) || 1);
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

function distance(from: Point, to: Point): number {
  return Math.hypot(to.x - from.x, to.y - from.y);
}

function at({ x, y }: Point): string {
  return `${round(x)} ${round(y)}`;
}

const LEGEND: readonly Span[] = [
  { kind: "event", text: "EVENT" },
  { kind: "guard", text: "[guard]" },
  { kind: "action", text: "/ action" },
  { kind: "words", text: "·  numbered guards are tried in that order  ·  double frame: final state" },
];
const LEGEND_WIDTH = LEGEND.reduce((sum, { kind, text }) => sum + textWidth(text, STYLES[kind]) + 4, 0);

function drawLegend(y: number): string {
  return `<g class="ck-legend">${drawLine(LEGEND, { x: MARGIN, y: y + 2 })}</g>`;
}

/** Says how wide a text is meant to be, whatever font the viewer has. */
function spread(width: number): string {
  return ` textLength="${round(width)}" lengthAdjust="spacingAndGlyphs"`;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
