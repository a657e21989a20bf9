import { type BenchResults, type BoutResult, figureOf, ratioOf } from "../measure/results.ts";
import { type Bar, show } from "./bars.ts";

/** The bars as a Markdown table. */
export function barTable(bars: readonly Bar[]): string {
  const rows = bars.map(({ figure, bar, measured, isReached }) => [
    figure,
    bar,
    measured,
    isReached ? "yes" : "**no**",
  ]);
  return table(["figure", "bar", "measured", "reached"], rows);
}

/** CPU per call of every contender, in every size of W1. */
export function callTable({ bouts }: BenchResults): string {
  const sizes = bouts.filter(({ workload }) => workload === "w1");
  const records = sizes[0]?.records ?? [];
  const rows = records.map(({ contender, name }) => [
    name,
    ...sizes.map((bout) => {
      const ratio = ratioOf(bout, [contender, "pi"], "cpuUsPerCall");
      return `${show(figureOf(bout, contender, "cpuUsPerCall"))} us (${show(ratio)})`;
    }),
  ]);
  return table(["CPU per call (in units of pi-agent-core)", ...sizes.map(({ size }) => `N = ${size}`)], rows);
}

/** One workload: a row per contender, a column per field. */
export function fieldTable(bout: BoutResult | undefined, columns: readonly (readonly [string, string])[]): string {
  const rows = (bout?.records ?? []).map(({ contender, name }) => [
    name,
    ...columns.map(([field]) => show(figureOf(bout, contender, field))),
  ]);
  return table(["", ...columns.map(([, title]) => title)], rows);
}

/** CPU of W4, in units of bare. */
export function largeTable({ bouts }: BenchResults): string {
  const sizes = bouts.filter(({ workload }) => workload === "w4");
  const rows = (sizes[0]?.records ?? []).map(({ contender, name }) => [
    name,
    ...sizes.map((bout) => {
      const ratio = ratioOf(bout, [contender, "bare"], "cpuUsPerCall");
      return `${show(figureOf(bout, contender, "cpuUsPerCall"))} us (${show(ratio)})`;
    }),
  ]);
  const titles = sizes.map(({ size }) => size.replace(":", ", ").replace("000000", " MB").replace("00000", "00 KB"));
  return table(["CPU per call (in units of bare)", ...titles], rows);
}

/** A Markdown table. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(titles), line(titles.map(() => "---")), ...rows.map(line)].join("\n");
}
