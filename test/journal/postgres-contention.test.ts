import pg from "pg";
import { describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { openPostgresJournal, type PostgresPool } from "../../src/journal/postgres/index.ts";
import { intentOf } from "../actions/rig.ts";
import { dispatcherOn, setPostgresScene } from "../support/postgres-scene.ts";

const { database, newSchema } = setPostgresScene();

const KEYS = Array.from({ length: 12 }, (_, place) => `k-${place}`);

/** Waits until nobody else is connected: then the server has counted all that they did. */
async function everybodyIsGone(): Promise<void> {
  const others =
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  await expect.poll(async () => (await database.query(others)).rows[0]?.n).toBe(0);
}

/** How often the server ended a deadlock in this database; known for certain once everybody is gone. */
async function deadlocks(): Promise<number> {
  await everybodyIsGone();
  const { rows } = await database.query(
    "SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()",
  );
  return Number(rows[0]?.n);
}

describe("batches that want the same keys", () => {
  it("ACT-4: named in whatever order, never lock each other out", async () => {
    const schema = newSchema();
    const before = await deadlocks();
    const hosts = await Promise.all(
      Array.from({ length: 4 }, async (_, host) => {
        const journal = await openPostgresJournal(database.url, { schema });
        return { host, journal, dispatcher: dispatcherOn(journal) };
      }),
    );
    const work = async ({ host, dispatcher }: (typeof hosts)[number], worker: number): Promise<void> => {
      for (let place = 0; place < 25; place += 1) {
        // Some go up through the keys, some down, from different ones on.
        const conflictKeys = [0, 1, 2].map(
          (at) => KEYS.at((at * (host % 2 === 0 ? 1 : -1) + worker + place) % KEYS.length) ?? "",
        );
        const { disposition } = await dispatcher.dispatch(intentOf(`op-${host}-${worker}-${place}`, { conflictKeys }));
        expect(disposition).toBe("executed");
      }
    };
    await Promise.all(hosts.flatMap((host) => [0, 1, 2].map((worker) => work(host, worker))));
    for (const { journal } of hosts) await journal.close();
    expect(await deadlocks()).toBe(before);
  });

  it("ACT-4, ACT-11: a deadlock that somebody else brings about costs a retry, and no action", async () => {
    const schema = newSchema();
    const pool = new pg.Pool({ connectionString: database.url, max: 4, options: "-c deadlock_timeout=300ms" });
    const journal = await openPostgresJournal(pool, { schema });
    const both = { conflictKeys: ["one", "two"] };
    await dispatcherOn(journal).dispatch(intentOf("before", both));
    const { rows } = await database.query(`SELECT scope FROM ${schema}.scopes ORDER BY scope`);
    const [low, high] = rows.map(({ scope }) => String(scope));
    const outsider = new pg.Client({ connectionString: database.url, options: "-c deadlock_timeout=1h" });
    await outsider.connect();
    const lock = (scope: string | undefined) =>
      outsider.query(`SELECT * FROM ${schema}.scopes WHERE scope = $1 FOR UPDATE`, [scope]);
    await outsider.query("BEGIN");
    await lock(high);
    const dispatching = dispatcherOn(journal).dispatch(intentOf("op", both));
    const waits =
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    await expect.poll(async () => (await database.query(waits)).rows[0]?.n).toBe(1);
    await lock(low);
    await outsider.query("COMMIT");
    await outsider.end();
    expect((await dispatching).disposition).toBe("executed");
    await journal.close();
    await pool.end();
    expect(await deadlocks()).toBeGreaterThan(0);
  });

  it("ACT-11: deadlocks without end are an error after so many attempts, and nothing is dispatched", async () => {
    const schema = newSchema();
    const pool = new pg.Pool({ connectionString: database.url, max: 4 });
    let attempts = 0;
    const storm: PostgresPool = {
      connect: async () => {
        const client = await pool.connect();
        return new Proxy(client, {
          get: (target, name) => {
            const value: unknown = Reflect.get(target, name, target);
            if (typeof value !== "function") return value;
            if (name !== "query") return value.bind(target);
            return (text: string, values?: unknown[]) => {
              if (!text.includes(".take_steps(")) return target.query(text, values);
              attempts += 1;
              return Promise.reject(
                Object.assign(new Error("deadlock detected"), { code: "40P01", severity: "ERROR" }),
              );
            };
          },
        });
      },
    };
    const clock = {
      now: () => 0,
      // What is to be repeated is repeated at once, and a statement has all the time it wants.
      setTimer: (atMs: number, run: () => void) => {
        if (atMs < 1_000) queueMicrotask(run);
        return () => undefined;
      },
    };
    const journal = await openPostgresJournal(storm, { schema, clock });
    const handler = { execute: () => Promise.reject(new Error("never called")) };
    await expect(new GameActionDispatcher({ journal, handler }).dispatch(intentOf("op"))).rejects.toMatchObject({
      code: "JOURNAL_UNAVAILABLE",
    });
    expect(attempts).toBe(8);
    await journal.close();
    await pool.end();
  });
});

describe("a PostgreSQL journal whose dead rows nobody clears away", () => {
  it("ACT-10: works as quickly after many actions as after few", async () => {
    const schema = newSchema();
    await (await openPostgresJournal(database.url, { schema })).close();
    for (const table of ["entries", "scopes", "owners", "waiters", "evidence", "runs", "facts"]) {
      await database.query(`ALTER TABLE ${schema}.${table} SET (autovacuum_enabled = off)`);
    }
    const blocks = `SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::int AS n
      FROM pg_statio_user_tables WHERE schemaname = '${schema}'`;
    let actions = 0;
    const withJournal = async (work: (journal: Journal) => Promise<unknown>): Promise<void> => {
      const journal = await openPostgresJournal(database.url, { schema });
      await work(journal);
      await journal.close();
      await everybodyIsGone();
    };
    /** How many blocks the server looks at for one action, and for a look after the dead beside it. */
    const blocksForOne = async (): Promise<number> => {
      const before = Number((await database.query(blocks)).rows[0]?.n);
      await withJournal(async (journal) => {
        for (let place = 0; place < 40; place += 1) {
          actions += 1;
          await dispatcherOn(journal).dispatch(intentOf(`op-${actions}`, { conflictKeys: [`k-${actions % 3}`] }));
        }
      });
      return (Number((await database.query(blocks)).rows[0]?.n) - before) / 40;
    };
    const early = await blocksForOne();
    // Most of them have to wait in line, which leaves the most behind.
    await withJournal((journal) => {
      const dispatcher = dispatcherOn(journal);
      const ids = Array.from({ length: 600 }, (_, place) => place);
      return Promise.all(
        ids.map((id) => dispatcher.dispatch(intentOf(`id-${id}`, { conflictKeys: [`k-${id % 40}`] }))),
      );
    });
    // The first to come by looks at what is dead, once.
    await blocksForOne();
    const late = await blocksForOne();
    expect(late).toBeLessThan(early * 1.5);
  });
});
