import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type GeneratedFile, generateFiles } from "../../scripts/viz/generate-files.ts";
import { readChart } from "../../src/inspect/charts/chart-model.ts";
import { CHART_NAMES, CHARTS } from "../../src/inspect/charts/charts.ts";
import { listFiles, ROOT } from "../support/syntax.ts";

const files = await generateFiles();

function textOf(path: string): string {
  return files.find((file) => file.path === path)?.text ?? "";
}

describe("what is drawn from the charts", () => {
  it.each(files.map(({ path, text }): [string, string] => [path, text]))(
    "%s is as the charts and its sources are now (else: npm run viz)",
    (path, text) => {
      expect(readFileSync(ROOT + path, "utf8") === text).toBe(true);
    },
  );

  it("is all there is in visualizations/, beside the README and screenshots", () => {
    const others = listFiles(["visualizations"], "").filter((path) => !files.some((file) => file.path === path));
    expect(others.filter((path) => !/\/(?:README\.md|screenshots\/[\w-]+\.png)$/.test(path))).toEqual([]);
  });

  it("is the same when it is made again", async () => {
    const again: readonly GeneratedFile[] = await generateFiles();
    expect(again.filter(({ path, text }) => text !== textOf(path)).map(({ path }) => path)).toEqual([]);
  });
});

describe.each(CHART_NAMES)("the drawing of the %s chart", (name) => {
  const chart = readChart(CHARTS[name]);
  const svg = textOf(`visualizations/${name}.svg`);

  it("shows every state, with its description as tooltip", () => {
    const shown = [...svg.matchAll(/data-state="([^"]+)"><title>([^<]*)<\/title>/g)].map(([, id, words]) => [
      id,
      words,
    ]);
    const expected = chart.states
      .slice(1)
      .map(({ id, key, description }) => [
        id,
        description === undefined ? key : `${key}: ${description.replaceAll("'", "&#39;")}`,
      ]);
    expect(shown.sort()).toEqual(expected.sort());
  });

  it("shows every way between states, with all its events", () => {
    const shown = [...svg.matchAll(/data-from="([^"]+)" data-to="([^"]+)" data-events="([^"]+)"/g)].map((match) =>
      match.slice(1, 4),
    );
    const expected = chart.edges.map(({ from, to, transitions }) => [
      from,
      to,
      transitions.map(({ event }) => event).join(" "),
    ]);
    expect(shown.sort()).toEqual(expected.sort());
  });

  it("names every guard and action that stands in the chart", () => {
    const names = chart.edges.flatMap(({ transitions }) =>
      transitions.flatMap(({ guard, actions }) => [...(guard === undefined ? [] : [guard]), ...actions]),
    );
    const missing = [...names, ...chart.states.flatMap(({ entry, exit }) => [...entry, ...exit])].filter(
      (each) => !svg.includes(each),
    );
    expect(missing).toEqual([]);
  });

  it("asks for nothing from outside, and runs nothing", () => {
    expect(svg.match(/<script|href=|url\((?!#)|@import|<image/g)).toBeNull();
  });

  it("holds all its text within the sheet", () => {
    const [, width = 0] = (/viewBox="0 0 (\d+) \d+"/.exec(svg) ?? []).map(Number);
    const ends = [...svg.matchAll(/x="([\d.]+)" y="[\d.]+" textLength="([\d.]+)"/g)].map(
      ([, x, length]) => Number(x) + Number(length),
    );
    expect(ends.length).toBeGreaterThan(chart.states.length);
    expect(Math.max(...ends)).toBeLessThan(width);
  });
});
