/** The suites of this folder bite: each planted bug is found by every suite that has to find it. */
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { ACTION_MODELS } from "./action.model.ts";
import { openAction } from "./action.system.ts";
import { BATCH_MODEL, openBatch } from "./batch.system.ts";
import { coveringPaths } from "./chart-paths.ts";
import { EPOCH_MODELS, openEpoch } from "./epoch.system.ts";
import { explore } from "./explore.ts";
import { type Kernel, loadKernel } from "./kernel.ts";
import { runPaired } from "./paired-batches.ts";
import { loadParts, plantBug, removeBugs } from "./plant-bug.ts";
import { type Finder, PLANTED_BUGS } from "./planted-bugs.ts";
import { SeededRandom } from "./random.ts";
import { RUN_MODEL } from "./run.model.ts";
import { openRun } from "./run.system.ts";
import { runPaths } from "./run-paths.ts";
import { isReporting, report } from "./scale.ts";
import { REAL_PARTS } from "./scheduler-parts.ts";
import type { SchedulerParts } from "./scheduler-state.ts";
import { drawScope, KINDS, scopesOf, withoutTwins } from "./scopes.ts";
import { TOOL_CALL_MODELS } from "./tool-call.model.ts";
import { openToolCall } from "./tool-call.system.ts";

const SAMPLES = 300;
const MOST_REASON_CHARACTERS = 120;
const SMALL_SCOPES = withoutTwins([...scopesOf(KINDS, [2]), ...scopesOf(KINDS, [1, 1]), ...scopesOf(KINDS, [3])]);

const FINDERS: Readonly<Record<Finder, (kernel: Kernel) => Promise<string | undefined>>> = {
  call: async (kernel) => firstFailure(TOOL_CALL_MODELS.flatMap(coveringPaths), openToolCall(kernel, "compiled")),
  epoch: async (kernel) => firstFailure(EPOCH_MODELS.flatMap(coveringPaths), openEpoch(kernel, "compiled")),
  batch: async (kernel) => firstFailure(coveringPaths(BATCH_MODEL), openBatch(kernel, "compiled")),
  run: async (kernel) => firstFailure(coveringPaths(RUN_MODEL), openRun(kernel, "compiled")),
  action: async (kernel) => firstFailure(ACTION_MODELS.flatMap(coveringPaths), openAction(kernel)),
  explored: async () => exploreSmall(await loadParts()),
  paired: pairLarger,
};

async function firstFailure(...args: Parameters<typeof runPaths>): Promise<string | undefined> {
  const [paths, open] = args;
  const { failures } = await runPaths(paths, open, { stopAtFirst: true });
  return failures[0];
}

function exploreSmall(parts: SchedulerParts): string | undefined {
  for (const scope of SMALL_SCOPES) {
    const { fault } = explore(parts, scope);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

async function pairLarger({ core }: Kernel): Promise<string | undefined> {
  for (let number = 0; number < SAMPLES; number += 1) {
    const random = new SeededRandom(number);
    try {
      await runPaired({ core, parts: REAL_PARTS }, drawScope(random), random);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  return undefined;
}

const told: string[] = [];

afterEach(removeBugs);

afterAll(() => {
  if (isReporting) report([`planted bugs, and what finds each: ${PLANTED_BUGS.length}`, ...told]);
});

describe("is found:", () => {
  it.each(PLANTED_BUGS.map((bug) => [`${bug.name} (${bug.rule})`, bug] as const))("%s", async (name, bug) => {
    const kernel = await plantBug(bug);
    const missing: Finder[] = [];
    told.push(`  ${name}`);
    for (const finder of bug.foundBy) {
      const found = await FINDERS[finder](kernel).catch((error: unknown) => String(error));
      if (found === undefined) missing.push(finder);
      told.push(`    ${finder}: ${reasonOf(found ?? "nothing")}`);
    }
    expect(missing).toEqual([]);
  });
});

/** What went wrong, without the way there: a broken rule comes first, else the path that led to it does. */
function reasonOf(found: string): string {
  const [first = "", second = ""] = found.split("\n");
  if (first.startsWith("the scheduler says")) return "kernel and scheduler tell two stories";
  return (/^[A-Z]+-\d/.test(first) || second === "" ? first : second).trim().slice(0, MOST_REASON_CHARACTERS);
}

it("without a bug none of the suites finds one", async () => {
  const kernel = await loadKernel();
  const found: (string | undefined)[] = [];
  for (const find of Object.values(FINDERS)) found.push(await find(kernel));
  expect(found).toEqual(Object.keys(FINDERS).map(() => undefined));
});
