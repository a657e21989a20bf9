import pg from "pg";
import { describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { openPostgresJournal, openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { testRunStore } from "../../src/testing/run-store-suite.ts";
import { intentOf } from "../actions/rig.ts";
import { setPostgresScene } from "../support/postgres-scene.ts";
import { factsOf } from "../support/run-store-scene.ts";
import { openCutPool } from "./cut-pool.ts";

const { database, newSchema } = setPostgresScene();

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
