import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunClaim, RunStore, StoredRunStatus } from "../../src/domain/run-store.ts";
import { openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { memoryRunStore } from "../../src/journal/run-store/memory.ts";
import { openSqliteRunStore } from "../../src/journal/sqlite/index.ts";
import { fact } from "../../src/testing/run-store-suite/run-desk.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** One thing a host does; runs and claims are named by small numbers. */
type Step =
  | { readonly kind: "claim"; readonly run: number; readonly create: boolean }
  | { readonly kind: "append"; readonly claim: number; readonly facts: number; readonly status: StoredRunStatus | null }
  | { readonly kind: "release"; readonly claim: number }
  | { readonly kind: "list"; readonly limit: number; readonly after: number | null }
  | { readonly kind: "prune"; readonly isAll: boolean };

const STATUSES: readonly StoredRunStatus[] = ["running", "awaitingApproval", "completed", "stopped", "aborted"];
const FUTURE_MS = 4_000_000_000_000;

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("claim" as const), run: fc.nat(3), create: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      claim: fc.nat(9),
      facts: fc.nat(3),
      status: fc.option(fc.constantFrom(...STATUSES)),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("release" as const), claim: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("list" as const),
      limit: fc.integer({ min: 0, max: 3 }),
      after: fc.option(fc.nat(3)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("prune" as const), isAll: fc.boolean() }) },
);

let database: TestDatabase;
let schemas = 0;

beforeAll(async () => {
  database = await makeDatabase();
}, 60_000);

afterAll(() => database.drop());

/** What a step answers, without the times and fences in which stores may differ. */
async function take(store: RunStore, claims: RunClaim[], each: Step, number: number): Promise<unknown> {
  switch (each.kind) {
    case "claim": {
      const claim = await store.claim(`run-${each.run}`, { create: each.create });
      claims.push(claim);
      return claim.facts;
    }
    case "append": {
      const progress = each.status === null ? undefined : { status: each.status, turn: number };
      const facts = Array.from({ length: each.facts }, (_, place) => fact(number * 10 + place));
      return claims[each.claim]?.append(facts, progress);
    }
    case "release":
      return claims[each.claim]?.release();
    case "list": {
      const after = each.after === null ? undefined : `run-${each.after}`;
      const { runs, next } = await store.listOpen({ limit: each.limit, after });
      return { runs: runs.map(({ updatedAtMs: _time, ...rest }) => rest), next };
    }
    case "prune":
      return store.prune({ endedBefore: each.isAll ? FUTURE_MS : 0 });
  }
}

async function play(store: RunStore, steps: readonly Step[]): Promise<readonly unknown[]> {
  const claims: RunClaim[] = [];
  const answers: unknown[] = [];
  for (const [number, each] of steps.entries()) {
    answers.push(
      await take(store, claims, each, number).catch((error: { readonly code?: string }) => error.code ?? String(error)),
    );
  }
  await store.close();
  return answers;
}

describe("run stores", () => {
  it("RUN-6: all give the same answers to the same steps, in whatever order", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        schemas += 1;
        const wanted = await play(memoryRunStore(), steps);
        const file = await openSqliteRunStore(`${temporaryDirectory()}/runs.db`);
        expect(await play(file, steps)).toEqual(wanted);
        const schema = `agree_${schemas}`;
        expect(await play(await openPostgresRunStore(database.url, { schema }), steps)).toEqual(wanted);
        await database.query(`DROP SCHEMA ${schema} CASCADE`);
      }),
      { numRuns: 40 },
    );
  });
});
