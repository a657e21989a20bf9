import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { RunStore } from "../../src/domain/run-store.ts";
import { openPostgresJournal, openPostgresRunStore, type PoolOrConfig } from "../../src/journal/postgres/index.ts";
import { MIGRATIONS } from "../../src/journal/postgres/migrations.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { testRunStore } from "../../src/testing/run-store-suite.ts";
import { intentOf } from "../actions/rig.ts";
import { type Cut, openProxy } from "../crash/cutting-proxy.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";
import { openCutPool } from "./cut-pool.ts";

const SHORT_LEASE = { leaseMs: 400, heartbeatMs: 100 };

let database: TestDatabase;
let schemas = 0;

beforeAll(async () => {
  database = await makeDatabase();
}, 60_000);

afterAll(() => database.drop());

function newSchema(): string {
  schemas += 1;
  return `runs_${schemas}`;
}

async function factsOf(store: RunStore, runId: string) {
  const claim = await store.claim(runId, { create: false });
  await claim.release();
  return claim.facts;
}

async function claimOnceFree(store: RunStore, runId: string) {
  await expect
    .poll(async () => (await store.listOpen({ limit: 9 })).runs.map(({ claimed }) => claimed), { timeout: 10_000 })
    .toEqual([false]);
  return store.claim(runId, { create: false });
}

async function refusal(opening: Promise<RunStore>): Promise<unknown> {
  try {
    await (await opening).close();
  } catch (error) {
    return (error as { readonly code: unknown }).code;
  }
  return "opened";
}

describe("the PostgreSQL run store keeps to the contract", () => {
  for (const { name, run } of testRunStore(() => openPostgresRunStore(database.url))) it(name, run);
});

