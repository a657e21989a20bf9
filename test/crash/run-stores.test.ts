import { DatabaseSync } from "@photostructure/sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KernelError } from "../../src/domain/errors.ts";
import type { RunStore } from "../../src/domain/run-store.ts";
import { factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { randomFrom, rounds, SEED } from "./long-runs.ts";
import type { RunOrders, RunSaid } from "./run-child.ts";
import { buildProgram, type Program, spawnProgram } from "./spawn-program.ts";
import { openRuns } from "./store.ts";
import { type CrashSite, dropDatabase, makeSite, STORES } from "./stores.ts";

beforeAll(() => buildProgram("run-child"));
afterAll(dropDatabase);

const RACES = 200;
const KILLS = rounds(4, 100);
const NEVER_ENDS = 1_000_000;

function start(orders: RunOrders): Program<RunSaid> {
  return spawnProgram({ name: "run-child", orders });
}

/** Kills a process that holds runs; resolves when each of them can be taken. */
async function killed(site: CrashSite, child: Program<RunSaid>): Promise<RunStore> {
  child.kill("SIGKILL");
  expect(await child.ended).toBe("SIGKILL");
  const store = await openRuns(site.store);
  const claimed = async () => (await store.listOpen({ limit: 10_000 })).runs.filter((run) => run.claimed).length;
  // The operating system says at once who has died; a database only when the lease is over.
  if (site.store.kind === "sqlite") expect(await claimed()).toBe(0);
  else await expect.poll(claimed, { timeout: 10_000 }).toBe(0);
  return store;
}

describe.each(STORES)("processes that want one run, on %s", (kind) => {
  it.each(["new", "left behind by a dead process"] as const)(
    `C28, RUN-6: for each of ${RACES} runs that are %s exactly one of two processes wins`,
    { timeout: 120_000 },
    async (origin) => {
      const site = await makeSite(kind, origin === "new" ? 10_000 : 1_000);
      const runIds = Array.from({ length: RACES }, (_, place) => `run-${place}`);
      if (origin !== "new") {
        const dead = start({ kind: "record", store: site.store, runIds, count: NEVER_ENDS });
        await dead.says(() => dead.said.filter(({ taken }) => taken !== undefined).length === RACES);
        await (await killed(site, dead)).close();
      }
      const children = [0, 1].map(() => start({ kind: "contend", store: site.store }));
      await Promise.all(children.map((child) => child.says(({ ready }) => ready === true)));
      const wins = [0, 0];
      for (const runId of runIds) {
        for (const child of children) child.tell(`try ${runId}`);
        const tried = await Promise.all(children.map((child) => child.says((said) => said.tried?.runId === runId)));
        const won = tried.map((said) => said.tried?.isWon);
        expect([...won].sort()).toEqual([false, true]);
        expect(tried.find((said) => said.tried?.isWon === false)?.tried?.code).toBe("RUN_CLAIMED");
        const winner = won.indexOf(true);
        wins[winner] = (wins[winner] ?? 0) + 1;
      }
      for (const child of children) child.tell("end");
      expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0]);
      expect(wins.reduce((sum, each) => sum + each)).toBe(RACES);
      const store = await openRuns(site.store);
      const racers = children.map((child) => -(child.process.pid ?? 0));
      for (const runId of runIds) {
        const { facts } = await store.claim(runId, { create: false });
        expect(facts.filter((fact) => fact.kind === "dispatched" && racers.includes(fact.index))).toHaveLength(1);
      }
      await store.close();
      await site.remove();
    },
  );

  it("RUN-6: a run goes from process to process as soon as it is given back", { timeout: 60_000 }, async () => {
    const site = await makeSite(kind, 10_000);
    const children = [0, 1].map(() => start({ kind: "contend", store: site.store }));
    const [one, other] = children as [Program<RunSaid>, Program<RunSaid>]; // two were started
    await Promise.all(children.map((child) => child.says(({ ready }) => ready === true)));
    for (let round = 0; round < 20; round += 1) {
      const [holder, next] = round % 2 === 0 ? [one, other] : [other, one];
      const before = holder.said.length;
      holder.tell("try run");
      await holder.says(() => holder.said.slice(before).some(({ tried }) => tried?.isWon === true));
      const refused = next.said.length;
      next.tell("try run");
      await next.says(() => next.said.slice(refused).some(({ tried }) => tried?.code === "RUN_CLAIMED"));
      holder.tell("release run");
      await holder.says(() => holder.said.slice(before).some(({ released }) => released === "run"));
    }
    for (const child of children) child.tell("end");
    await Promise.all(children.map(({ ended }) => ended));
    const store = await openRuns(site.store);
    expect((await store.claim("run", { create: false })).facts).toHaveLength(20);
    await store.close();
    await site.remove();
  });
});

