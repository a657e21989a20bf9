import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import { MIGRATIONS } from "../../src/journal/postgres/migrations.ts";
import { testJournal } from "../../src/testing/journal-suite.ts";
import { gate, intentOf } from "../actions/rig.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";
import { chartEdges, JOURNAL_STATES } from "./chart-edges.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await makeDatabase();
});
afterAll(() => database.drop());

describe("the PostgreSQL journal keeps to the protocol", () => {
  for (const { name, run } of testJournal(() => openPostgresJournal(database.url))) it(name, run);
});

let schemas = 0;
/** A schema of one test's own. */
function newSchema(): string {
  schemas += 1;
  return `journal_${schemas}`;
}

function dispatcherOn(journal: Journal): GameActionDispatcher {
  return new GameActionDispatcher({
    journal,
    handler: { execute: (intent) => GameActionReceipt.committed(intent, { done: intent.operationId }) },
  });
}

async function refusal(work: Promise<Journal>): Promise<unknown> {
  try {
    await (await work).close();
  } catch (error) {
    return (error as { readonly code: unknown }).code;
  }
  return "opened";
}

describe("the PostgreSQL schema itself", () => {
  it("ACT-2: lets an entry go along the edges of the chart, and along no others", async () => {
    const schema = newSchema();
    await (await openPostgresJournal(database.url, { schema })).close();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`SET search_path TO ${schema}`);
    const isDone = async (sql: string, ...values: unknown[]): Promise<boolean> => {
      try {
        await client.query(sql, values);
        return true;
      } catch (error) {
        expect((error as { readonly code: string }).code).toBe("TK002");
        return false;
      }
    };
    const insert = (id: string, state: string) =>
      isDone(
        `INSERT INTO entries (operation_id, state, fence, owner, claim_id, intent_hash, intent, intent_sum, scopes, created_at_ms, updated_at_ms)
         VALUES ($1, $2, 1, gen_random_uuid(), 'c', 'h', '{}', '', '{}', 1, 1)`,
        id,
        state,
      );
    const step = (id: string, state: string) =>
      isDone("UPDATE entries SET state = $2 WHERE operation_id = $1", id, state);
    const ways: Readonly<Record<string, readonly string[]>> = {
      prepared: ["prepared"],
      abandoned: ["prepared", "abandoned"],
      dispatched: ["dispatched"],
      uncertain: ["dispatched", "uncertain"],
      committed: ["dispatched", "committed"],
      rejected: ["dispatched", "rejected"],
      failed: ["dispatched", "failed"],
    };
    const edges: string[] = [];
    for (const state of JOURNAL_STATES) if (await insert(`new-${state}`, state)) edges.push(`new -> ${state}`);
    for (const before of JOURNAL_STATES) {
      for (const after of JOURNAL_STATES.filter((state) => state !== before)) {
        const id = `${before}-${after}`;
        const [first = "", ...rest] = ways[before] ?? [];
        await insert(id, first);
        for (const state of rest) await step(id, state);
        if (await step(id, after)) edges.push(`${before} -> ${after}`);
      }
    }
    expect(edges.sort()).toEqual(chartEdges().sort());
    const forbidden = [
      "DELETE FROM entries",
      "UPDATE entries SET receipt = '{}' WHERE state = 'committed'",
      "UPDATE entries SET owner = gen_random_uuid() WHERE state = 'committed'",
      "UPDATE entries SET operation_id = 'x' WHERE operation_id = 'prepared-failed'",
      "UPDATE entries SET intent_hash = 'x'",
      "UPDATE entries SET intent = 'x'",
      "UPDATE entries SET fence = 0",
    ];
    for (const sql of forbidden) expect([sql, await isDone(sql)]).toEqual([sql, false]);
    await client.end();
  });
});