describe("a PostgreSQL run store", () => {
  it("RUN-6: facts of many runs that are recorded at the same time share a statement", async () => {
    const pool = openCutPool(database.url);
    const store = await openPostgresRunStore(pool, { schema: newSchema() });
    const runIds = Array.from({ length: 40 }, (_, place) => `run-${place}`);
    const claims = await Promise.all(runIds.map((runId) => store.claim(runId, { create: true })));
    await Promise.all(claims.map((claim) => claim.append(factsUpTo(2))));
    expect(pool.statements.filter((text) => /^SELECT .*append_facts/.test(text))).toHaveLength(1);
    await Promise.all(claims.map((claim) => claim.release()));
    for (const runId of runIds) expect(await factsOf(store, runId)).toEqual(factsUpTo(2));
    await store.close();
    await pool.end();
  });

  it("RUN-6: shares a schema and a pool with a journal", async () => {
    const schema = newSchema();
    const pool = new pg.Pool({ connectionString: database.url, max: 6 });
    const [journal, store] = [
      await openPostgresJournal(pool, { schema }),
      await openPostgresRunStore(pool, { schema }),
    ];
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: { execute: (intent) => GameActionReceipt.committed(intent, { done: true }) },
    });
    const claim = await store.claim("run", { create: true });
    await Promise.all(
      Array.from({ length: 10 }, async (_, place) => {
        await claim.append([fact(place + 1)]);
        await dispatcher.dispatch(intentOf(`op-${place}`, { conflictKeys: ["k"] }));
      }),
    );
    await claim.release();
    expect(await factsOf(store, "run")).toEqual(factsUpTo(10));
    await journal.close();
    await store.close();
    expect(
      (await pool.query(`SELECT count(*)::int AS ended FROM ${schema}.entries WHERE state = 'committed'`)).rows,
    ).toEqual([{ ended: 10 }]);
    await pool.end();
  });

  it("RUN-6: a run is held for as long as its process shows itself, however little happens in it", async () => {
    const schema = newSchema();
    const [store, other] = [
      await openPostgresRunStore(database.url, { schema, ...SHORT_LEASE }),
      await openPostgresRunStore(database.url, { schema }),
    ];
    await store.claim("run", { create: true });
    const lives = async () =>
      Number(
        (
          await database.query(
            `SELECT floor(extract(epoch FROM lease_until - started_at) * 1000 / $1)::int AS lives FROM ${schema}.owners ORDER BY started_at LIMIT 1`,
            [SHORT_LEASE.leaseMs],
          )
        ).rows[0]?.lives,
      );
    await expect.poll(lives, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
    await expect(other.claim("run", { create: false })).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    await store.close();
    expect((await other.claim("run", { create: false })).facts).toEqual([]);
    await other.close();
  });

  it("RUN-6: a process that is cut off loses its runs after its lease, and then records nothing more in them", async () => {
    const schema = newSchema();
    const pool = openCutPool(database.url);
    const former = await openPostgresRunStore(pool, { schema, ...SHORT_LEASE });
    const next = await openPostgresRunStore(database.url, { schema });
    const lost = await former.claim("run", { create: true });
    await lost.append([fact(1)]);
    await expect(next.claim("run", { create: false })).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    pool.cut();
    const claim = await claimOnceFree(next, "run");
    expect(claim.facts).toEqual([fact(1)]);
    pool.mend();
    await expect(lost.append([fact(2)])).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    await lost.release();
    await claim.append([fact(3)]);
    await expect(former.claim("run", { create: false })).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    await claim.release();
    expect(await factsOf(former, "run")).toEqual([fact(1), fact(3)]);
    await former.close();
    await next.close();
    await pool.end();
  });

  it("RUN-6: a process whose lease ran out while nobody wanted its run goes on, and is alive again", async () => {
    const schema = newSchema();
    const pool = openCutPool(database.url);
    const store = await openPostgresRunStore(pool, { schema, ...SHORT_LEASE });
    const other = await openPostgresRunStore(database.url, { schema });
    const claim = await store.claim("run", { create: true });
    await claim.append([fact(1)]);
    const ownerOf = async () => (await database.query(`SELECT owner FROM ${schema}.runs`)).rows;
    const before = await ownerOf();
    pool.cut();
    await expect
      .poll(async () => (await other.listOpen({ limit: 9 })).runs[0]?.claimed, { timeout: 10_000 })
      .toBe(false);
    await expect(claim.append([fact(2)])).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    pool.mend();
    await claim.append([fact(2)]);
    await expect(other.claim("run", { create: false })).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    expect(await ownerOf()).not.toEqual(before);
    await claim.release();
    expect(await factsOf(other, "run")).toEqual(factsUpTo(2));
    await store.close();
    await other.close();
    await pool.end();
  });

  it("RUN-6: what is under way when a lease runs out goes on under one new name, which is kept alive", async () => {
    const schema = newSchema();
    const store = await openPostgresRunStore(database.url, { schema });
    const claims = await Promise.all(["a", "b", "c"].map((runId) => store.claim(runId, { create: true })));
    await database.query(`UPDATE ${schema}.owners SET lease_until = now() - interval '1 h'`);
    // Two statements are on their way at the same time.
    const appends = [claims[0]?.append([fact(1)])];
    await Promise.resolve();
    appends.push(claims[1]?.append([fact(1)]), claims[2]?.append([fact(1)]));
    await Promise.all(appends);
    expect((await database.query(`SELECT count(*)::int AS names FROM ${schema}.owners`)).rows).toEqual([{ names: 2 }]);
    const { rows } = await database.query(`SELECT DISTINCT owner FROM ${schema}.runs`);
    expect(rows).toHaveLength(1);
    await store.close();
  });

  it("RUN-6: a run that could not be given back is given back with the next step that succeeds", async () => {
    const schema = newSchema();
    const pool = openCutPool(database.url);
    const store = await openPostgresRunStore(pool, { schema });
    const other = await openPostgresRunStore(database.url, { schema });
    const claim = await store.claim("run", { create: true });
    pool.cut();
    await expect(claim.release()).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    pool.mend();
    await (await store.claim("another", { create: true })).release();
    const freed = async () => (await other.listOpen({ limit: 9 })).runs.map(({ claimed }) => claimed);
    await expect.poll(freed).toEqual([false, false]);
    expect((await other.claim("run", { create: false })).facts).toEqual([]);
    await store.close();
    await other.close();
    await pool.end();
  });

  it("RUN-6: pruning takes what nobody alive holds, in as many parts as it needs", async () => {
    const schema = newSchema();
    const store = await openPostgresRunStore(database.url, { schema });
    const claims = await Promise.all(
      Array.from({ length: 150 }, (_, place) => store.claim(`run-${place}`, { create: true })),
    );
    await Promise.all(claims.map((claim) => claim.append([fact(1)], { status: "completed", turn: 1 })));
    expect(await store.prune({ endedBefore: Number.MAX_SAFE_INTEGER })).toBe(0);
    await store.close();
    const other = await openPostgresRunStore(database.url, { schema });
    expect(await other.prune({ endedBefore: Number.MAX_SAFE_INTEGER })).toBe(150);
    expect((await database.query(`SELECT count(*)::int AS left FROM ${schema}.facts`)).rows).toEqual([{ left: 0 }]);
    await other.close();
  });
});

