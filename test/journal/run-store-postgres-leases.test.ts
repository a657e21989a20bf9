import { describe, expect, it } from "vitest";
import type { RunStore } from "../../src/domain/run-store.ts";
import { openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { setPostgresScene } from "../support/postgres-scene.ts";
import { factsOf } from "../support/run-store-scene.ts";
import { openCutPool } from "./cut-pool.ts";

const SHORT_LEASE = { leaseMs: 400, heartbeatMs: 100 };

const { database, newSchema } = setPostgresScene();

async function claimOnceFree(store: RunStore, runId: string) {
  await expect
    .poll(async () => (await store.listOpen({ limit: 9 })).runs.map(({ claimed }) => claimed), { timeout: 10_000 })
    .toEqual([false]);
  return store.claim(runId, { create: false });
}

describe("a PostgreSQL run store", () => {
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
});
