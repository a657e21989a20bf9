import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { Agent, defineTool } from "../../src/index.ts";
import { openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { intentOf } from "../actions/rig.ts";
import { PGBOUNCER, type Pgbouncer, startPgbouncer, WHY_NO_PGBOUNCER } from "../support/pgbouncer.ts";
import { serverUrl } from "../support/postgres.ts";
import type { CrashPoint } from "./crash-child.ts";
import { rounds } from "./long-runs.ts";
import { buildChild, type Child, spawnChild } from "./spawn-child.ts";
import { openStore } from "./store.ts";
import { type CrashSite, dropDatabase, makeSite } from "./stores.ts";
import { World, worldFaults } from "./world.ts";

const ROUNDS = rounds(60, 1_000);

describe.skipIf(PGBOUNCER === undefined)(`hosts behind pgbouncer in transaction mode${WHY_NO_PGBOUNCER}`, () => {
  let pooler: Pgbouncer;
  beforeAll(async () => {
    buildChild();
    pooler = await startPgbouncer(await serverUrl(), { size: 3 });
  });
  afterAll(async () => {
    await pooler.stop();
    await dropDatabase();
  });

  const makePooledSite = async (leaseMs: number): Promise<CrashSite> => {
    const site = await makeSite("postgres", leaseMs);
    if (site.store.kind !== "postgres") throw new Error("a PostgreSQL store was asked for");
    const url = Object.assign(new URL(pooler.url), { pathname: new URL(site.store.url).pathname }).toString();
    return { ...site, store: { ...site.store, url } };
  };
  const spawn = (site: CrashSite, crashAt: CrashPoint, operations: readonly { operationId: string; key: string }[]) =>
    spawnChild({
      store: site.store,
      worldPath: site.worldPath,
      crashAt,
      operations,
      width: 4,
      writeMs: 0,
      waitsForStart: crashAt === "never",
    });

  it(`ACT-1, ACT-4: race for ${ROUNDS} operation ids on two keys: one write each, fences rise, both get its receipt`, {
    timeout: 120_000,
  }, async () => {
    const site = await makePooledSite(10_000);
    const operations = Array.from({ length: ROUNDS }, (_, place) => ({
      operationId: `op-${place}`,
      key: `k-${place % 2}`,
    }));
    const children = [spawn(site, "never", operations), spawn(site, "never", [...operations].reverse())];
    await Promise.all(children.map((child) => child.says(({ ready }) => ready === true)));
    for (const child of children) child.start();
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0]);
    const events = new World(site.worldPath).events();
    expect(worldFaults(events)).toEqual([]);
    expect(events.filter(({ event }) => event === "done")).toHaveLength(ROUNDS);
    const receiptsOf = ({ said }: Child) =>
      new Map(said.flatMap(({ operationId, receipt }) => (receipt ? [[operationId, JSON.stringify(receipt)]] : [])));
    const [one, other] = children.map(receiptsOf);
    expect(one?.size).toBe(ROUNDS);
    expect(one).toEqual(other);
    await site.remove();
  });

  it("ACT-5: a write that a killed host left behind turns uncertain, and keeps its key from everybody", async () => {
    const site = await makePooledSite(400);
    const child = spawn(site, "in the middle of the write", [{ operationId: "op", key: "k" }]);
    expect(await child.ended).toBe("SIGKILL");
    const journal = await openStore(site.store);
    const dispatcher = new GameActionDispatcher({
      journal,
      conflictWaitTimeoutMs: 150,
      handler: { execute: () => Promise.reject(new Error("never called")) },
    });
    const state = async () => {
      await dispatcher.start();
      return (await journal.find("op"))?.state;
    };
    await expect.poll(state, { timeout: 10_000 }).toBe("uncertain");
    for (const id of ["next", "after next"]) {
      const { disposition } = await dispatcher.dispatch({ ...intentOf(id), sessionId: "session", conflictKeys: ["k"] });
      expect(disposition).toBe("conflictBlocked");
    }
    expect(await state()).toBe("uncertain");
    expect(new World(site.worldPath).writesOf("op")).toBe(1);
    await journal.close();
    await site.remove();
  });

  it("RUN-6: a run goes on at another host where the first one left it, and no settled call is made again", async () => {
    const site = await makePooledSite(400);
    if (site.store.kind !== "postgres") throw new Error("a PostgreSQL store was asked for");
    const { url, schema } = site.store;
    const made: string[] = [];
    const note = defineTool({
      name: "note",
      description: "Notes something.",
      inputSchema: { type: "object" },
      execute: (_input, { callId }) => {
        made.push(callId);
        return callId === "b" ? new Promise(() => undefined) : "noted";
      },
    });
    const call = (id: string) => ({ type: "toolCall", id, name: "note", arguments: {} }) as const;
    const first = { content: [call("a"), call("b"), call("c")], stopReason: "toolUse" } as const;
    const last = { content: [{ type: "text", text: "Done." }], stopReason: "stop" } as const;
    const open = async (responses: Parameters<typeof scriptedModel>[0]) => {
      const runStore = await openPostgresRunStore(url, { schema, leaseMs: 400, heartbeatMs: 100 });
      return { runStore, agent: new Agent({ model: scriptedModel(responses), tools: [note], runStore }) };
    };
    const leaving = await open([first, last]);
    const lost = leaving.agent.run("Note.", { runId: "run" });
    for await (const event of lost) if (event.kind === "toolDispatched" && event.callId === "b") break;
    await leaving.runStore.close();
    lost.abort();
    await lost.result;
    const going = await open([last]);
    expect((await going.runStore.listOpen({ limit: 9 })).runs).toMatchObject([{ runId: "run", claimed: false }]);
    const run = going.agent.resume("run");
    const outcomes: string[] = [];
    for await (const event of run) if (event.kind === "toolEnded") outcomes.push(`${event.callId} ${event.outcome}`);
    expect((await run.result).endedBy).toBe("noCalls");
    expect(outcomes).toEqual(["b uncertain", "c blocked"]);
    expect(made).toEqual(["a", "b"]);
    await going.runStore.close();
    await site.remove();
  });
});