describe("two journals in one database", () => {
  it("ACT-4: exclude each other's keys and replay each other's receipts", async () => {
    const schema = newSchema();
    const journals = [
      await openPostgresJournal(database.url, { schema }),
      await openPostgresJournal(database.url, { schema }),
    ];
    const log: string[] = [];
    let running = 0;
    const dispatchers = journals.map(
      (journal, place) =>
        new GameActionDispatcher({
          journal,
          handler: {
            execute: async (intent) => {
              running += 1;
              expect(running).toBe(1);
              log.push(intent.operationId);
              await Promise.resolve();
              running -= 1;
              return GameActionReceipt.committed(intent, place);
            },
          },
        }),
    );
    const ids = Array.from({ length: 12 }, (_, place) => `op-${place}`);
    const results = await Promise.all(
      ids.flatMap((id) => dispatchers.map((dispatcher) => dispatcher.dispatch(intentOf(id, { conflictKeys: ["k"] })))),
    );
    expect([...log].sort()).toEqual([...ids].sort());
    expect(results.filter(({ disposition }) => disposition === "executed")).toHaveLength(ids.length);
    expect(results.every(({ receipt }) => receipt?.status === "committed")).toBe(true);
    for (const journal of journals) await journal.close();
  });

  it("ACT-4: a waiting process is told when the other one releases the key", async () => {
    const schema = newSchema();
    const [first, second] = [
      await openPostgresJournal(database.url, { schema }),
      await openPostgresJournal(database.url, { schema }),
    ];
    const claim = (operationId: string) => ({
      operationId,
      claimId: `claim of ${operationId}`,
      intentHash: "h",
      intentText: JSON.stringify(intentOf(operationId)),
      scopes: [{ id: "scope", key: "k" }],
    });
    expect(await first.protocol.claim(claim("a"))).toEqual({ kind: "claimed", fence: 1 });
    const told = gate();
    second.protocol.onReleased(({ operationId, scopes }) => {
      expect([operationId, scopes]).toEqual(["a", ["scope"]]);
      told.open();
    });
    expect(await second.protocol.claim(claim("b"))).toEqual({ kind: "waiting" });
    // The listener's connection is taken on the way; a second look makes sure that it listens.
    await expect
      .poll(
        async () =>
          (
            await database.query(
              "SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()",
            )
          ).rows[0]?.n,
      )
      .toBeGreaterThan(0);
    await first.protocol.finish({ operationId: "a", fence: 1, receipt: GameActionReceipt.committed(intentOf("a"), 1) });
    await told.opened;
    expect(await second.protocol.claim(claim("b"))).toEqual({ kind: "claimed", fence: 2 });
    await first.close();
    await second.close();
  });

  it("ACT-5: what one left dispatched becomes uncertain, what it left waiting is abandoned, and nothing is executed", async () => {
    const schema = newSchema();
    const [first, second] = [
      await openPostgresJournal(database.url, { schema }),
      await openPostgresJournal(database.url, { schema }),
    ];
    const never = gate();
    const leaving = new GameActionDispatcher({ journal: first, handler: { execute: () => never.opened as never } });
    void leaving.dispatch(intentOf("a", { conflictKeys: ["k"] }));
    const waiting = expect(leaving.dispatch(intentOf("b", { conflictKeys: ["k"] }))).rejects.toMatchObject({
      code: "JOURNAL_UNAVAILABLE",
    });
    const staying = dispatcherOn(second);
    await expect.poll(async () => (await second.find("b"))?.state).toBe("prepared");
    expect(await staying.start()).toEqual({ uncertain: 0, abandoned: 0 });
    await first.close();
    expect(await staying.start()).toEqual({ uncertain: 1, abandoned: 1 });
    expect(await second.find("a")).toMatchObject({
      state: "uncertain",
      receipt: { status: "uncertain", code: "owner_lost" },
    });
    expect((await second.find("b"))?.state).toBe("abandoned");
    await waiting;
    await second.close();
  });

  it("ACT-5: a lease that runs out makes its entries uncertain; the slow owner's receipt still counts, once", async () => {
    const schema = newSchema();
    const lease = { schema, leaseMs: 400, heartbeatMs: 200 };
    // The owner's heart does not beat: its process is busy or stopped.
    const stopped = { now: () => 0, setTimer: (atMs: number, run: () => void) => stoppedTimer(atMs, run) };
    const slow = await openPostgresJournal(database.url, { ...lease, clock: stopped });
    const other = await openPostgresJournal(database.url, lease);
    const answer = gate();
    const working = new GameActionDispatcher({
      journal: slow,
      handler: {
        execute: async (intent) => {
          await answer.opened;
          return GameActionReceipt.committed(intent, "slow");
        },
      },
    });
    const dispatching = working.dispatch(intentOf("a", { conflictKeys: ["k"] }));
    await expect.poll(async () => (await other.find("a"))?.state).toBe("dispatched");
    const owner = (await other.find("a"))?.owner;
    await expect.poll(() => other.protocol.sweep(), { timeout: 5_000 }).toEqual({ uncertain: 1, abandoned: 0 });
    expect((await other.find("a"))?.state).toBe("uncertain");
    answer.open();
    expect((await dispatching).receipt).toMatchObject({ status: "committed", result: "slow" });
    expect((await other.find("a"))?.state).toBe("committed");
    // Its next claim is made under a new name.
    const next = await working.dispatch(intentOf("b", { conflictKeys: ["k"] }));
    expect(next.receipt?.status).toBe("committed");
    expect((await other.find("b"))?.owner).not.toBe(owner);
    await slow.close();
    await other.close();
  });

  it("ACT-5: an owner that was overtaken by a reconciler gets what the reconciler found, never both", async () => {
    const schema = newSchema();
    const lease = { schema, leaseMs: 400, heartbeatMs: 200 };
    const stopped = { now: () => 0, setTimer: (atMs: number, run: () => void) => stoppedTimer(atMs, run) };
    const slow = await openPostgresJournal(database.url, { ...lease, clock: stopped });
    const other = await openPostgresJournal(database.url, lease);
    const answer = gate();
    const handler = {
      execute: async (intent: Parameters<typeof GameActionReceipt.committed>[0]) => {
        await answer.opened;
        return GameActionReceipt.committed(intent, "slow");
      },
      recover: (intent: Parameters<typeof GameActionReceipt.committed>[0]) =>
        GameActionReceipt.failed(intent, "absent", "Not there."),
    };
    const dispatching = new GameActionDispatcher({ journal: slow, handler }).dispatch(intentOf("a"));
    await expect.poll(async () => (await other.find("a"))?.state).toBe("dispatched");
    await expect.poll(() => other.protocol.sweep(), { timeout: 5_000 }).toEqual({ uncertain: 1, abandoned: 0 });
    const reconciled = await new GameActionDispatcher({ journal: other, handler }).reconcile("a");
    expect(reconciled).toMatchObject({ disposition: "recovered", receipt: { status: "failed" } });
    answer.open();
    expect((await dispatching).receipt).toEqual(reconciled?.receipt);
    expect(await other.protocol.listEvidence("a")).toMatchObject([{ kind: "lateReceipt", fence: 1 }]);
    await slow.close();
    await other.close();
  });
});

