import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  CASE_IDS,
  type Coverage,
  judgeCoverage,
  RULE_ID,
  readCoverage,
  readRuleIds,
} from "../../scripts/test-coverage.ts";
import { testTitles } from "../../scripts/test-titles.ts";
import { listFiles, parseSource, ROOT } from "../support/syntax.ts";

const SPEC = new URL("../shared/spec/rules.md", `file://${ROOT}`);
const CASES = new URL("../shared/cases/reports.md", `file://${ROOT}`);

function idsIn(file: URL, pattern: RegExp): string[] {
  return [...readFileSync(file, "utf8").matchAll(pattern)].map(([, id]) => String(id));
}

describe("rules and cases", () => {
  it.each(readCoverage().map((coverage) => [coverage.name, coverage] as const))(
    "%s are each held by a test, or pending in the one list that may only shrink",
    (_name, { faults }) => {
      expect(faults).toEqual([]);
    },
  );

  it("that sources and docs cite are rules that there are", () => {
    const known = new Set(readRuleIds());
    const citing = [
      ...listFiles(["src", "machines"], ".ts"),
      ...listFiles(["docs"], ".md"),
      "README.md",
      "CONTRIBUTING.md",
    ];
    const unknown = citing.flatMap((path) =>
      (existsSync(ROOT + path) ? (readFileSync(ROOT + path, "utf8").match(RULE_ID) ?? []) : [])
        .filter((id) => !known.has(id))
        .map((id) => `${path} cites ${id}`),
    );
    expect(unknown).toEqual([]);
  });

  it.skipIf(!existsSync(SPEC))("of docs/rules.md are those of the normative text (skipped where it is absent)", () => {
    expect(readRuleIds()).toEqual(idsIn(SPEC, /^\| ([A-Z]+-\d+) \|/gm));
  });

  it.skipIf(!existsSync(CASES))("cases are those of the catalogue (skipped where it is absent)", () => {
    expect(CASE_IDS).toEqual(idsIn(CASES, /^\*\*(C\d+) /gm));
  });
});

describe("the coverage check", () => {
  const judge = (text: string, pending: readonly string[] = []): Coverage =>
    judgeCoverage("rules", {
      ids: ["PREP-1", "PREP-2"],
      pattern: RULE_ID,
      pending,
      tests: [parseSource("test/x.test.ts", text)],
    });

  it("counts the tests that name an id, by their own title or that of a group around them", () => {
    const { rows, faults } = judge(`
      describe("PREP-1", () => {
        it("works", f);
        it.each([1])("works with %s, PREP-2: too", f);
        it.skipIf(c)(\`PREP-2: works with \${x}\`, f);
      });
    `);
    expect(rows).toEqual([
      { id: "PREP-1", tests: ["test/x.test.ts", "test/x.test.ts", "test/x.test.ts"], isPending: false },
      { id: "PREP-2", tests: ["test/x.test.ts", "test/x.test.ts"], isPending: false },
    ]);
    expect(faults).toEqual([]);
  });

  it("finds an id without a test, an id that there is not, and a pending one that has a test", () => {
    expect(judge('it("PREP-1: a", f); it("PREP-3: b", f);', ["PREP-1"]).faults).toEqual([
      "test/x.test.ts names PREP-3, which there is not",
      "PREP-1 has a test: take it off the pending list",
      "PREP-2 has no test",
    ]);
    expect(judge('it("PREP-1, PREP-2", f);', ["PREP-9"]).faults).toEqual([
      "PREP-9 is pending, but there is no such id",
    ]);
  });

  it("counts neither an empty group, nor a test that does not run, nor a title that only begins alike", () => {
    const skipped = "skip";
    const text = `describe("PREP-1", () => {}); it.${skipped}("PREP-2", f); it("PREP-12: c", f);`;
    expect(testTitles(parseSource("test/x.test.ts", text)).map(({ title }) => title)).toEqual(["PREP-12: c"]);
    expect(judge(text).faults).toEqual([
      "test/x.test.ts names PREP-12, which there is not",
      "PREP-1 has no test",
      "PREP-2 has no test",
    ]);
  });
});