describe("a PostgreSQL run store in trouble", () => {
  const CUTS: readonly Cut[] = [1, 2, 3, 4].flatMap((message) => [
    { lost: "request", message } as const,
    { lost: "answer", message } as const,
  ]);

  it.each(CUTS)("RUN-6: with the $lost of message $message lost each fact is recorded once", async (cut) => {
    const schema = newSchema();
    const proxy = await openProxy(database.url);
    const store = await openPostgresRunStore(proxy.url, { schema });
    const claim = await store.claim("run", { create: true });
    await claim.append([fact(1)]);
    proxy.arm(cut);
    await claim.append([fact(2)]);
    await claim.append([fact(3)], { status: "awaitingApproval", turn: 1 });
    await claim.append([fact(3)]);
    await claim.release();
    expect(await factsOf(store, "run")).toEqual([...factsUpTo(3), fact(3)]);
    await store.close();
    await proxy.close();
  });

  it.each(CUTS)("C28: a claim with the $lost of message $message lost is won once", async (cut) => {
    const schema = newSchema();
    const proxy = await openProxy(database.url);
    const store = await openPostgresRunStore(proxy.url, { schema });
    const other = await openPostgresRunStore(database.url, { schema });
    await (await store.claim("before", { create: true })).release();
    proxy.arm(cut);
    const claim = await store.claim("run", { create: true });
    await expect(other.claim("run", { create: true })).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    await claim.append([fact(1)]);
    await claim.release();
    expect(await factsOf(other, "run")).toEqual([fact(1)]);
    await store.close();
    await other.close();
    await proxy.close();
  });

  it.each([
    [
      "a fact that was changed",
      "UPDATE facts SET body = replace(body, '\"index\":2', '\"index\":9') WHERE run_id = 'a' AND seq = 2",
    ],
    [
      "facts that changed places",
      "UPDATE facts SET body = (SELECT body FROM facts WHERE run_id = 'b' AND seq = 1) WHERE run_id = 'a' AND seq = 2",
    ],
    ["a fact that is gone", "DELETE FROM facts WHERE run_id = 'a' AND seq = 2"],
    ["the last fact that is gone", "DELETE FROM facts WHERE run_id = 'a' AND seq = 3"],
    ["a fact too many", "INSERT INTO facts SELECT run_id, 4, body, body_sum FROM facts WHERE run_id = 'a' AND seq = 3"],
  ])("ACT-11: %s is named and refused; other runs can be gone on with", async (_name, statement) => {
    const schema = newSchema();
    const store = await openPostgresRunStore(database.url, { schema });
    for (const runId of ["a", "b"]) {
      const claim = await store.claim(runId, { create: true });
      await claim.append(factsUpTo(3));
      await claim.release();
    }
    await database.query(`SET search_path TO ${schema}; ALTER TABLE facts DISABLE TRIGGER ALL; ${statement}`);
    for (let times = 0; times < 2; times += 1) {
      await expect(store.claim("a", { create: true })).rejects.toMatchObject({
        code: "JOURNAL_CORRUPT",
        subject: "run a",
      });
    }
    expect((await store.listOpen({ limit: 9 })).runs.map(({ claimed }) => claimed)).toEqual([false, false]);
    expect(await factsOf(store, "b")).toEqual(factsUpTo(3));
    await store.close();
  });

  it("RUN-6: the schema itself keeps facts, fences and open runs", async () => {
    const schema = newSchema();
    const store = await openPostgresRunStore(database.url, { schema });
    const claim = await store.claim("a", { create: true });
    await claim.append(factsUpTo(3));
    for (const statement of [
      "UPDATE facts SET body = '{}'",
      "DELETE FROM facts WHERE seq = 3",
      "DELETE FROM runs",
      "UPDATE runs SET fence = fence - 1",
      "UPDATE runs SET facts = 2",
      "UPDATE runs SET run_id = 'c'",
    ]) {
      await expect(database.query(`SET search_path TO ${schema}; ${statement}`)).rejects.toMatchObject({
        code: "TK002",
      });
    }
    await claim.release();
    await store.close();
  });

  it("RUN-6: a fact is on disk when it is acknowledged, whatever the session says", async () => {
    const schema = newSchema();
    await (await openPostgresRunStore(database.url, { schema })).close();
    const { rows } = await database.query(
      `INSERT INTO ${schema}.owners (lease_until) VALUES (now() + interval '1 h') RETURNING owner`,
    );
    const client = new pg.Client({ connectionString: database.url, options: "-c synchronous_commit=off" });
    await client.connect();
    for (const call of [
      `append_facts('${rows[0]?.owner}', 1000, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`,
      `take_run('${rows[0]?.owner}', 1000, 'run', true)`,
    ]) {
      await client.query("BEGIN");
      await client.query(`SELECT * FROM ${schema}.${call}`);
      expect((await client.query("SHOW synchronous_commit")).rows).toEqual([{ synchronous_commit: "on" }]);
      await client.query("ROLLBACK");
    }
    await client.end();
  });

  it("CAN-5: a run that is closed in the middle of trouble keeps what was acknowledged", async () => {
    const schema = newSchema();
    const pool = openCutPool(database.url);
    const store = await openPostgresRunStore(pool, { schema });
    const claim = await store.claim("run", { create: true });
    await claim.append([fact(1)]);
    pool.cut();
    const failing = Promise.allSettled([claim.append([fact(2)]), claim.append([fact(3)])]);
    await store.close();
    expect((await failing).map((each) => (each.status === "rejected" ? each.reason.code : each.status))).toEqual([
      "JOURNAL_UNAVAILABLE",
      "JOURNAL_UNAVAILABLE",
    ]);
    expect(
      (await database.query(`SELECT seq::int FROM ${schema}.facts ORDER BY seq`)).rows.map(({ seq }) => seq),
    ).toEqual([1]);
    await pool.end();
  });

  it("ACT-11: a schema of before there were runs goes on, and a newer one is refused by both numbers", async () => {
    const schema = newSchema();
    await (await openPostgresJournal(database.url, { schema })).close();
    await database.query(
      `DROP TABLE ${schema}.runs, ${schema}.facts; DROP FUNCTION ${schema}.keep_fact, ${schema}.take_run, ${schema}.append_facts, ${schema}.prune_runs; UPDATE ${schema}.schema_version SET version = 1`,
    );
    const store = await openPostgresRunStore(database.url, { schema });
    await (await store.claim("run", { create: true })).append([fact(1)]);
    await store.close();
    await database.query(`UPDATE ${schema}.schema_version SET version = 99`);
    await expect(openPostgresRunStore(database.url, { schema })).rejects.toMatchObject({
      code: "JOURNAL_VERSION",
      message: expect.stringMatching(new RegExp(`version 99; .* up to ${MIGRATIONS.length}`)),
    });
  });

  it.each([
    ["nothing to connect to", "postgres://postgres@127.0.0.1:1/postgres", {}, "JOURNAL_UNAVAILABLE"],
    ["no pool and no options", 5, {}, "INVALID_OPTIONS"],
    ["a schema of a wrong name", "postgres://x", { schema: "a; DROP" }, "INVALID_OPTIONS"],
    ["a wrong lease", "postgres://x", { heartbeatMs: 0 }, "INVALID_OPTIONS"],
  ])("ACT-11: %s is refused by name", async (_name, given, options, code) => {
    expect(await refusal(openPostgresRunStore(given as PoolOrConfig, options))).toBe(code);
  });
});
