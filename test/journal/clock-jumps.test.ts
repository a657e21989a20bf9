import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { openPostgresJournal, openPostgresRunStore, type PostgresPool } from "../../src/journal/postgres/index.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";
import { steadyClock, systemClock } from "../../src/run/clock.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { gate, intentOf } from "../actions/rig.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";
import { openCutPool } from "./cut-pool.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const HOUR_MS = 3_600_000;
const JUMPS_MS = [HOUR_MS, -HOUR_MS, 365 * 24 * HOUR_MS, -365 * 24 * HOUR_MS];

let database: TestDatabase;
beforeAll(async () => {
  database = await makeDatabase();
});
afterAll(() => database.drop());
afterEach(() => {
  vi.restoreAllMocks();
});

/** Sets the clock of this process to another time, as often as it is asked to; seen from then on. */
function jumpingClock(): { jump(ms: number): void } {
  const real = Date.now.bind(Date);
  let shiftMs = 0;
  vi.spyOn(Date, "now").mockImplementation(() => real() + shiftMs);
  return {
    jump: (ms) => {
      shiftMs += ms;
    },
  };
}

/** A pool in which the clock is set to another time while each statement is under way. */
function jumpyPool(jump: () => void): PostgresPool & { end(): Promise<void> } {
  const pool = openCutPool(database.url);
  return {
    connect: async () => {
      const client = await pool.connect();
      return new Proxy(client, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name, target);
          if (name !== "query" || typeof value !== "function") return value;
          return async (...given: Parameters<typeof client.query>) => {
            const result = await client.query(...given);
            jump();
            return result;
          };
        },
      });
    },
    end: () => pool.end(),
  };
}

function dispatcherOn(journal: Journal): GameActionDispatcher {
  return new GameActionDispatcher({
    journal,
    handler: { execute: (intent) => GameActionReceipt.committed(intent, { done: intent.operationId }) },
  });
}

describe("a process whose clock is set to another time", () => {
  it.each(JUMPS_MS)(
    "ACT-4, ACT-5: by %i ms in the middle of every statement executes what it claims; the database's clock counts",
    async (ms) => {
      const { jump } = jumpingClock();
      const pool = jumpyPool(() => jump(ms));
      const journal = await openPostgresJournal(pool, { schema: `jumps_${JUMPS_MS.indexOf(ms)}` });
      const dispatcher = dispatcherOn(journal);
      for (let place = 0; place < 12; place += 1) {
        const { disposition, timings } = await dispatcher.dispatch(intentOf(`op-${place}`, { conflictKeys: ["k"] }));
        expect([disposition, journal.protocol.holdsLease()]).toEqual(["executed", true]);
        expect(timings.totalMs).toBeGreaterThanOrEqual(0);
        expect(timings.totalMs).toBeLessThan(HOUR_MS / 2);
      }
      await journal.close();
      await pool.end();
    },
  );

  it("RUN-6: in the middle of every statement keeps its run and records in it", async () => {
    const { jump } = jumpingClock();
    const pool = jumpyPool(() => jump(HOUR_MS));
    const store = await openPostgresRunStore(pool, { schema: "jumps" });
    const claim = await store.claim("run", { create: true });
    for (let place = 1; place <= 8; place += 1) await claim.append([fact(place)]);
    await claim.release();
    expect((await store.claim("run", { create: false })).facts).toEqual(factsUpTo(8));
    await store.close();
    await pool.end();
  });

  it("ACT-5: back does not believe in a lease that has run out by the clock of the database", async () => {
    const { jump } = jumpingClock();
    const pool = openCutPool(database.url);
    const journal = await openPostgresJournal(pool, { schema: "jumps_back", leaseMs: 300, heartbeatMs: 100 });
    await dispatcherOn(journal).dispatch(intentOf("a"));
    expect(journal.protocol.holdsLease()).toBe(true);
    jump(-HOUR_MS);
    await expect.poll(() => journal.protocol.holdsLease(), { timeout: 5_000 }).toBe(false);
    await journal.close();
    await pool.end();
  });

  it.each(JUMPS_MS)("ACT-3: by %i ms while it waits for a key waits on, and gets it when it is free", async (ms) => {
    const { jump } = jumpingClock();
    const journal = await openSqliteJournal(`${temporaryDirectory()}/journal.db`);
    const answer = gate();
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: {
        execute: async (intent) => {
          if (intent.operationId === "first") await answer.opened;
          return GameActionReceipt.committed(intent, 1);
        },
      },
    });
    const first = dispatcher.dispatch(intentOf("first", { conflictKeys: ["k"] }));
    const second = dispatcher.dispatch(intentOf("second", { conflictKeys: ["k"] }));
    await expect.poll(async () => (await journal.find("second"))?.state).toBe("prepared");
    jump(ms);
    // It looks again, more than once, at the time that it is now.
    for (let look = 0; look < 20; look += 1) await journal.find("second");
    answer.open();
    expect((await Promise.all([first, second])).map(({ disposition }) => disposition)).toEqual([
      "executed",
      "executed",
    ]);
    await journal.close();
  });

  it("ACT-3: back while it waits for a key does not wait longer than it may", async () => {
    const { jump } = jumpingClock();
    const journal = await openSqliteJournal(`${temporaryDirectory()}/journal.db`);
    const answer = gate();
    const dispatcher = new GameActionDispatcher({
      journal,
      conflictWaitTimeoutMs: 200,
      handler: {
        execute: async (intent) => {
          await answer.opened;
          return GameActionReceipt.committed(intent, 1);
        },
      },
    });
    const first = dispatcher.dispatch(intentOf("first", { conflictKeys: ["k"] }));
    const second = dispatcher.dispatch(intentOf("second", { conflictKeys: ["k"] }));
    await expect.poll(async () => (await journal.find("second"))?.state).toBe("prepared");
    jump(-HOUR_MS);
    expect((await second).disposition).toBe("conflictBlocked");
    answer.open();
    expect((await first).disposition).toBe("executed");
    await journal.close();
  });
});

describe("the clock to measure by", () => {
  it("is the one that was injected, and passes evenly where that is the platform's", async () => {
    const { jump } = jumpingClock();
    const injected = { now: () => 7, setTimer: () => () => undefined };
    expect(steadyClock(injected)).toBe(injected);
    const steady = steadyClock(systemClock);
    expect(steadyClock()).toBe(steady);
    const [before, dateBefore] = [steady.now(), systemClock.now()];
    jump(HOUR_MS);
    expect(systemClock.now() - dateBefore).toBeGreaterThanOrEqual(HOUR_MS);
    expect(steady.now() - before).toBeLessThan(HOUR_MS);
    expect(Number.isInteger(steady.now())).toBe(true);
    await new Promise<void>((resolve) => {
      steady.setTimer(steady.now() + 5, resolve);
    });
    expect(steady.now()).toBeGreaterThan(before);
  });
});
