import { chartPicture } from "toolkernel/inspect";
import { describe, expect, it } from "vitest";
import { createMachine, setup } from "xstate";
import { chartMermaid } from "../../src/inspect/charts/chart-mermaid.ts";
import { readChart, transitionText } from "../../src/inspect/charts/chart-model.ts";
import { CHART_NAMES, CHARTS } from "../../src/inspect/charts/charts.ts";
import { wrapWords } from "../../src/inspect/charts/wrap-words.ts";

const kettle = setup({
  guards: { isFull: () => true, isWarm: () => true },
  actions: { beep: () => undefined, note: () => undefined, glow: () => undefined },
}).createMachine({
  id: "kettle",
  initial: "idle",
  states: {
    idle: {
      description: "Waits; cold.",
      on: {
        START: [
          { guard: "isWarm", target: "hot" },
          { guard: "isFull", target: "heating", actions: "note" },
          { target: "hot" },
        ],
      },
    },
    heating: {
      entry: "glow",
      exit: "beep",
      initial: "slow",
      on: { STOP: "idle", TICK: { actions: ["note", "beep"] } },
      states: { slow: { on: { FASTER: "fast" } }, fast: { on: { DONE: "#kettle.hot" } } },
    },
    hot: { type: "final", tags: ["ended"] },
  },
});

describe("the model of a chart", () => {
  const chart = readChart(kettle);

  it("holds the states with what stands in them, parents first", () => {
    expect(chart.states.map(({ id, kind, parent, initial }) => [id, kind, parent, initial])).toEqual([
      ["kettle", "compound", undefined, "kettle.idle"],
      ["kettle.idle", "atomic", "kettle", undefined],
      ["kettle.heating", "compound", "kettle", "kettle.heating.slow"],
      ["kettle.heating.slow", "atomic", "kettle.heating", undefined],
      ["kettle.heating.fast", "atomic", "kettle.heating", undefined],
      ["kettle.hot", "final", "kettle", undefined],
    ]);
    const heating = chart.states[2];
    expect([heating?.entry, heating?.exit, heating?.internal.map(transitionText)]).toEqual([
      ["glow"],
      ["beep"],
      ["TICK / note, beep"],
    ]);
    expect(chart.states[5]?.tags).toEqual(["ended"]);
  });

  it("merges transitions between the same states, and numbers guards where more than two are tried", () => {
    expect(chart.edges.map(({ from, to, transitions }) => [from, to, transitions.map(transitionText)])).toEqual([
      ["kettle.idle", "kettle.hot", ["START [1. isWarm]", "START [3. else]"]],
      ["kettle.idle", "kettle.heating", ["START [2. isFull] / note"]],
      ["kettle.heating", "kettle.idle", ["STOP"]],
      ["kettle.heating.slow", "kettle.heating.fast", ["FASTER"]],
      ["kettle.heating.fast", "kettle.hot", ["DONE"]],
    ]);
  });

  it("becomes Mermaid text in which nothing is read as syntax", () => {
    expect(chartMermaid(chart)).toBe(`stateDiagram-v2
  direction TB
  [*] --> kettle_idle
  state "idle" as kettle_idle
  kettle_idle : Waits#59; cold.
  state "heating (entry / glow) (exit / beep) (TICK / note, beep)" as kettle_heating {
    [*] --> kettle_heating_slow
    state "slow" as kettle_heating_slow
    state "fast" as kettle_heating_fast
  }
  state "hot" as kettle_hot
  kettle_hot : tag / ended
  kettle_hot --> [*]
  kettle_idle --> kettle_hot : START [1. isWarm]<br/>START [3. else]
  kettle_idle --> kettle_heating : START [2. isFull] / note
  kettle_heating --> kettle_idle : STOP
  kettle_heating_slow --> kettle_heating_fast : FASTER
  kettle_heating_fast --> kettle_hot : DONE
`);
  });
});

describe("chartPicture", () => {
  it.each(CHART_NAMES)("gives the machine's own config of the %s chart as JSON", (name) => {
    expect(JSON.parse(chartPicture(name, "json"))).toEqual(JSON.parse(JSON.stringify(CHARTS[name].config)));
  });

  it.each(CHART_NAMES)("gives JSON that XState makes the %s chart of again, as Stately's editor does", (name) => {
    const machine = createMachine(JSON.parse(chartPicture(name, "json")));
    expect(readChart(machine)).toEqual(readChart(CHARTS[name]));
  });

  it.each(CHART_NAMES)("gives an SVG of the %s chart that knows light and dark", (name) => {
    const svg = chartPicture(name, "svg");
    expect(svg).toMatch(/^<svg [^>]+>\n<style>/);
    expect(svg).toContain("prefers-color-scheme: dark");
    expect(svg.endsWith("</svg>\n")).toBe(true);
  });

  it.each(CHART_NAMES)("gives Mermaid text of the %s chart that names every state", (name) => {
    const text = chartPicture(name, "mermaid");
    const keys = readChart(CHARTS[name])
      .states.slice(1)
      .map(({ key }) => key);
    expect(keys.filter((key) => !text.includes(`state "${key}`))).toEqual([]);
  });
});

describe("words are wrapped", () => {
  it("between words, at most so long, and a longer word stands alone", () => {
    expect(wrapWords("to be or notwithstandingly be", 8)).toEqual(["to be or", "notwithstandingly", "be"]);
    expect(wrapWords("", 8)).toEqual([]);
  });
});
