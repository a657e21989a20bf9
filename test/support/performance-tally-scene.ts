import type { GameAgentPerformanceSummary } from "toolkernel";
import { emptySummary } from "../../src/observe/performance-summary.ts";
import { playSteps, type Step } from "../observe/recorded-run.ts";

export type Expected = Partial<Omit<GameAgentPerformanceSummary, "outcomes" | "failuresByCategory" | "times">> & {
  readonly [Group in "outcomes" | "failuresByCategory" | "times"]?: Partial<GameAgentPerformanceSummary[Group]>;
};

/** A whole summary: 0 wherever nothing is named. */
export function summaryOf({ outcomes, failuresByCategory, times, ...counts }: Expected): GameAgentPerformanceSummary {
  const none = emptySummary();
  return {
    ...none,
    ...counts,
    outcomes: { ...none.outcomes, ...outcomes },
    failuresByCategory: { ...none.failuresByCategory, ...failuresByCategory },
    times: { ...none.times, ...times },
  };
}

export function tally(steps: readonly Step[]): GameAgentPerformanceSummary | undefined {
  return playSteps(steps).performance.get("run");
}
