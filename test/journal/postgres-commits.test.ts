import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import { intentOf } from "../actions/rig.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";
import { openCutPool } from "./cut-pool.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await makeDatabase();
});
afterAll(() => database.drop());

/** A dispatcher on a journal whose statements are counted, once its owner is known to the database. */
async function countedDispatcher(schema: string) {
  const pool = openCutPool(database.url);
  const journal = await openPostgresJournal(pool, { schema });
  const dispatcher = new GameActionDispatcher({
    journal,
    handler: { execute: (intent) => GameActionReceipt.committed(intent, 1) },
  });
  await dispatcher.dispatch(intentOf("first"));
  const before = pool.statements.length;
  return {
    dispatcher,
    // Each is a transaction of its own; those that only look commit nothing.
    writes: () => pool.statements.slice(before).filter((text) => /\.take_steps\(/.test(text)).length,
    close: async () => {
      await journal.close();
      await pool.end();
    },
  };
}

describe("commits of the PostgreSQL journal", () => {
  it("ACT-1: ordered writes on one key cost one each and one more, since a receipt shares its commit with the next claim", async () => {
    const { dispatcher, writes, close } = await countedDispatcher("chained");
    const ids = Array.from({ length: 10 }, (_, place) => `op-${place}`);
    await Promise.all(ids.map((id) => dispatcher.dispatch(intentOf(id, { conflictKeys: ["k"] }))));
    expect(writes()).toBe(ids.length + 1);
    await close();
  });

  it("ACT-1: writes at the same time share their commits, and a single one needs two", async () => {
    const { dispatcher, writes, close } = await countedDispatcher("shared");
    await dispatcher.dispatch(intentOf("single"));
    expect(writes()).toBe(2);
    await Promise.all(Array.from({ length: 50 }, (_, place) => dispatcher.dispatch(intentOf(`op-${place}`))));
    expect(writes()).toBe(4);
    await close();
  });
});
