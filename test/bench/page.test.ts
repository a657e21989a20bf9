import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { BenchResults } from "../../bench/measure/results.ts";
import { drawChart } from "../../bench/page/chart.ts";
import { composePage } from "../../bench/page/page.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

describe("the page about performance", () => {
  const results = JSON.parse(read("bench/results.json")) as BenchResults;

  it("is what the results and the notes make of it", () => {
    expect(read("docs/performance.md")).toBe(composePage(results, read("bench/page/notes.md")));
  });

  it("shows the chart of the same results", () => {
    expect(read("docs/performance.svg")).toBe(drawChart(results));
  });

  it("has figures of every contender", () => {
    const failed = results.bouts.flatMap(({ records }) => records.filter(({ samples }) => samples.length === 0));
    expect(failed).toEqual([]);
  });
});
