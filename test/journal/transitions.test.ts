import { describe, expect, it } from "vitest";
import { ActionChart, ActionLife } from "../../src/actions/action-life.ts";
import { NEXT_STATES } from "../../src/journal/transitions.ts";
import { chartEdges, JOURNAL_STATES } from "./chart-edges.ts";

describe("the one list of transitions", () => {
  it("ACT-2: the chart has exactly the edges of the rule", () => {
    expect(chartEdges()).toEqual([
      "new -> prepared",
      "new -> dispatched",
      "prepared -> abandoned",
      "prepared -> dispatched",
      "abandoned -> prepared",
      "abandoned -> dispatched",
      "dispatched -> uncertain",
      "dispatched -> committed",
      "dispatched -> rejected",
      "dispatched -> failed",
      "uncertain -> committed",
      "uncertain -> rejected",
      "uncertain -> failed",
    ]);
  });

  it("ACT-2: the stores written in JavaScript go by the same edges", () => {
    const edges = Object.entries(NEXT_STATES).flatMap(([before, after]) =>
      after.map((state) => `${before} -> ${state}`),
    );
    expect(edges.sort()).toEqual(chartEdges().sort());
  });

  it("ACT-2: the dispatcher runs the same edges", () => {
    const chart = new ActionChart();
    const facts = ["QUEUED", "CLAIMED", "ABANDONED", "COMMITTED", "REJECTED", "FAILED", "LOST"] as const;
    const edges = (["new", ...JOURNAL_STATES] as const).flatMap((before) =>
      facts.flatMap((fact) => {
        const after = chart.next(before, fact);
        return after === undefined ? [] : [`${before} -> ${after}`];
      }),
    );
    expect(edges.sort()).toEqual(chartEdges().sort());
  });

  it("ACT-2: a fact that has no edge is an error, and the life stays where it was", () => {
    const life = new ActionLife(new ActionChart(), "committed");
    expect(() => life.tell("LOST")).toThrow(expect.objectContaining({ code: "KERNEL_STUCK" }));
    expect(life.state).toBe("committed");
  });
});
