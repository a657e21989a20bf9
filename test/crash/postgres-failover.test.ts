import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { openPostgresJournal, openPostgresRunStore, type PostgresPool } from "../../src/journal/postgres/index.ts";
import { fact } from "../../src/testing/run-store-suite/run-desk.ts";
import { gate, intentOf } from "../actions/rig.ts";
import { PGBOUNCER, startPgbouncer } from "../support/pgbouncer.ts";
import { refusal } from "../support/postgres-scene.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";

/** What goes to one server, and after a failover to another one. */
interface Way {
  readonly to: PostgresPool | string;
  switchTo(url: string): Promise<void>;
}

async function directWay(url: string): Promise<Way> {
  const pools = [newPool(url)];
  onTestFinished(async () => void (await Promise.all(pools.map((pool) => pool.end()))));
  return {
    to: { connect: () => (pools.at(-1) as pg.Pool).connect() },
    switchTo: async (other) => void pools.push(newPool(other)),
  };
}

async function pooledWay(url: string): Promise<Way> {
  const pooler = await startPgbouncer(url, { size: 2 });
  onTestFinished(() => pooler.stop());
  return { to: pooler.url, switchTo: (other) => pooler.redirect(other) };
}

function newPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 4 });
  pool.on("error", () => undefined);
  return pool;
}

const WAYS: readonly (readonly [string, (url: string) => Promise<Way>])[] = [
  ["without a pooler", directWay],
  ...(PGBOUNCER === undefined ? [] : [["by way of pgbouncer", pooledWay] as const]),
];

async function query(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows[0];
}

async function startServer(): Promise<PostgresServer> {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  return server;
}

async function standbyOf(server: PostgresServer): Promise<PostgresServer> {
  const standby = await server.copyAsStandby();
  onTestFinished(() => standby.stop());
  return standby;
}

/** Stops the process that makes them; answers what lets it go on. */
async function stopCheckpoints(url: string): Promise<() => void> {
  const row = await query(url, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
  const { pid } = row as { readonly pid: number };
  process.kill(pid, "SIGSTOP");
  const resume = (): void => void process.kill(pid, "SIGCONT");
  // Before the server is stopped, which waits for it.
  onTestFinished(resume);
  return resume;
}

const commit = {
  execute: (intent: Parameters<typeof GameActionReceipt.committed>[0]) => GameActionReceipt.committed(intent, 1),
};

describe("a replica that lacks what was acknowledged", () => {
  it("ACT-11: is refused while it only reads, and from the moment on when it takes over, until that is accepted", async () => {
    const primary = await startServer();
    await (await openPostgresJournal(primary.url)).close();
    const replica = await standbyOf(primary);
    const journal = await openPostgresJournal(primary.url);
    await new GameActionDispatcher({ journal, handler: commit }).dispatch(intentOf("acknowledged"));
    await journal.close();
    await primary.kill();
    const open = [
      () => refusal(openPostgresJournal(replica.url)),
      () => refusal(openPostgresRunStore(replica.url)),
    ] as const;
    await expect(openPostgresJournal(replica.url)).rejects.toMatchObject({
      code: "JOURNAL_UNSAFE",
      message: expect.stringContaining("standby"),
    });
    // What the control file says is old until the next checkpoint, and that can take minutes.
    const resume = await stopCheckpoints(replica.url);
    await query(replica.url, "SELECT pg_promote()");
    for (const each of open) expect(await each()).toBe("JOURNAL_UNSAFE");
    resume();
    await query(replica.url, "UPDATE toolkernel.journal SET system_identifier = NULL");
    for (const each of open) expect(await each()).toBe("opened");
    await query(replica.url, "CHECKPOINT");
    for (const each of open) expect(await each()).toBe("opened");
  });

  it.each(WAYS)(
    "ACT-1, ACT-11, CAN-5: that takes over under a process at work, %s: nothing is dispatched on it, and what was under way is saved",
    async (_name, wayTo) => {
      const primary = await startServer();
      const way = await wayTo(primary.url);
      const journal = await openPostgresJournal(way.to);
      const store = await openPostgresRunStore(way.to);
      const written: string[] = [];
      const answer = gate();
      const dispatcher = new GameActionDispatcher({
        journal,
        handler: {
          execute: async (intent) => {
            written.push(intent.operationId);
            if (intent.operationId === "under way") await answer.opened;
            return GameActionReceipt.committed(intent, 1);
          },
        },
      });
      const claim = await store.claim("run", { create: true });
      await claim.append([fact(1)]);
      const underWay = dispatcher.dispatch(intentOf("under way", { conflictKeys: ["k"] }));
      await expect.poll(async () => (await journal.find("under way"))?.state).toBe("dispatched");
      const replica = await standbyOf(primary);
      await dispatcher.dispatch(intentOf("acknowledged"));
      await claim.append([fact(2)]);
      await primary.kill();
      await query(replica.url, "SELECT pg_promote()");
      await way.switchTo(replica.url);
      for (const id of ["acknowledged", "new"]) {
        await expect(dispatcher.dispatch(intentOf(id))).rejects.toMatchObject({ code: "JOURNAL_UNSAFE" });
      }
      await expect(claim.append([fact(3)])).rejects.toMatchObject({ code: "JOURNAL_UNSAFE" });
      await expect(store.claim("other", { create: true })).rejects.toMatchObject({ code: "JOURNAL_UNSAFE" });
      answer.open();
      expect((await underWay).receipt).toMatchObject({ status: "committed" });
      expect((await journal.find("under way"))?.state).toBe("committed");
      expect(written).toEqual(["under way", "acknowledged"]);
      await query(replica.url, "UPDATE toolkernel.journal SET system_identifier = NULL");
      expect((await dispatcher.dispatch(intentOf("new"))).disposition).toBe("executed");
      await journal.close();
      await store.close();
    },
  );
});
