import { chownSync, rmSync } from "node:fs";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { openPostgresJournal, openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { gate, intentOf } from "../actions/rig.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { canMount, fill, smallDisk } from "./small-disk.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await makeDatabase();
});
afterAll(() => database.drop());

describe("a PostgreSQL run store whose database", () => {
  it.each(["runs", "facts", "owners"])(
    "ACT-11, CAN-5: has lost its table %s records nothing and says so by name",
    async (table) => {
      const schema = `lost_${table}`;
      const store = await openPostgresRunStore(database.url, { schema });
      const claim = await store.claim("run", { create: true });
      await claim.append([fact(1)]);
      await database.query(`DROP TABLE ${schema}.${table} CASCADE`);
      await expect(claim.append([fact(2)])).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
      await expect(store.claim("other", { create: true })).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
      await store.close();
    },
  );

  it("ACT-11, CAN-5: cuts a statement off records nothing of it, and takes it when it is asked again", async () => {
    const schema = "cut_off";
    const store = await openPostgresRunStore(database.url, { schema });
    const claim = await store.claim("run", { create: true });
    await claim.append([fact(1)]);
    const blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    await blocker.query("BEGIN");
    await blocker.query(`SELECT * FROM ${schema}.runs FOR UPDATE`);
    const refused = expect(claim.append([fact(2)])).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    const cancelled = async () =>
      (
        await database.query(
          "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
        )
      ).rows.length;
    await expect.poll(cancelled).toBe(1);
    await refused;
    await blocker.query("ROLLBACK");
    await blocker.end();
    await claim.append([fact(2)]);
    await claim.release();
    expect((await store.claim("run", { create: false })).facts).toEqual(factsUpTo(2));
    await store.close();
  });

  it("CAN-5, RUN-6: is killed twice under load loses no acknowledged fact, and records none twice", {
    timeout: 120_000,
  }, async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const store = await openPostgresRunStore(server.url);
    const runIds = Array.from({ length: 8 }, (_, place) => `run-${place}`);
    const recorded = new Map(runIds.map((runId) => [runId, 0]));
    let isOver = false;
    const record = async (runId: string): Promise<void> => {
      const claim = await store.claim(runId, { create: true });
      while (!isOver) {
        const next = (recorded.get(runId) ?? 0) + 1;
        // The same again, as a run does: an answer that was lost may have been an append that was made.
        while (
          !(await claim.append([fact(next)]).then(
            () => true,
            (error: unknown) => {
              expect(error).toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
              return false;
            },
          ))
        );
        recorded.set(runId, next);
      }
      await claim.release();
    };
    const total = () => [...recorded.values()].reduce((sum, count) => sum + count, 0);
    const working = Promise.all(runIds.map(record));
    for (const wanted of [100, 400]) {
      await expect.poll(total, { timeout: 30_000 }).toBeGreaterThan(wanted);
      await server.restart();
    }
    await expect.poll(total, { timeout: 30_000 }).toBeGreaterThan(800);
    isOver = true;
    await working;
    for (const runId of runIds) {
      expect((await store.claim(runId, { create: false })).facts).toEqual(factsUpTo(recorded.get(runId) ?? 0));
    }
    await store.close();
  });
});

// A small disk can only be made by the superuser; elsewhere this says nothing.
describe.skipIf(!canMount())("a PostgreSQL server whose disk is full", () => {
  it("ACT-6, ACT-11, CAN-5: refuses by name, keeps what was acknowledged, and goes on when there is space", {
    timeout: 120_000,
  }, async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const disk = smallDisk(16);
    chownSync(disk, 65_534, 65_534);
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`CREATE TABLESPACE small LOCATION '${disk}'`);
    await client.query("ALTER DATABASE postgres SET default_tablespace = small");
    await client.end();
    const journal = await openPostgresJournal(server.url);
    const store = await openPostgresRunStore(server.url);
    const answer = gate();
    const result = "x".repeat(200_000);
    const dispatcher = new GameActionDispatcher({
      journal,
      receiptCommitTimeoutMs: 500,
      handler: {
        execute: async (intent) => {
          if (intent.operationId === "under way") await answer.opened;
          return GameActionReceipt.committed(intent, { result, random: incompressible(intent.operationId) });
        },
      },
    });
    const before = await dispatcher.dispatch(intentOf("before"));
    const claim = await store.claim("run", { create: true });
    await claim.append([fact(1)]);
    const underWay = dispatcher.dispatch(intentOf("under way"));
    await expect.poll(async () => (await journal.find("under way"))?.state).toBe("dispatched");
    const filler = fill(disk, 0);
    answer.open();
    expect((await underWay).receipt).toMatchObject({ status: "uncertain", code: "receipt_not_durable" });
    const large = { kind: "message", message: { role: "user", content: incompressible("run") } } as const;
    await expect(claim.append([large])).rejects.toMatchObject({ code: "JOURNAL_FULL" });
    const refused = intentOf("refused", { arguments: { text: incompressible("refused") } });
    await expect(dispatcher.dispatch(refused)).rejects.toMatchObject({ code: "JOURNAL_FULL" });
    expect(await journal.find("refused")).toBeUndefined();
    expect((await journal.find("before"))?.receipt).toEqual(before.receipt);
    rmSync(filler);
    await expect.poll(async () => (await journal.find("under way"))?.state, { timeout: 10_000 }).toBe("committed");
    expect((await dispatcher.dispatch(refused)).disposition).toBe("executed");
    await claim.append([large, fact(2)]);
    await claim.release();
    expect((await store.claim("run", { create: false })).facts).toEqual([fact(1), large, fact(2)]);
    await journal.close();
    await store.close();
  });
});

/** A long text that a database cannot store in less, the same for the same seed. */
function incompressible(seed: string): string {
  let state = [...seed].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) >>> 0;
  return Array.from({ length: 40_000 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state.toString(36);
  }).join("");
}
