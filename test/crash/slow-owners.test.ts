import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { buildChild, type Child, spawnChild } from "./spawn-child.ts";
import { openStore } from "./store.ts";
import { type CrashSite, dropDatabase, makeSite } from "./stores.ts";
import { World, worldFaults } from "./world.ts";

beforeAll(buildChild);
afterAll(dropDatabase);

interface Paused {
  readonly site: CrashSite;
  readonly child: Child;
  readonly journal: Journal;
  readonly dispatcher: GameActionDispatcher;
}

/** A process that was stopped in the middle of its write, and another that looks after the journal. */
async function pausedOwner(kind: "sqlite" | "postgres"): Promise<Paused> {
  const site = await makeSite(kind);
  const child = spawnChild({
    store: site.store,
    worldPath: site.worldPath,
    crashAt: "never",
    operations: [
      { operationId: "op", key: "k" },
      { operationId: "later", key: "k" },
    ],
    width: 1,
    writeMs: 60,
    waitsForStart: false,
  });
  await child.says(({ begun }) => begun === "op");
  child.kill("SIGSTOP");
  const journal = await openStore(site.store);
  const world = new World(site.worldPath);
  const dispatcher = new GameActionDispatcher({
    journal,
    conflictWaitTimeoutMs: 100,
    handler: {
      execute: () => Promise.reject(new Error("never called")),
      recover: (intent) =>
        world.isDone(intent.operationId) ? undefined : GameActionReceipt.failed(intent, "absent", "Not there yet."),
    },
  });
  return { site, child, journal, dispatcher };
}

async function becomesUncertain({ journal, dispatcher }: Paused): Promise<void> {
  await expect
    .poll(
      async () => {
        await dispatcher.start();
        return (await journal.find("op"))?.state;
      },
      { timeout: 10_000 },
    )
    .toBe("uncertain");
}

const BLOCKED = {
  operationId: "other",
  action: "write",
  arguments: {},
  sessionId: "session",
  actorId: "actor",
  inputId: "other",
  moment: { timelineId: "main", tick: 1 },
  conflictKeys: ["k"],
};

describe("an owner that is stopped longer than its lease", () => {
  it("ACT-5: keeps its key, and when it wakes its receipt is accepted if nobody reconciled", async () => {
    const paused = await pausedOwner("postgres");
    await becomesUncertain(paused);
    expect((await paused.dispatcher.dispatch(BLOCKED)).disposition).toBe("conflictBlocked");
    paused.child.kill("SIGCONT");
    const said = await paused.child.says(({ operationId }) => operationId === "op");
    expect(said).toMatchObject({ disposition: "executed", receipt: { status: "committed" } });
    expect(await paused.journal.find("op")).toMatchObject({ state: "committed", receipt: said.receipt });
    // It goes on under a new name.
    expect(await paused.child.says(({ operationId }) => operationId === "later")).toMatchObject({
      disposition: "executed",
    });
    expect(await paused.child.ended).toBe(0);
    const names = await Promise.all(["op", "later"].map(async (id) => (await paused.journal.find(id))?.owner));
    expect(new Set(names).size).toBe(2);
    expect(worldFaults(new World(paused.site.worldPath).events())).toEqual([]);
    await paused.journal.close();
    await paused.site.remove();
  });

  it("ACT-5: is shut out when somebody reconciled meanwhile: one ending, and the late receipt kept as evidence", async () => {
    const paused = await pausedOwner("postgres");
    await becomesUncertain(paused);
    const reconciled = await paused.dispatcher.reconcile("op");
    expect(reconciled).toMatchObject({ disposition: "recovered", receipt: { status: "failed" } });
    paused.child.kill("SIGCONT");
    const said = await paused.child.says(({ operationId }) => operationId === "op");
    expect(said).toMatchObject({ disposition: "executed", receipt: reconciled?.receipt });
    expect((await paused.journal.find("op"))?.state).toBe("failed");
    expect(await paused.journal.protocol.listEvidence("op")).toMatchObject([
      { kind: "lateReceipt", content: { status: "committed" } },
    ]);
    expect(await paused.child.ended).toBe(0);
    await paused.journal.close();
    await paused.site.remove();
  });

  it("ACT-5: on one machine it counts as alive for as long as it lives", async () => {
    const paused = await pausedOwner("sqlite");
    for (let look = 0; look < 5; look += 1)
      expect(await paused.dispatcher.start()).toEqual({ uncertain: 0, abandoned: 0 });
    expect((await paused.dispatcher.dispatch(BLOCKED)).disposition).toBe("conflictBlocked");
    expect((await paused.journal.find("op"))?.state).toBe("dispatched");
    paused.child.kill("SIGKILL");
    await paused.child.ended;
    expect(await paused.dispatcher.start()).toEqual({ uncertain: 1, abandoned: 0 });
    await paused.journal.close();
    await paused.site.remove();
  });
});
