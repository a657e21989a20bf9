import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { describeScores, type FileScore, LEAST_SCORE, readKept, shownScores } from "../../scripts/mutation-report.ts";
import { ROOT } from "../support/syntax.ts";

const { scores, explained } = readKept();

describe("what mutation testing found", () => {
  it("stands in docs/mutants.md as it was counted", () => {
    expect(Object.keys(scores).length).toBeGreaterThan(0);
    expect(shownScores()).toBe(describeScores(scores, explained));
  });

  it(`is at least ${LEAST_SCORE} of a hundred`, () => {
    const all = Object.values(scores).reduce<FileScore>(
      (sum, { killed, survived }) => ({ killed: sum.killed + killed, survived: sum.survived + survived }),
      { killed: 0, survived: 0 },
    );
    expect((100 * all.killed) / (all.killed + all.survived)).toBeGreaterThanOrEqual(LEAST_SCORE);
  });

  it("is explained where a mutant lives, by text that still stands in its file", () => {
    expect(explained.filter(({ reason }) => reason.trim() === "")).toEqual([]);
    const idle = explained
      .flatMap(({ mutants }) => mutants)
      .filter(
        ({ file, original }) =>
          !readFileSync(ROOT + file, "utf8")
            .replace(/\s+/g, " ")
            .includes(original),
      );
    expect(idle).toEqual([]);
  });

  it("leaves no mutant that lives without a reason, and explains no more than live", () => {
    for (const [file, { survived }] of Object.entries(scores)) {
      const named = explained.flatMap(({ mutants }) => mutants).filter((mutant) => mutant.file === file);
      expect([file, named.length > 0]).toEqual([file, survived > 0]);
      expect([file, named.length <= survived]).toEqual([file, true]);
    }
  });
});
