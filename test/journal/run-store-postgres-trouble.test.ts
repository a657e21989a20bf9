import pg from "pg";
import { describe, expect, it } from "vitest";
import { Connections } from "../../src/journal/postgres/connections.ts";
import { openPostgresRunStore, type PoolOrConfig } from "../../src/journal/postgres/index.ts";
import { MIGRATIONS, migrate } from "../../src/journal/postgres/migrations.ts";
import { steadyClock } from "../../src/run/clock.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { type Cut, openProxy } from "../crash/cutting-proxy.ts";
import { refusal, setPostgresScene } from "../support/postgres-scene.ts";
import { factsOf } from "../support/run-store-scene.ts";
import { openCutPool } from "./cut-pool.ts";

const { database, newSchema } = setPostgresScene();

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
  ])("ACT-11: %s is named and refused; other runs can be resumed", async (_name, statement) => {
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

  it.each(MIGRATIONS.slice(1).map((_step, place) => place + 1))(
    "ACT-11: a schema of version %i goes on, and a newer one is refused by both numbers",
    async (version) => {
      const schema = newSchema();
      const pool = openCutPool(database.url);
      const connections = new Connections(pool, steadyClock());
      await migrate({ connections, schema, migrations: MIGRATIONS.slice(0, version) });
      await pool.end();
      const store = await openPostgresRunStore(database.url, { schema });
      await (await store.claim("run", { create: true })).append([fact(1)]);
      await store.close();
      await database.query(`UPDATE ${schema}.schema_version SET version = 99`);
      await expect(openPostgresRunStore(database.url, { schema })).rejects.toMatchObject({
        code: "JOURNAL_VERSION",
        message: expect.stringMatching(new RegExp(`version 99; .* up to ${MIGRATIONS.length}`)),
      });
    },
  );

  it.each([
    ["nothing to connect to", "postgres://postgres@127.0.0.1:1/postgres", {}, "JOURNAL_UNAVAILABLE"],
    ["no pool and no options", 5, {}, "INVALID_OPTIONS"],
    ["a schema of a wrong name", "postgres://x", { schema: "a; DROP" }, "INVALID_OPTIONS"],
    ["a wrong lease", "postgres://x", { heartbeatMs: 0 }, "INVALID_OPTIONS"],
  ])("ACT-11: %s is refused by name", async (_name, given, options, code) => {
    expect(await refusal(openPostgresRunStore(given as PoolOrConfig, options))).toBe(code);
  });
});
