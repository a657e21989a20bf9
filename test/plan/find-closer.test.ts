import { describe, expect, it } from "vitest";
import { findCloser } from "../../src/plan/find-closer.ts";

const NOTHING = { isProjectionFailed: false, isTerminated: false, refusedBy: undefined } as const;
const ALL = { isProjectionFailed: true, isTerminated: true, refusedBy: "stopReason" } as const;
const settled = (...terminates: readonly boolean[]) =>
  terminates.map((terminate) => ({ result: { content: [], isError: false, outcomeUncertain: false, terminate } }));

describe("findCloser", () => {
  it.each([
    ["a receipt that could not be projected goes first", settled(true), ALL, "projectionFailed"],
    ["then a repeat", settled(true), { ...ALL, isProjectionFailed: false }, "exactToolRepeat"],
    ["then results that all terminate", settled(true, true), { ...NOTHING, refusedBy: "stopReason" }, "allTerminate"],
    [
      "then what has refused the response",
      settled(true, false),
      { ...NOTHING, refusedBy: "maxToolCalls" },
      "maxToolCalls",
    ],
    ["one result that goes on is enough", settled(false, true), NOTHING, undefined],
    ["no result at all terminates nothing", settled(), NOTHING, undefined],
  ] as const)("RUN-2: %s", (_title, results, facts, expected) => {
    expect(findCloser(results, facts)).toBe(expected);
  });
});
