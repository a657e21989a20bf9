import { DatabaseSync } from "@photostructure/sqlite";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { intentOf } from "../actions/rig.ts";
import { rounds } from "./long-runs.ts";
import type { RecoveryOrders, RecoverySaid } from "./recovery-child.ts";
import { buildChild, spawnChild } from "./spawn-child.ts";
import { buildProgram, spawnProgram } from "./spawn-program.ts";
import { openStore, type StoreAddress } from "./store.ts";
import { type CrashSite, dropDatabase, makeSite, STORES } from "./stores.ts";
import { World } from "./world.ts";

beforeAll(() => {
  buildChild();
  buildProgram("recovery-child");
});
afterAll(dropDatabase);

/** Starts a process that recovers, and answers how it ended and how many points it came past. */
async function recover({ store, worldPath }: CrashSite, dieAt: number) {
  const orders: RecoveryOrders = { store, worldPath, dieAt };
  const child = spawnProgram<RecoverySaid>({ name: "recovery-child", orders });
  const ended = await child.ended;
  return { ended, points: child.said[0]?.points ?? 0 };
}

/** A journal whose process was killed when its write was made and its receipt was not saved. */
async function leftSite(kind: (typeof STORES)[number]): Promise<CrashSite> {
  const site = await makeSite(kind);
  const child = spawnChild({
    store: site.store,
    worldPath: site.worldPath,
    crashAt: "after the write",
    operations: [{ operationId: "op", key: "k" }],
    width: 1,
    writeMs: 0,
    waitsForStart: false,
  });
  expect(await child.ended).toBe("SIGKILL");
  await leasesEnd(site.store);
  return site;
}

/** Resolves when every lease of a database has run out; on one machine there is nothing to wait for. */
async function leasesEnd(store: StoreAddress): Promise<void> {
  if (store.kind !== "postgres") return;
  const client = new pg.Client({ connectionString: store.url });
  await client.connect();
  const living = async () =>
    (await client.query(`SELECT 1 FROM ${store.schema}.owners WHERE lease_until > clock_timestamp()`)).rows.length;
  await expect.poll(living, { timeout: 10_000 }).toBe(0);
  await client.end();
}

/** Where to die: everywhere in the long form, else here and there and at the end. */
function deathsAmong(points: number): readonly number[] {
  const all = Array.from({ length: points }, (_, place) => place + 1);
  return all.filter((place) => place === points || place % rounds(9, 1) === 0);
}

/** Opens what is left, ends what is open by a person's word, and goes on. */
async function goOn({ store, worldPath }: CrashSite) {
  const world = new World(worldPath);
  const journal = await openStore(store);
  const dispatcher = new GameActionDispatcher({
    journal,
    handler: { execute: (intent) => GameActionReceipt.committed(intent, "went on") },
  });
  await dispatcher.start();
  const found = await journal.find("op");
  if (found?.state === "uncertain")
    await dispatcher.resolve("op", { status: world.isDone("op") ? "committed" : "failed", evidence: "looked" });
  const next = await dispatcher.dispatch(intentOf("next", { conflictKeys: ["k"] }));
  const op = await journal.find("op");
  const { entries } = await journal.listOpen({ limit: 10 });
  await journal.close();
  if (store.kind === "sqlite") expect(integrityOf(store.path)).toBe("ok");
  return {
    found: found?.state,
    op: op?.state,
    next: next.disposition,
    open: entries.length,
    writes: world.writesOf("op"),
    schema: store.kind === "sqlite" ? schemaOf(store.path) : "",
  };
}

describe.each(STORES)("a process that is killed while it recovers, on %s", (kind) => {
  it("ACT-5: at every statement, twice: what was open is uncertain or has its one ending, and the journal goes on", {
    timeout: 600_000,
  }, async () => {
    const whole = await leftSite(kind);
    const { ended, points } = await recover(whole, 0);
    expect(ended).toBe(0);
    const undisturbed = await goOn(whole);
    expect(undisturbed).toMatchObject({ found: "committed", op: "committed", next: "executed", open: 0, writes: 1 });
    await whole.remove();
    const states = new Set<string | undefined>();
    for (const dieAt of deathsAmong(points)) {
      const site = await leftSite(kind);
      const first = await recover(site, dieAt);
      // Where what it does depends on time, fewer statements may have been enough.
      if (first.ended !== 0) {
        expect(first.ended).toBe("SIGKILL");
        await leasesEnd(site.store);
        expect(["SIGKILL", 0]).toContain((await recover(site, dieAt)).ended);
        await leasesEnd(site.store);
      }
      const { found, ...rest } = await goOn(site);
      states.add(found);
      const { found: _found, ...wanted } = undisturbed;
      expect([dieAt, rest]).toEqual([dieAt, wanted]);
      await site.remove();
    }
    expect([...states].sort()).toEqual(["committed", "uncertain"]);
  });

  it("ACT-11: at every statement of making a new journal: the next one to open it makes it whole", {
    timeout: 600_000,
  }, async () => {
    const whole = await makeSite(kind);
    const { points } = await recover(whole, 0);
    expect(points).toBeGreaterThan(10);
    const undisturbed = await goOn(whole);
    await whole.remove();
    for (const dieAt of deathsAmong(points)) {
      const site = await makeSite(kind);
      await recover(site, dieAt);
      expect([dieAt, await goOn(site)]).toEqual([dieAt, undisturbed]);
      await site.remove();
    }
  });
});

function integrityOf(path: string): unknown {
  const database = new DatabaseSync(path);
  const row = database.prepare("PRAGMA integrity_check").get() as { readonly integrity_check: unknown };
  database.close();
  return row.integrity_check;
}

function schemaOf(path: string): string {
  const database = new DatabaseSync(path);
  const rows = database.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").all();
  database.close();
  return JSON.stringify(rows);
}
