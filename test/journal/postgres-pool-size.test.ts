import pg from "pg";
import { describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import type { PostgresClient, PostgresPool } from "../../src/journal/postgres/pool.ts";
import { ReleaseListener } from "../../src/journal/postgres/release-listener.ts";
import { gate, intentOf } from "../actions/rig.ts";
import { setPostgresScene } from "../support/postgres-scene.ts";

const { database, newSchema } = setPostgresScene();

/** A pool that says how large it is, and notes how many of its connections are in use. */
function countingPool(options: object | undefined) {
  const uses = { now: 0 };
  const given = gate();
  const isUsedUp = { now: false, give: () => given.open() };
  const client = {
    query: async () => ({ rows: [] }),
    on: () => undefined,
    release: () => {
      uses.now -= 1;
    },
  } as unknown as PostgresClient; // as much of one as a listener asks
  const pool = {
    ...(options !== undefined && { options }),
    connect: async () => {
      uses.now += 1;
      if (isUsedUp.now) await given.opened;
      return client;
    },
  } as PostgresPool;
  const listener = () => new ReleaseListener({ pool, channel: "channel", onReleased: () => undefined });
  return { uses, listener, isUsedUp };
}

describe("the size of a pool", () => {
  it.each([
    ["one connection", { max: 1 }, 0],
    ["two connections", { max: 2 }, 1],
    ["four connections", { max: 4 }, 3],
    ["a size that it does not tell", undefined, 0],
    ["a size that is none", { max: "many" }, 0],
  ])("ACT-10: of %s leaves one for statements, however many listen", async (_name, options, listening) => {
    const { uses, listener } = countingPool(options);
    const listeners = Array.from({ length: 5 }, listener);
    for (const each of listeners) each.listen();
    for (const each of listeners) each.listen();
    expect(uses.now).toBe(listening);
    for (const each of listeners) each.close();
    await expect.poll(() => uses.now).toBe(0);
    const again = listener();
    again.listen();
    expect(uses.now).toBe(Math.min(listening, 1));
    again.close();
  });

  it("ACT-10: that is used up keeps no listener from closing, and gets back what it gives too late", async () => {
    const { uses, listener, isUsedUp } = countingPool({ max: 2 });
    isUsedUp.now = true;
    const one = listener();
    one.listen();
    one.close();
    expect(uses.now).toBe(1);
    isUsedUp.give();
    await expect.poll(() => uses.now).toBe(0);
  });

  it("ACT-4, ACT-10: of one connection is enough for actions that wait for each other's keys", async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    const journal = await openPostgresJournal(pool, { schema: newSchema() });
    const first = gate();
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: {
        execute: async (intent) => {
          if (intent.operationId === "a") await first.opened;
          return GameActionReceipt.committed(intent, null);
        },
      },
    });
    const intents = ["a", "b", "c"].map((id) => intentOf(id, { conflictKeys: ["k"] }));
    const dispatching = intents.map((intent) => dispatcher.dispatch(intent));
    await expect.poll(async () => (await journal.find("c"))?.state).toBe("prepared");
    first.open();
    const results = await Promise.all(dispatching);
    expect(results.map(({ disposition }) => disposition)).toEqual(["executed", "executed", "executed"]);
    await journal.close();
    await pool.end();
  });
});
