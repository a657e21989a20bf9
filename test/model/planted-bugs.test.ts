/** The suites of this folder bite: each planted bug is found by every suite that has to find it. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { ROOT } from "../support/syntax.ts";
import { ACTION_MODELS, openAction } from "./action.system.ts";
import { BATCH_MODEL, openBatch } from "./batch.system.ts";
import { coveringPaths } from "./chart-paths.ts";
import { EPOCH_MODELS, openEpoch } from "./epoch.system.ts";
import { explore } from "./explore.ts";
import { type Kernel, loadKernel } from "./kernel.ts";
import { runPaired } from "./paired-batches.ts";
import { type Finder, PLANTED_BUGS, type PlantedBug } from "./planted-bugs.ts";
import { SeededRandom } from "./random.ts";
import { RUN_MODEL } from "./run.model.ts";
import { openRun } from "./run.system.ts";
import { runPaths } from "./run-paths.ts";
import { REAL_PARTS } from "./scheduler-parts.ts";
import type { SchedulerParts } from "./scheduler-state.ts";
import { drawScope, KINDS, scopesOf, withoutTwins } from "./scopes.ts";
import { TOOL_CALL_MODELS } from "./tool-call.model.ts";
import { openToolCall } from "./tool-call.system.ts";

const SAMPLES = 300;
const SMALL_SCOPES = withoutTwins([...scopesOf(KINDS, [2]), ...scopesOf(KINDS, [1, 1]), ...scopesOf(KINDS, [3])]);

const FINDERS: Readonly<Record<Finder, (kernel: Kernel) => Promise<string | undefined>>> = {
  call: async (kernel) => firstFailure(TOOL_CALL_MODELS.flatMap(coveringPaths), openToolCall(kernel, "compiled")),
  epoch: async (kernel) => firstFailure(EPOCH_MODELS.flatMap(coveringPaths), openEpoch(kernel, "compiled")),
  batch: async (kernel) => firstFailure(coveringPaths(BATCH_MODEL), openBatch(kernel, "compiled")),
  run: async (kernel) => firstFailure(coveringPaths(RUN_MODEL), openRun(kernel, "compiled")),
  action: async (kernel) => firstFailure(ACTION_MODELS.flatMap(coveringPaths), openAction(kernel)),
  explored: async () => exploreSmall((await import("./scheduler-parts.ts")).REAL_PARTS),
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

/** A copy of the kernel, and of what is composed of its parts, with the bug in it. */
async function plant({ module: { path, alter } }: PlantedBug): Promise<Kernel> {
  vi.resetModules();
  vi.doMock(ROOT + path, async (importOriginal) => alter(await importOriginal<Readonly<Record<string, unknown>>>()));
  return loadKernel();
}

afterEach(() => {
  for (const { module } of PLANTED_BUGS) vi.doUnmock(ROOT + module.path);
  vi.resetModules();
});

describe("is found:", () => {
  it.each(PLANTED_BUGS.map((bug) => [`${bug.name} (${bug.rule})`, bug] as const))("%s", async (_name, bug) => {
    const kernel = await plant(bug);
    const missing: Finder[] = [];
    for (const finder of bug.foundBy) {
      const found = await FINDERS[finder](kernel).catch((error: unknown) => String(error));
      if (found === undefined) missing.push(finder);
    }
    expect(missing).toEqual([]);
  });
});

it("without a bug none of the suites finds one", async () => {
  const kernel = await loadKernel();
  const found: (string | undefined)[] = [];
  for (const find of Object.values(FINDERS)) found.push(await find(kernel));
  expect(found).toEqual(Object.keys(FINDERS).map(() => undefined));
});
