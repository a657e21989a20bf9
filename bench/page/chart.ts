/** The one chart: what a call costs, against what was unsafe or lost. Lower left is better in both. */
import { type BenchResults, figureOf } from "../measure/results.ts";

const WIDTH = 760;
const HEIGHT = 420;
const LEFT = 70;
const RIGHT = 150;
const TOP = 40;
const BOTTOM = 60;
const SAFETY_FIELDS = [
  "keyOverlaps",
  "barrierOverlaps",
  "lostUpdates",
  "lostResults",
  "abortLostResults",
  "abortMisreported",
];

interface Point {
  readonly name: string;
  readonly costUs: number;
  readonly unsafe: number;
}

/** An SVG; both axes are logarithmic, and nothing unsafe has a line of its own. */
export function drawChart(results: BenchResults): string {
  const points = readPoints(results);
  const costs = points.map(({ costUs }) => costUs);
  const [lowest, highest] = [Math.min(...costs, 1) / 1.5, Math.max(...costs, 10) * 1.3];
  const most = Math.max(...points.map(({ unsafe }) => unsafe), 10);
  const across = (costUs: number): number =>
    LEFT + ((WIDTH - LEFT - RIGHT) * Math.log(costUs / lowest)) / Math.log(highest / lowest);
  const up = (unsafe: number): number =>
    HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * Math.log1p(unsafe)) / Math.log1p(most * 1.5);
  const parts = [
    ...drawAxes({ across, up, lowest, highest, most }),
    ...placeLabels(points.map((point) => ({ ...point, x: across(point.costUs), y: up(point.unsafe) }))),
  ];
  return `${[OPENING, ...parts, "</svg>"].join("\n")}\n`;
}

function readPoints({ bouts }: BenchResults): Point[] {
  const calls = bouts.find(({ workload, size }) => workload === "w1" && size === "100");
  const mixed = bouts.find(({ workload }) => workload === "w3");
  return (mixed?.records ?? []).flatMap(({ contender, name }) => {
    const costUs = figureOf(calls, contender, "cpuUsPerCall");
    const unsafe = SAFETY_FIELDS.reduce((sum, field) => sum + figureOf(mixed, contender, field), 0);
    return Number.isFinite(costUs) && Number.isFinite(unsafe) ? [{ name, costUs, unsafe }] : [];
  });
}

const OPENING = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="Cost of a call against what was unsafe or lost">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
<text x="${LEFT}" y="22" font-size="15" fill="#1f2328">What a call costs, and what was unsafe or lost (lower left is better)</text>`;

interface Scale {
  readonly across: (costUs: number) => number;
  readonly up: (unsafe: number) => number;
  readonly lowest: number;
  readonly highest: number;
  readonly most: number;
}

function drawAxes({ across, up, lowest, highest, most }: Scale): string[] {
  const costTicks = [0.3, 1, 3, 10, 30, 100, 300].filter((tick) => tick > lowest && tick < highest);
  const unsafeTicks = [0, 1, 10, 100, 1_000].filter((tick) => tick <= most * 1.5);
  return [
    ...unsafeTicks.map(
      (tick) =>
        `<path d="M${LEFT} ${round(up(tick))}H${WIDTH - RIGHT}" stroke="${tick === 0 ? "#57606a" : "#d8dee4"}"/><text x="${LEFT - 8}" y="${round(up(tick) + 4)}" text-anchor="end" fill="#57606a">${tick}</text>`,
    ),
    ...costTicks.map(
      (tick) =>
        `<path d="M${round(across(tick))} ${TOP}V${HEIGHT - BOTTOM}" stroke="#d8dee4"/><text x="${round(across(tick))}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="#57606a">${tick}</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 16}" text-anchor="middle" fill="#1f2328">CPU per call in microseconds (W1, 100 calls in a response)</text>`,
    `<text transform="translate(20 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle" fill="#1f2328">unsafe overlaps and losses (W3)</text>`,
  ];
}

/** Labels that would lie on each other are moved towards the middle, one behind the other. */
function placeLabels(points: readonly (Point & { readonly x: number; readonly y: number })[]): string[] {
  const taken: { readonly x: number; readonly y: number }[] = [];
  return [...points]
    .sort((one, other) => one.x - other.x)
    .map(({ name, x, y }) => {
      const step = y < HEIGHT / 2 ? 17 : -17;
      let labelY = y + (step > 0 ? 22 : -12);
      while (taken.some((other) => Math.abs(other.x - x) < 130 && Math.abs(other.y - labelY) < 16)) labelY += step;
      taken.push({ x, y: labelY });
      const colour = name.startsWith("toolkernel") ? "#1a7f37" : "#cf222e";
      return `<circle cx="${round(x)}" cy="${round(y)}" r="6" fill="${colour}"/><text x="${round(x + 9)}" y="${round(labelY)}" fill="#1f2328">${name}</text>`;
    });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
