import { readdirSync, rmSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { openSqliteJournal, openSqliteRunStore } from "../../src/journal/sqlite/index.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { intentOf } from "../actions/rig.ts";
import { factsOf } from "../support/run-store-scene.ts";
import { newPath } from "../support/run-store-sqlite-scene.ts";

function commitsOf(path: string): number {
  const database = new DatabaseSync(path);
  const { commits } = database.prepare("SELECT commits FROM toolkernel_journal").get() as { readonly commits: number };
  database.close();
  return commits;
}

describe("a SQLite run store", () => {
  it("RUN-6: facts of many runs that are recorded at the same time share commits", async () => {
    const path = newPath();
    const store = await openSqliteRunStore(path);
    const runIds = Array.from({ length: 64 }, (_, place) => `run-${place}`);
    const claims = await Promise.all(runIds.map((runId) => store.claim(runId, { create: true })));
    const before = commitsOf(path);
    await Promise.all(claims.map((claim) => claim.append([fact(1)])));
    expect(commitsOf(path) - before).toBe(1);
    for (const number of [2, 3]) await claims[0]?.append([fact(number)]);
    expect(commitsOf(path) - before).toBe(3);
    await store.close();
  });

  it("RUN-6: shares a file with a journal, both at work at the same time", async () => {
    const path = newPath();
    const [journal, store] = [await openSqliteJournal(path), await openSqliteRunStore(path)];
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: { execute: (intent) => GameActionReceipt.committed(intent, { done: true }) },
    });
    const claim = await store.claim("run", { create: true });
    await Promise.all(
      Array.from({ length: 20 }, async (_, place) => {
        await claim.append([fact(place + 1)]);
        await dispatcher.dispatch(intentOf(`op-${place}`, { conflictKeys: ["k"] }));
      }),
    );
    await journal.close();
    await claim.release();
    expect(await factsOf(store, "run")).toEqual(factsUpTo(20));
    await store.close();
    const again = await openSqliteJournal(path);
    for (let place = 0; place < 20; place += 1) expect((await again.find(`op-${place}`))?.state).toBe("committed");
    await again.close();
  });

  it("RUN-6: a second store on the file sees who holds a run, and takes it once it was given back", async () => {
    const path = newPath();
    const [one, other] = [await openSqliteRunStore(path), await openSqliteRunStore(path)];
    const claim = await one.claim("run", { create: true });
    await claim.append([fact(1)]);
    await expect(other.claim("run", { create: true })).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    for (const store of [one, other])
      expect((await store.listOpen({ limit: 9 })).runs).toMatchObject([{ claimed: true }]);
    await claim.release();
    const next = await other.claim("run", { create: false });
    expect(next.facts).toEqual([fact(1)]);
    await expect(one.claim("run", { create: false })).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    await one.close();
    await other.close();
  });

  it("RUN-6: a store that is closed leaves its runs to whoever comes next, and no lock behind", async () => {
    const path = newPath();
    const one = await openSqliteRunStore(path);
    await (await one.claim("run", { create: true })).append([fact(1)]);
    const other = await openSqliteRunStore(path);
    await one.close();
    expect((await other.listOpen({ limit: 9 })).runs).toMatchObject([{ runId: "run", claimed: false }]);
    expect(await factsOf(other, "run")).toEqual([fact(1)]);
    await other.close();
    expect(readdirSync(`${path}-owners`)).toEqual([]);
  });

  it("RUN-6: whoever lost its run records nothing more in it, and cannot give it away", async () => {
    const path = newPath();
    const [former, next] = [await openSqliteRunStore(path), await openSqliteRunStore(path)];
    const lost = await former.claim("run", { create: true });
    await lost.append([fact(1)]);
    // As if its process had ended.
    for (const name of readdirSync(`${path}-owners`)) rmSync(`${path}-owners/${name}`);
    const claim = await next.claim("run", { create: false });
    await expect(lost.append([fact(2)])).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    await lost.release();
    await claim.append([fact(3)]);
    await claim.release();
    expect(await factsOf(next, "run")).toEqual([fact(1), fact(3)]);
    await former.close();
    await next.close();
  });

  it("RUN-6: pruning takes what a dead process held, in as many parts as it needs", async () => {
    const path = newPath();
    const store = await openSqliteRunStore(path);
    const claims = await Promise.all(
      Array.from({ length: 250 }, (_, place) => store.claim(`run-${place}`, { create: true })),
    );
    await Promise.all(claims.map((claim) => claim.append([fact(1)], { status: "completed", turn: 1 })));
    expect(await store.prune({ endedBefore: Number.MAX_SAFE_INTEGER })).toBe(0);
    await store.close();
    const other = await openSqliteRunStore(path);
    expect(await other.prune({ endedBefore: Number.MAX_SAFE_INTEGER })).toBe(250);
    await other.close();
    const database = new DatabaseSync(path);
    expect({ ...(database.prepare("SELECT count(*) AS left FROM toolkernel_facts").get() as object) }).toEqual({
      left: 0,
    });
    database.close();
  });
});
