import { readFileSync } from "node:fs";
import { ROOT, type SourceFile, sourceFiles } from "../test/support/syntax.ts";
import { testTitles } from "./test-titles.ts";

/** What tests hold of one list of ids. */
export interface Coverage {
  readonly name: "rules" | "cases";
  readonly rows: readonly CoverageRow[];
  /** Sentences about ids without a test, or with one though they are listed as pending. */
  readonly faults: readonly string[];
}

/** One id; `tests` has the file of each test that names it. */
export interface CoverageRow {
  readonly id: string;
  readonly tests: readonly string[];
  readonly isPending: boolean;
}

/** Ids of the case catalogue: what users of other runtimes reported, each a test by its number. */
export const CASE_IDS: readonly string[] = [
  ...["C01", "C03", "C04", "C06", "C07", "C09", "C10", "C12", "C13", "C15", "C16", "C18", "C19", "C21", "C22", "C24"],
  ...["C25", "C27", "C28", "C30", "C31", "C33", "C34", "C36", "C37", "C39", "C40", "C42", "C43", "C45", "C46", "C48"],
  ...["C49", "C51", "C52", "C54", "C55", "C57", "C58", "C60", "C61", "C63", "C64", "C66", "C67", "C69", "C70", "C72"],
  ...["C73", "C75"],
];

/** What an id of a rule looks like, anywhere in a text. */
export const RULE_ID = /\b(?:PREP|EPOCH|UNC|CAN|ACT|PROJ|REP|RUN|APP|OBS)-\d+\b/g;

const CASE_ID = /\bC\d{2}\b/g;

/** The ids of docs/rules.md, in its order. */
export function readRuleIds(): string[] {
  const text = readFileSync(`${ROOT}docs/rules.md`, "utf8");
  return [...text.matchAll(/^\| ([A-Z]+-\d+) +\|/gm)].map(([, id]) => String(id));
}

/** Reads the tests of the project and says what they hold: first the rules, then the cases. */
export function readCoverage(): Coverage[] {
  const tests = sourceFiles("test").filter(({ path }) => path.endsWith(".test.ts"));
  return [
    judgeCoverage("rules", {
      ids: readRuleIds(),
      pattern: RULE_ID,
      pending: readPending("test/rules-pending.json"),
      tests,
    }),
    judgeCoverage("cases", { ids: CASE_IDS, pattern: CASE_ID, pending: readPending("test/cases-pending.json"), tests }),
  ];
}

/** What {@link judgeCoverage} needs to know. */
export interface CoverageInput {
  readonly ids: readonly string[];
  readonly pattern: RegExp;
  readonly pending: readonly string[];
  readonly tests: readonly SourceFile[];
}

/** Pure: which ids the titles of the tests name, and what is wrong with that. */
export function judgeCoverage(name: Coverage["name"], { ids, pattern, pending, tests }: CoverageInput): Coverage {
  const named = new Map<string, string[]>(ids.map((id) => [id, []]));
  const faults: string[] = [];
  for (const { path, title } of tests.flatMap(testTitles)) {
    for (const id of new Set(title.match(pattern) ?? [])) {
      const files = named.get(id);
      if (files === undefined) {
        faults.push(`${path} names ${id}, which there is not`);
      } else {
        files.push(path);
      }
    }
  }
  const rows = ids.map((id) => ({ id, tests: named.get(id) ?? [], isPending: pending.includes(id) }));
  return { name, rows, faults: [...new Set([...faults, ...rowFaults(rows), ...strangers(pending, ids)])] };
}

function rowFaults(rows: readonly CoverageRow[]): string[] {
  return rows.flatMap(({ id, tests, isPending }) => {
    if (tests.length === 0) {
      return isPending ? [] : [`${id} has no test`];
    }
    return isPending ? [`${id} has a test: take it off the pending list`] : [];
  });
}

function strangers(pending: readonly string[], ids: readonly string[]): string[] {
  return pending.filter((id) => !ids.includes(id)).map((id) => `${id} is pending, but there is no such id`);
}

function readPending(path: string): string[] {
  return JSON.parse(readFileSync(ROOT + path, "utf8")) as string[];
}
