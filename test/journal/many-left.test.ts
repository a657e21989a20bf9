import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";
import { intentOf } from "../actions/rig.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await makeDatabase();
});
afterAll(() => database.drop());

const LEFT = 1_000;

const STORES: readonly (readonly [string, () => () => Promise<Journal>])[] = [
  [
    "SQLite",
    () => {
      const path = `${temporaryDirectory()}/journal.db`;
      return () => openSqliteJournal(path);
    },
  ],
  ["PostgreSQL", () => () => openPostgresJournal(database.url)],
];

/** Every open entry, page by page. */
async function openStates(journal: Journal): Promise<readonly string[]> {
  const states: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await journal.listOpen({ limit: 300, after });
    states.push(...page.entries.map(({ state }) => state));
    if (page.next === undefined) return states;
    after = page.next;
  }
}

describe.each(STORES)("a thousand actions that a process left under way, on %s", (_kind, makeOpen) => {
  it("ACT-5: are all uncertain, keep their keys, and are all reconciled", async () => {
    const open = makeOpen();
    const left = await open();
    const leaving = new GameActionDispatcher({
      journal: left,
      handler: { execute: () => new Promise(() => undefined) },
    });
    const intents = Array.from({ length: LEFT }, (_, place) =>
      intentOf(`op-${place}`, { conflictKeys: [`k-${place}`] }),
    );
    for (const intent of intents) void leaving.dispatch(intent);
    await expect.poll(async () => (await openStates(left)).length, { timeout: 20_000 }).toBe(LEFT);
    await left.close();

    const journal = await open();
    const dispatcher = new GameActionDispatcher({
      journal,
      conflictWaitTimeoutMs: 1,
      handler: {
        execute: (intent) => GameActionReceipt.committed(intent, "next"),
        recover: (intent) => GameActionReceipt.committed(intent, "found"),
      },
    });
    expect(await dispatcher.start()).toEqual({ uncertain: LEFT, abandoned: 0 });
    expect(await openStates(journal)).toEqual(Array(LEFT).fill("uncertain"));
    const blocked = await dispatcher.dispatch(intentOf("next", { conflictKeys: ["k-500"] }));
    expect(blocked.disposition).toBe("conflictBlocked");
    const reconciled = await Promise.all(intents.map(({ operationId }) => dispatcher.reconcile(operationId)));
    expect(new Set(reconciled.map((each) => each?.disposition))).toEqual(new Set(["recovered"]));
    expect(await openStates(journal)).toEqual([]);
    const next = await dispatcher.dispatch(intentOf("next", { conflictKeys: ["k-500"] }));
    expect(next.disposition).toBe("executed");
    await journal.close();
  });
});
