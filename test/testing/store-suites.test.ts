import { memoryJournal, memoryRunStore } from "toolkernel";
import { testJournal, testRunStore } from "toolkernel/testing";
import { afterAll, describe, expect, it } from "vitest";
import { ENDING_FAULTS } from "./broken-endings.ts";
import { CLAIM_FAULTS, KEEPING_FAULTS, openBroken } from "./broken-journals.ts";
import { openBrokenRuns, RUN_FAULTS } from "./broken-run-stores.ts";

type Case = ReturnType<typeof testJournal>[number];

// Stores in memory answer by promises alone; who has not answered by then never will.
const TURNS = 300;
const { setImmediate: nextTurn } = globalThis;

async function passes({ run }: Case): Promise<boolean> {
  const ended = run().then(
    () => true,
    () => false,
  );
  const hangs = (async () => {
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => nextTurn(resolve));
    return false;
  })();
  return Promise.race([ended, hangs]);
}

/** The cases that a store fails, by name. */
async function failuresOf(cases: readonly Case[]): Promise<readonly string[]> {
  const verdicts = await Promise.all(cases.map(async (each) => ((await passes(each)) ? [] : [each.name])));
  return verdicts.flat();
}

/** Cases that some fault has failed. */
const bitten = { journal: new Set<string>(), runs: new Set<string>() };

describe("the suite of journals", () => {
  const faults = { ...CLAIM_FAULTS, ...ENDING_FAULTS, ...KEEPING_FAULTS };

  it("ACT-10: passes a journal without a fault", async () => {
    expect(await failuresOf(testJournal(async () => memoryJournal()))).toEqual([]);
  });

  it.each(Object.entries(faults))("ACT-10: finds a journal that %s", async (_name, fault) => {
    const failures = await failuresOf(testJournal(() => openBroken(fault)));
    for (const name of failures) bitten.journal.add(name);
    expect(failures).not.toEqual([]);
  });

  it("ACT-10: has no case that no fault can fail", () => {
    const names = testJournal(async () => memoryJournal()).map(({ name }) => name);
    expect(names.filter((name) => !bitten.journal.has(name))).toEqual([]);
  });
});

describe("the suite of run stores", () => {
  it("RUN-6: passes a store without a fault", async () => {
    expect(await failuresOf(testRunStore(async () => memoryRunStore()))).toEqual([]);
  });

  it.each(Object.entries(RUN_FAULTS))("RUN-6: finds a store that %s", async (_name, fault) => {
    const failures = await failuresOf(testRunStore(() => openBrokenRuns(fault)));
    for (const name of failures) bitten.runs.add(name);
    expect(failures).not.toEqual([]);
  });

  it("RUN-6: has no case that no fault can fail", () => {
    const names = testRunStore(async () => memoryRunStore()).map(({ name }) => name);
    expect(names.filter((name) => !bitten.runs.has(name))).toEqual([]);
  });
});

afterAll(() => {
  bitten.journal.clear();
  bitten.runs.clear();
});
