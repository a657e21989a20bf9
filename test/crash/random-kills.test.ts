import { DatabaseSync } from "@photostructure/sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import type { GameActionReceipt } from "../../src/domain/action.ts";
import { randomFrom, rounds, SEED } from "./long-runs.ts";
import { buildChild, spawnChild } from "./spawn-child.ts";
import { openStore } from "./store.ts";
import { type CrashSite, dropDatabase, makeSite, STORES } from "./stores.ts";
import { World, worldFaults } from "./world.ts";

beforeAll(buildChild);
afterAll(dropDatabase);

const ROUNDS = rounds(4, 200);
const WIDTH = 32;
const KEYS = 12;

/** Runs a process under load on a store that lives on, kills it after some receipts, and keeps those. */
async function killUnderLoad(
  site: CrashSite,
  round: number,
  random: () => number,
): Promise<Map<string, GameActionReceipt>> {
  const child = spawnChild({
    store: site.store,
    worldPath: site.worldPath,
    crashAt: "never",
    operations: Array.from({ length: 800 }, (_, place) => ({
      operationId: `op-${round}-${place}`,
      key: place % 3 === 0 ? "" : `key-${round}-${Math.floor(random() * KEYS)}`,
    })),
    width: WIDTH,
    writeMs: 0,
    waitsForStart: false,
  });
  let acknowledged = 0;
  const enough = 1 + Math.floor(random() * 120);
  await child.says(({ receipt }) => {
    if (receipt !== undefined) acknowledged += 1;
    return acknowledged >= enough;
  });
  child.kill("SIGKILL");
  expect(await child.ended).toBe("SIGKILL");
  return new Map(
    child.said.flatMap(({ operationId, receipt }) =>
      operationId !== undefined && receipt !== undefined ? [[operationId, receipt]] : [],
    ),
  );
}

describe.each(STORES)(`random kills under load, on %s (seed ${SEED})`, (kind) => {
  it(`ACT-1, ACT-6: ${ROUNDS} times: no acknowledged receipt is lost, no write is made twice, what is open is uncertain`, {
    timeout: 60_000 + ROUNDS * 8_000,
  }, async () => {
    const random = randomFrom(SEED);
    const site = await makeSite(kind);
    const world = new World(site.worldPath);
    const acknowledged = new Map<string, GameActionReceipt>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [id, receipt] of await killUnderLoad(site, round, random)) acknowledged.set(id, receipt);
    }
    const journal = await openStore(site.store);
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: { execute: () => Promise.reject(new Error("never called")) },
    });
    await expect
      .poll(
        async () => {
          await dispatcher.start();
          const { entries } = await journal.listOpen({ limit: 10_000 });
          return entries.filter(({ state }) => state !== "uncertain").length;
        },
        { timeout: 10_000 },
      )
      .toBe(0);
    for (const [id, receipt] of acknowledged) {
      expect(JSON.stringify((await journal.find(id))?.receipt)).toBe(JSON.stringify(receipt));
    }
    expect(worldFaults(openKeysRemoved(world))).toEqual([]);
    // Whatever the world saw is known to the journal: ended, or uncertain.
    const states = await Promise.all(
      [...new Set(world.events().map(({ operationId }) => operationId))].map(
        async (id) => (await journal.find(id))?.state,
      ),
    );
    expect(new Set(states)).toEqual(new Set(["committed", ...(states.includes("uncertain") ? ["uncertain"] : [])]));
    await journal.close();
    if (site.store.kind === "sqlite") expect(integrityOf(site.store.path)).toBe("ok");
    await site.remove();
  });
});

/** Events of the world, without the beginnings that a kill left without an end: their key is never free again. */
function openKeysRemoved(world: World): ReturnType<World["events"]> {
  const events = world.events();
  const done = new Set(events.filter(({ event }) => event === "done").map(({ operationId }) => operationId));
  const beginnings = events.filter(({ operationId }) => !done.has(operationId));
  const lastOfKey = new Map(beginnings.map((event) => [event.key, event.operationId]));
  return events.filter(
    ({ key, operationId }) => done.has(operationId) || key === "" || lastOfKey.get(key) === operationId,
  );
}

function integrityOf(path: string): unknown {
  const database = new DatabaseSync(path);
  const row = database.prepare("PRAGMA integrity_check").get() as { readonly integrity_check: unknown };
  database.close();
  return row.integrity_check;
}