describe.each(STORES)(`a process that is killed while it records, on %s (seed ${SEED})`, (kind) => {
  it(`RUN-6: ${KILLS} times: no acknowledged fact is lost, none stands behind a gap, and the next goes on`, {
    timeout: 60_000 + KILLS * 8_000,
  }, async () => {
    const random = randomFrom(SEED);
    const site = await makeSite(kind);
    const runIds = Array.from({ length: 24 }, (_, place) => `run-${place}`);
    for (let round = 0; round < KILLS; round += 1) {
      const child = start({ kind: "record", store: site.store, runIds, count: NEVER_ENDS });
      const enough = 50 + Math.floor(random() * 400);
      await child.says(() => child.said.length >= enough);
      const store = await killed(site, child);
      const acknowledged = new Map<string, number>();
      for (const { recorded } of child.said)
        if (recorded !== undefined) acknowledged.set(recorded.runId, recorded.count);
      for (const runId of runIds) {
        const claim = await store.claim(runId, { create: true });
        expect(claim.facts.length).toBeGreaterThanOrEqual(acknowledged.get(runId) ?? 0);
        expect(claim.facts).toEqual(factsUpTo(claim.facts.length));
        await claim.release();
      }
      await store.close();
    }
    if (site.store.kind === "sqlite") expect(integrityOf(site.store.path)).toBe("ok");
    await site.remove();
  });

  it("RUN-6: a process that is only stopped keeps its run on one machine, and loses it after its lease elsewhere", {
    timeout: 60_000,
  }, async () => {
    const site = await makeSite(kind);
    const child = start({ kind: "record", store: site.store, runIds: ["run"], count: NEVER_ENDS });
    await child.says(({ recorded }) => recorded?.count === 3);
    const store = await stopped(child, () => openRuns(site.store));
    const isClaimed = async () => (await store.listOpen({ limit: 9 })).runs.map(({ claimed }) => claimed);
    if (kind === "sqlite") {
      for (let look = 0; look < 5; look += 1) expect(await isClaimed()).toEqual([true]);
      await expect(store.claim("run", { create: false })).rejects.toMatchObject({ code: "RUN_CLAIMED" });
      child.kill("SIGKILL");
      await child.ended;
      await store.claim("run", { create: false });
    } else {
      await expect.poll(isClaimed, { timeout: 10_000 }).toEqual([false]);
      const claim = await store.claim("run", { create: false });
      child.kill("SIGCONT");
      const { refused } = await child.says((said) => said.refused !== undefined);
      expect(refused).toEqual({ runId: "run", code: "RUN_CLAIMED" });
      expect(await child.ended).toBe(0);
      await claim.append([]);
      await claim.release();
      expect((await store.claim("run", { create: false })).facts).toEqual(claim.facts);
    }
    await store.close();
    await site.remove();
  });
});

/** Stops a process where it keeps nobody from opening the store: not in the middle of a commit. */
async function stopped<Opened>(child: Program<RunSaid>, open: () => Promise<Opened>): Promise<Opened> {
  for (;;) {
    child.kill("SIGSTOP");
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof KernelError && error.code === "JOURNAL_UNAVAILABLE")) throw error;
      const before = child.said.length;
      child.kill("SIGCONT");
      await child.says(() => child.said.length > before);
    }
  }
}

function integrityOf(path: string): unknown {
  const database = new DatabaseSync(path);
  const row = database.prepare("PRAGMA integrity_check").get() as { readonly integrity_check: unknown };
  database.close();
  return row.integrity_check;
}