/** Timers within a statement's time run; a heart that beats later does not. */
function stoppedTimer(atMs: number, run: () => void): () => void {
  if (atMs > 100) return () => undefined;
  queueMicrotask(run);
  return () => undefined;
}

describe("a PostgreSQL journal in trouble", () => {
  it("ACT-11: connections that are killed between steps are replaced", async () => {
    const schema = newSchema();
    const journal = await openPostgresJournal(database.url, { schema });
    const dispatcher = dispatcherOn(journal);
    for (let round = 0; round < 5; round += 1) {
      await dispatcher.dispatch(intentOf(`op-${round}`, { conflictKeys: ["k"] }));
      await database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    }
    expect((await dispatcher.dispatch(intentOf("op-0", { conflictKeys: ["k"] }))).disposition).toBe("replayed");
    await journal.close();
  });

  it("ACT-11: a step that the database refuses takes none of those beside it down", async () => {
    const schema = newSchema();
    const journal = await openPostgresJournal(database.url, { schema });
    const claim = (operationId: string) => ({
      operationId,
      claimId: operationId,
      intentHash: "h",
      intentText: "{}",
      scopes: [],
    });
    const settled = await Promise.allSettled(["a", "b\u0000", "c"].map((id) => journal.protocol.claim(claim(id))));
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    await journal.close();
  });

  it("ACT-1: a commit is on disk whatever the session says", async () => {
    const schema = newSchema();
    const pool = new pg.Pool({ connectionString: database.url, max: 3, options: "-c synchronous_commit=off" });
    const journal = await openPostgresJournal(pool, { schema });
    await dispatcherOn(journal).dispatch(intentOf("a"));
    const client = await pool.connect();
    await client.query("BEGIN");
    await client.query(
      `SELECT * FROM ${schema}.take_steps(NULL, 1000, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`,
    );
    expect((await client.query("SHOW synchronous_commit")).rows[0]).toEqual({ synchronous_commit: "on" });
    await client.query("ROLLBACK");
    client.release();
    await journal.close();
    // The host's pool stays open.
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it("ACT-11: a newer schema is refused by both numbers and left untouched", async () => {
    const schema = newSchema();
    await (await openPostgresJournal(database.url, { schema })).close();
    await database.query(`UPDATE ${schema}.schema_version SET version = 99`);
    await expect(openPostgresJournal(database.url, { schema })).rejects.toMatchObject({
      code: "JOURNAL_VERSION",
      message: expect.stringMatching(new RegExp(`version 99; .* up to ${MIGRATIONS.length}`)),
    });
    expect((await database.query(`SELECT version FROM ${schema}.schema_version`)).rows).toEqual([{ version: 99 }]);
  });

  it("ACT-11: many who open a new schema at once make it once", async () => {
    const schema = newSchema();
    const journals = await Promise.all(Array.from({ length: 6 }, () => openPostgresJournal(database.url, { schema })));
    await dispatcherOn(journals[0] as Journal).dispatch(intentOf("a"));
    expect(await Promise.all(journals.map(async (journal) => (await journal.find("a"))?.state))).toEqual(
      Array(6).fill("committed"),
    );
    for (const journal of journals) await journal.close();
  });

  it("ACT-11: a table that is gone is an error, and nothing is dispatched", async () => {
    const schema = newSchema();
    const journal = await openPostgresJournal(database.url, { schema });
    await database.query(`DROP TABLE ${schema}.scopes`);
    await expect(dispatcherOn(journal).dispatch(intentOf("a", { conflictKeys: ["k"] }))).rejects.toMatchObject({
      code: "JOURNAL_CORRUPT",
    });
    expect(await journal.find("a")).toBeUndefined();
    await journal.close();
  });

  it("ACT-11: a record that was changed behind the journal's back is named and refused", async () => {
    const schema = newSchema();
    const journal = await openPostgresJournal(database.url, { schema });
    for (const id of ["a", "b"]) await dispatcherOn(journal).dispatch(intentOf(id));
    await database.query(`ALTER TABLE ${schema}.entries DISABLE TRIGGER ALL`);
    await database.query(
      `UPDATE ${schema}.entries SET receipt = replace(receipt, 'done', 'dome') WHERE operation_id = 'a'`,
    );
    await expect(journal.find("a")).rejects.toMatchObject({ code: "JOURNAL_CORRUPT", subject: "operation a" });
    await expect(dispatcherOn(journal).dispatch(intentOf("a"))).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
    expect((await journal.find("b"))?.state).toBe("committed");
    await journal.close();
  });

  it("ACT-11: a database that was restored or failed over is refused until that is accepted", async () => {
    const schema = newSchema();
    await (await openPostgresJournal(database.url, { schema })).close();
    await database.query(`UPDATE ${schema}.journal SET timeline = timeline + 1`);
    expect(await refusal(openPostgresJournal(database.url, { schema }))).toBe("JOURNAL_UNSAFE");
    await database.query(`UPDATE ${schema}.journal SET system_identifier = NULL`);
    expect(await refusal(openPostgresJournal(database.url, { schema }))).toBe("opened");
    expect(await refusal(openPostgresJournal(database.url, { schema }))).toBe("opened");
  });

  it("ACT-11: a statement that the server cuts off is an error, and can be taken again", async () => {
    const schema = newSchema();
    const journal = await openPostgresJournal(database.url, { schema });
    const blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    await dispatcherOn(journal).dispatch(intentOf("a", { conflictKeys: ["k"] }));
    await blocker.query("BEGIN");
    await blocker.query(`SELECT * FROM ${schema}.scopes FOR UPDATE`);
    const dispatching = dispatcherOn(journal).dispatch(intentOf("b", { conflictKeys: ["k"] }));
    const settled = dispatching.then(
      () => "done",
      (error: { readonly code: string }) => error.code,
    );
    await expect
      .poll(
        async () =>
          (
            await database.query(
              "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
            )
          ).rows.length,
      )
      .toBe(1);
    expect(await settled).toBe("JOURNAL_UNAVAILABLE");
    await blocker.query("ROLLBACK");
    await blocker.end();
    expect((await dispatcherOn(journal).dispatch(intentOf("b", { conflictKeys: ["k"] }))).disposition).toBe("executed");
    await journal.close();
  });

  it.each([
    ["nothing to connect to", "postgres://postgres@127.0.0.1:1/postgres", {}, "JOURNAL_UNAVAILABLE"],
    ["no pool and no options", 5, {}, "INVALID_OPTIONS"],
    ["a schema of a wrong name", "postgres://x", { schema: "a; DROP" }, "INVALID_OPTIONS"],
    ["an option that is none", "postgres://x", { shema: "mine" } as object, "INVALID_OPTIONS"],
    ["a wrong lease", "postgres://x", { leaseMs: -1 }, "INVALID_OPTIONS"],
  ])("ACT-11: %s is refused by name", async (_name, given, options, code) => {
    expect(await refusal(openPostgresJournal(given as never, options))).toBe(code);
  });
});
