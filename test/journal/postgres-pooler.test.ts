import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { openPostgresJournal, openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { testJournal } from "../../src/testing/journal-suite.ts";
import { testRunStore } from "../../src/testing/run-store-suite.ts";
import { gate, intentOf } from "../actions/rig.ts";
import { PGBOUNCER, type Pgbouncer, startPgbouncer, WHY_NO_PGBOUNCER } from "../support/pgbouncer.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";

const SERVER_CONNECTIONS = 2;

describe.skipIf(PGBOUNCER === undefined)(`by way of pgbouncer in transaction mode${WHY_NO_PGBOUNCER}`, () => {
  let database: TestDatabase;
  let pooler: Pgbouncer;
  beforeAll(async () => {
    database = await makeDatabase();
    pooler = await startPgbouncer(database.url, { size: SERVER_CONNECTIONS });
  });
  afterAll(async () => {
    await pooler.stop();
    await database.drop();
  });

  /** Asks every session that pgbouncer has with the server, each in its turn. */
  const askSessions = async (sql: string): Promise<unknown[]> => {
    const client = new pg.Client({ connectionString: pooler.url });
    await client.connect();
    const answers: unknown[] = [];
    for (let turn = 0; turn < SERVER_CONNECTIONS * 2; turn += 1)
      answers.push((await client.query(sql)).rows[0]?.answer);
    await client.end();
    return answers;
  };

  describe("the PostgreSQL journal keeps to the protocol", () => {
    for (const { name, run } of testJournal(() => openPostgresJournal(pooler.url))) it(name, run);
  });

  describe("the PostgreSQL run store keeps to the protocol", () => {
    for (const { name, run } of testRunStore(() => openPostgresRunStore(pooler.url))) it(name, run);
  });

  it("ACT-4: a host that waits for another's key gets it by looking, and leaves nobody listening in its name", async () => {
    const options = { schema: "waiting" };
    const journals = [await openPostgresJournal(pooler.url, options), await openPostgresJournal(pooler.url, options)];
    const answer = gate();
    const [first, second] = journals.map(
      (journal) =>
        new GameActionDispatcher({
          journal,
          handler: {
            execute: async (intent) => {
              if (intent.operationId === "first") await answer.opened;
              return GameActionReceipt.committed(intent, 1);
            },
          },
        }),
    );
    const holding = first?.dispatch(intentOf("first", { conflictKeys: ["k"] }));
    await expect.poll(async () => (await journals[1]?.find("first"))?.state).toBe("dispatched");
    const waiting = second?.dispatch(intentOf("second", { conflictKeys: ["k"] }));
    await expect.poll(async () => (await journals[0]?.find("second"))?.state).toBe("prepared");
    // It has looked more than once by then, and would have begun to listen at the first look.
    const seen = async () => (await database.query("SELECT max(seen_at)::text AS at FROM waiting.waiters")).rows[0]?.at;
    const before = await seen();
    await expect.poll(seen, { timeout: 10_000 }).not.toBe(before);
    expect(await askSessions("SELECT count(*)::int AS answer FROM pg_listening_channels()")).toEqual(
      Array(SERVER_CONNECTIONS * 2).fill(0),
    );
    answer.open();
    expect((await Promise.all([holding, waiting])).map((each) => each?.disposition)).toEqual(["executed", "executed"]);
    for (const journal of journals) await journal.close();
  });

  it("ACT-1: leaves no lock and no setting behind in a session that serves others next", async () => {
    const journal = await openPostgresJournal(pooler.url, { schema: "tidy" });
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: { execute: (intent) => GameActionReceipt.committed(intent, 1) },
    });
    const ids = Array.from({ length: 20 }, (_, place) => `op-${place}`);
    await Promise.all(ids.map((id, place) => dispatcher.dispatch(intentOf(id, { conflictKeys: [`k-${place % 3}`] }))));
    await journal.close();
    const locks = await database.query("SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory'");
    expect(locks.rows).toEqual([{ n: 0 }]);
    const changed = `SELECT count(*)::int AS answer FROM pg_settings WHERE source = 'session'
      AND name IN ('search_path', 'synchronous_commit', 'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin')`;
    expect(new Set(await askSessions(changed))).toEqual(new Set([0]));
  });

  it("ACT-11: one connection to the server is enough for two hosts", async () => {
    const narrow = await startPgbouncer(database.url, { size: 1 });
    const options = { schema: "narrow" };
    const journals = [await openPostgresJournal(narrow.url, options), await openPostgresJournal(narrow.url, options)];
    const store = await openPostgresRunStore(narrow.url, options);
    const written: string[] = [];
    const dispatchers = journals.map(
      (journal) =>
        new GameActionDispatcher({
          journal,
          handler: {
            execute: (intent) => {
              written.push(intent.operationId);
              return GameActionReceipt.committed(intent, 1);
            },
          },
        }),
    );
    const claim = await store.claim("run", { create: true });
    const ids = Array.from({ length: 6 }, (_, place) => `op-${place}`);
    await Promise.all(
      ids.flatMap((id) => dispatchers.map((each) => each.dispatch(intentOf(id, { conflictKeys: ["k"] })))),
    );
    await claim.append([]);
    await claim.release();
    expect([...written].sort()).toEqual(ids);
    for (const journal of journals) await journal.close();
    await store.close();
    await narrow.stop();
  });
});
