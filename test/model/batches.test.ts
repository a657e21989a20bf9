/** The scheduling of batches: every small one in every way it can go, thousands of larger ones in ways drawn by chance. */
import { describe, expect, it } from "vitest";
import { explore } from "./explore.ts";
import { runPaired } from "./paired-batches.ts";
import { loadParts, loadSubject } from "./plant-bug.ts";
import { readSeed, SeededRandom } from "./random.ts";
import { isReporting, isSmall, report } from "./scale.ts";
import { REAL_PARTS } from "./scheduler-parts.ts";
import type { SchedulerParts, Scope } from "./scheduler-state.ts";
import { drawScope, KINDS, MORE_KINDS, scopesOf, withoutTwins } from "./scopes.ts";

const RULES = "EPOCH-1 to EPOCH-5, EPOCH-8, UNC-1 to UNC-5, CAN-1 to CAN-4";
const SAMPLES = isReporting ? 20_000 : isSmall ? 150 : 1_500;
const SIZES = isSmall ? [1, 2, 3] : [1, 2, 3, 4];

const SMALL: readonly (readonly [what: string, scopes: readonly Scope[]])[] = [
  [`of one to ${SIZES.length} calls`, SIZES.flatMap((size) => scopesOf(KINDS, [size]))],
  ["of two batches, since an abandoned write reaches into the next", scopesOf(KINDS, [1, 2])],
];
const LARGER: typeof SMALL = [
  ["of up to four calls of more kinds", [1, 2, 3, 4].flatMap((size) => scopesOf(MORE_KINDS, [size]))],
  ["of two batches of two calls of more kinds", scopesOf(MORE_KINDS, [2, 2])],
];

function exploreAll(parts: SchedulerParts, what: string, scopes: readonly Scope[]): string[] {
  const distinct = withoutTwins(scopes);
  let states = 0;
  let steps = 0;
  const faults: string[] = [];
  for (const scope of distinct) {
    const found = explore(parts, scope);
    states += found.states;
    steps += found.steps;
    if (found.fault !== undefined) faults.push(found.fault);
  }
  if (isReporting)
    report([`batches ${what}: ${scopes.length}, distinct ${distinct.length}; ${states} states, ${steps} steps`]);
  expect(states).toBeGreaterThan(distinct.length);
  return faults.slice(0, 3);
}

describe(`in every state of every batch holds ${RULES}`, () => {
  it.each(isReporting ? [...SMALL, ...LARGER] : SMALL)(
    "%s",
    async (what, scopes) => {
      await loadSubject();
      expect(exploreAll(await loadParts(), what, scopes)).toEqual([]);
    },
    600_000,
  );
});

const seed = readSeed();

it(`of larger batches the kernel and the explored scheduler tell one story (seed ${seed}): ${RULES}, EPOCH-6`, async () => {
  const both = { core: (await loadSubject()).core, parts: REAL_PARTS };
  let steps = 0;
  for (let number = 0; number < SAMPLES; number += 1) {
    const random = new SeededRandom(seed * 1_000_003 + number);
    try {
      steps += await runPaired(both, drawScope(random), random);
    } catch (error) {
      throw new Error(
        `MODEL_SEED=${seed}, sample ${number}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  if (isReporting) report([`larger batches: ${SAMPLES} samples of seed ${seed}; ${steps} steps`]);
  expect(steps).toBeGreaterThan(SAMPLES);
}, 600_000);
