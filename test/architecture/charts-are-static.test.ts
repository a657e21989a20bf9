import { describe, expect, it } from "vitest";
import { parseSource, sourceFiles } from "../support/syntax.ts";
import { type ChartKind, chartFaults } from "./chart-form.ts";

const PURE_CHARTS = /^machines\/(?:tool-call|epoch|batch|action)\.machine\.ts$/;

const charts = sourceFiles("machines").filter(({ path }) => path.endsWith(".machine.ts"));

function faultsOf(config: string, kind: ChartKind = "pure", setup = "{}"): string[] {
  const file = parseSource("machines/x.machine.ts", `export const x = setup(${setup}).createMachine(${config});`);
  return chartFaults(file, kind);
}

describe("charts are static", () => {
  it("and there are some", () => {
    expect(charts.map(({ path }) => path)).toEqual(expect.arrayContaining(["machines/tool-call.machine.ts"]));
  });

  it.each(charts.map((chart) => [chart.path, chart] as const))(
    "%s is one literal that a machine can read",
    (path, chart) => {
      expect(chartFaults(chart, PURE_CHARTS.test(path) ? "pure" : "idiomatic")).toEqual([]);
    },
  );

  it.each(charts.map((chart) => [chart.path, chart] as const))("%s is indented with spaces", (_path, chart) => {
    expect(chart.text).not.toContain("\t");
  });
});

describe("the chart check finds", () => {
  it.each([
    ["a spread", "{ ...base }"],
    ["a spread in a state", '{ states: { a: { description: "", ...base } } }'],
    ["a computed key", "{ [key]: 1 }"],
    ["a variable", "{ initial: first }"],
    ["a variable in shorthand", "{ states }"],
    ["a helper call", "{ states: makeStates() }"],
    ["a config that is a variable", "config"],
    ["a text made at run time", "{ id: `x$" + "{1}` }"],
    ["a guard written in place", '{ on: { GO: { guard: () => true, target: "a" } } }'],
    ["an action written in place", '{ states: { a: { description: "", entry: () => {} } } }'],
    ["a method", '{ states: { a: { description: "", entry() {} } } }'],
    ["an assign in place", "{ on: { GO: { actions: assign({ a: 1 }) } } }"],
    ["a combined guard", '{ on: { GO: { guard: not("isReady"), target: "a" } } }'],
    ["a call in the context", "{ context: () => ({ id: nextId() }) }"],
    ["a block in the context", "{ context: () => { return {}; } }"],
    ["two targets", '{ on: { GO: { target: ["a", "b"] } } }'],
    ["a state without a description", "{ states: { a: {} } }"],
    ["a nested state without a description", '{ states: { a: { description: "", states: { b: {} } } } }'],
    ["an invoke", '{ states: { a: { description: "", invoke: { src: "work", id: "work" } } } }'],
    ["an after", '{ states: { a: { description: "", after: { wait: "b" } } } }'],
    ["a parallel region", '{ type: "parallel" }'],
  ])("%s", (_name, config) => {
    expect(faultsOf(config)).toHaveLength(1);
  });

  it("a spawn among the named actions", () => {
    expect(faultsOf("{}", "pure", "{ actions: { start: spawnChild('work') } }")).toHaveLength(1);
    expect(faultsOf("{}", "pure", "{ actions: { start: assign({ child: ({ spawn }) => 1 }) } }")).not.toEqual([]);
  });

  it("a spread or a variable in setup", () => {
    expect(faultsOf("{}", "pure", "{ ...shared }")).toHaveLength(1);
    expect(faultsOf("{}", "pure", "{ guards: { ...shared } }")).toHaveLength(1);
    expect(faultsOf("{}", "pure", "{ guards: shared }")).toHaveLength(1);
    expect(faultsOf("{}", "pure", "shared")).toHaveLength(1);
  });

  it("a second chart, and a file without one", () => {
    const two = "export const a = setup({}).createMachine({}); export const b = setup({}).createMachine({});";
    expect(chartFaults(parseSource("machines/x.machine.ts", two), "pure")).toHaveLength(1);
    expect(chartFaults(parseSource("machines/x.machine.ts", "export const a = 1;"), "pure")).toHaveLength(1);
    expect(
      chartFaults(parseSource("machines/x.machine.ts", "export const a = createMachine({});"), "pure"),
    ).toHaveLength(1);
  });

  it("an invoke without an id where invokes are allowed", () => {
    const invoking = (fields: string): string => `{ states: { a: { description: "", invoke: { ${fields} } } } }`;
    expect(faultsOf(invoking('src: "work"'), "idiomatic")).toHaveLength(1);
    expect(faultsOf(invoking('src: "work", id: "work"'), "idiomatic")).toEqual([]);
  });

  it("nothing wrong with names that look like keys, data functions and final states", () => {
    const config = `{
      context: ({ input }) => ({ id: input.id, count: 0, limit: -1, left: undefined }),
      on: { target: { target: ".after", actions: [{ type: "note", params: ({ event }) => ({ target: event.id }) }] } },
      states: { after: { description: "Later.", on: { invoke: "type" } }, type: { type: "final" } },
    }`;
    expect(faultsOf(config)).toEqual([]);
  });
});
