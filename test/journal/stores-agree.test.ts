import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GameActionIntent, GameActionReceipt } from "../../src/domain/action.ts";
import type { ClaimRequest, Journal } from "../../src/domain/journal.ts";
import { memoryJournal } from "../../src/journal/memory.ts";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";
import { intentOf } from "../actions/rig.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** A step of the protocol, by small numbers, so that steps meet. */
type Step =
  | {
      readonly do: "claim";
      readonly operation: number;
      readonly attempt: number;
      readonly keys: number;
      readonly variant: number;
    }
  | {
      readonly do: "finish";
      readonly operation: number;
      readonly fenceOffset: number;
      readonly status: "committed" | "rejected" | "failed";
      readonly variant: number;
    }
  | { readonly do: "doubt" | "endTakeOver"; readonly operation: number; readonly fenceOffset: number }
  | {
      readonly do: "withdraw";
      readonly operation: number;
      readonly attempt: number;
      readonly keys: number;
      readonly variant: number;
    }
  | { readonly do: "takeOver"; readonly operation: number; readonly by: "reconciler" | "person" }
  | { readonly do: "abandon" | "find" | "evidence"; readonly operation: number };

const operation = fc.integer({ min: 0, max: 3 });
const attempts = {
  operation,
  attempt: fc.integer({ min: 0, max: 1 }),
  keys: fc.constantFrom(0, 1, 1, 3, 3, 6, 7),
  variant: fc.constantFrom(0, 0, 0, 1),
};
const fenceOffset = fc.constantFrom(0, 0, 0, -1, 1);

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant("claim" as const), ...attempts }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("finish" as const),
        operation,
        fenceOffset,
        status: fc.constantFrom("committed" as const, "rejected" as const, "failed" as const),
        variant: fc.constantFrom(0, 0, 1),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constantFrom("doubt" as const, "endTakeOver" as const), operation, fenceOffset }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("withdraw" as const), ...attempts }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("takeOver" as const),
        operation,
        by: fc.constantFrom("reconciler" as const, "person" as const),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constantFrom("abandon" as const, "find" as const, "evidence" as const),
        operation,
      }),
    },
  ),
  { minLength: 5, maxLength: 40 },
);

/** Takes steps on a journal one after another and tells what each came to, without times and names. */
async function play(journal: Journal, script: readonly Step[], prefix: string): Promise<unknown[]> {
  const told: unknown[] = [];
  for (const step of script) told.push(await takeStep(journal, step, prefix));
  return JSON.parse(JSON.stringify(told).replaceAll(prefix, ""), (key, value: unknown) =>
    ["owner", "createdAtMs", "updatedAtMs", "atMs"].includes(key) ? undefined : value,
  ) as unknown[];
}

async function takeStep(journal: Journal, step: Step, prefix: string): Promise<unknown> {
  const { protocol } = journal;
  const operationId = `${prefix}op-${step.operation}`;
  const fence = "fenceOffset" in step ? ((await journal.find(operationId))?.fence ?? 1) + step.fenceOffset : 0;
  const intent = intentOf(operationId);
  try {
    switch (step.do) {
      case "claim":
        return await protocol.claim(requestOf(step, prefix));
      case "finish":
        return await protocol.finish({ operationId, fence, receipt: receiptOf(intent, step) });
      case "doubt": {
        const receipt = {
          operationId,
          moment: intent.moment,
          status: "uncertain",
          result: null,
          code: "c",
          message: "m",
        } as const;
        return await protocol.doubt({ operationId, fence, receipt });
      }
      case "endTakeOver":
        return (await protocol.endTakeOver({ operationId, fence })) ?? "done";
      case "withdraw":
        return await protocol.withdraw({
          operationId,
          claimId: claimIdOf(prefix, step),
          receipt: receiptOf(intent, { status: "failed", variant: 0 }),
        });
      case "takeOver":
        return await protocol.takeOver({ operationId, by: step.by, holdMs: 60_000 });
      case "abandon":
        return await protocol.abandon(operationId);
      case "find":
        return (await journal.find(operationId)) ?? "none";
      case "evidence":
        return await protocol.listEvidence(operationId);
    }
  } catch (error) {
    return { error: (error as { readonly code?: unknown }).code ?? String(error) };
  }
}

/** An attempt asks for one and the same, however often it asks. */
function claimIdOf(prefix: string, step: Extract<Step, { attempt: number }>): string {
  const { operation: place, attempt: number, keys, variant } = step;
  return `${prefix}claim-${place}-${number}-${keys}-${variant}`;
}

function requestOf(step: Extract<Step, { do: "claim" }>, prefix: string): ClaimRequest {
  const operationId = `${prefix}op-${step.operation}`;
  const keys = ["a", "b", "c"].filter((_key, place) => (step.keys & (1 << place)) !== 0);
  return {
    operationId,
    claimId: claimIdOf(prefix, step),
    intentHash: `hash-${step.variant}`,
    intentText: JSON.stringify(intentOf(operationId, { conflictKeys: keys })),
    scopes: keys.map((key) => ({ id: `${prefix}scope-${key}`, key })),
  };
}

function receiptOf(
  { operationId, moment }: GameActionIntent,
  { status, variant }: { readonly status: "committed" | "rejected" | "failed"; readonly variant: number },
): GameActionReceipt {
  if (status === "committed") return { operationId, moment, status, result: { variant } };
  return { operationId, moment, status, result: null, code: `code-${variant}`, message: "m" };
}

let database: TestDatabase;
beforeAll(async () => {
  database = await makeDatabase();
});
afterAll(() => database.drop());

describe("all stores", () => {
  it("ACT-2, ACT-4, ACT-5: answer every order of steps alike: SQLite as memory", async () => {
    const journal = await openSqliteJournal(`${temporaryDirectory()}/journal.db`);
    let plays = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        plays += 1;
        const prefix = `play-${plays}-`;
        expect(await play(journal, script, prefix)).toEqual(await play(memoryJournal(), script, prefix));
      }),
      { numRuns: 150 },
    );
    await journal.close();
  }, 60_000);

  it("ACT-2, ACT-4, ACT-5: answer every order of steps alike: PostgreSQL as memory", async () => {
    const journal = await openPostgresJournal(database.url);
    let plays = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        plays += 1;
        const prefix = `play-${plays}-`;
        expect(await play(journal, script, prefix)).toEqual(await play(memoryJournal(), script, prefix));
      }),
      { numRuns: 60 },
    );
    await journal.close();
  }, 90_000);
});
