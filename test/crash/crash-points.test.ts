import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { GameActionHandler } from "../../src/domain/action.ts";
import type { Journal } from "../../src/domain/journal.ts";
import type { ChildOrders, CrashPoint } from "./crash-child.ts";
import { buildChild, spawnChild } from "./spawn-child.ts";
import { openStore } from "./store.ts";
import { type CrashSite, dropDatabase, makeSite, STORES } from "./stores.ts";
import { World, worldFaults } from "./world.ts";

beforeAll(buildChild);
afterAll(dropDatabase);

const KEY = "plot:1";
const INTENT = {
  operationId: "op",
  action: "write",
  arguments: { key: KEY },
  sessionId: "session",
  actorId: "actor",
  inputId: "op",
  moment: { timelineId: "main", tick: 1 },
  conflictKeys: [KEY],
};

/** What stands after a crash at each point: in the journal once the dead were looked after, and in the world. */
const AFTER_CRASH: readonly (readonly [CrashPoint, { state: string | undefined; writes: number; isDone: boolean }])[] =
  [
    ["before claim", { state: undefined, writes: 0, isDone: false }],
    ["after claim", { state: "uncertain", writes: 0, isDone: false }],
    ["in handler before the write", { state: "uncertain", writes: 0, isDone: false }],
    ["in the middle of the write", { state: "uncertain", writes: 1, isDone: false }],
    ["after the write", { state: "uncertain", writes: 1, isDone: true }],
    ["before the receipt is saved", { state: "uncertain", writes: 1, isDone: true }],
    ["after the receipt is saved", { state: "committed", writes: 1, isDone: true }],
  ];

async function crash(site: CrashSite, crashAt: CrashPoint): Promise<void> {
  const orders: ChildOrders = {
    store: site.store,
    worldPath: site.worldPath,
    crashAt,
    operations: [{ operationId: "op", key: KEY }],
    width: 1,
    writeMs: 0,
    waitsForStart: false,
  };
  expect(await spawnChild(orders).ended).toBe("SIGKILL");
}

/** Looks after the dead until there is nothing more to look after: a lease may have to run out first. */
async function lookAfterTheDead(journal: Journal, dispatcher: GameActionDispatcher): Promise<void> {
  await expect
    .poll(
      async () => {
        await dispatcher.start();
        return (await journal.listOpen({ limit: 10 })).entries.map(({ state }) => state).includes("dispatched");
      },
      { timeout: 10_000 },
    )
    .toBe(false);
}

/** A handler that writes to the world, and that can be asked what it finds there. */
function handlerOf(world: World): GameActionHandler {
  return {
    execute: (intent, { fence }) => {
      const write = { operationId: intent.operationId, key: intent.conflictKeys[0] ?? "", fence };
      world.note("begun", write);
      world.note("done", write);
      return GameActionReceipt.committed(intent, "second process");
    },
    recover: (intent) => (world.isDone(intent.operationId) ? GameActionReceipt.committed(intent, "found") : undefined),
  };
}

describe.each(STORES)("a process that is killed, on %s", (kind) => {
  it.each(AFTER_CRASH)(
    "ACT-1, ACT-5: %s: nothing is written twice, and what is open is known to be",
    async (crashAt, after) => {
      const site = await makeSite(kind);
      await crash(site, crashAt);
      const world = new World(site.worldPath);
      const journal = await openStore(site.store);
      const dispatcher = new GameActionDispatcher({ journal, handler: handlerOf(world), conflictWaitTimeoutMs: 50 });
      await lookAfterTheDead(journal, dispatcher);
      const left = await journal.find("op");
      expect({ state: left?.state, writes: world.writesOf("op"), isDone: world.isDone("op") }).toEqual(after);

      const again = await dispatcher.dispatch(INTENT);
      const [disposition, status] =
        after.state === undefined
          ? ["executed", "committed"]
          : after.state === "committed"
            ? ["replayed", "committed"]
            : after.isDone
              ? ["recovered", "committed"]
              : ["replayed", "uncertain"];
      expect([again.disposition, again.receipt?.status]).toEqual([disposition, status]);
      if (after.state === "committed") expect(again.receipt).toEqual(left?.receipt);

      // An open end keeps its key; a closed one has freed it.
      const next = await dispatcher.dispatch({ ...INTENT, operationId: "next" });
      expect(next.disposition).toBe(status === "uncertain" ? "conflictBlocked" : "executed");
      if (status === "uncertain") {
        await dispatcher.resolve("op", { status: "failed", evidence: "nothing there" });
        expect((await dispatcher.dispatch({ ...INTENT, operationId: "next" })).disposition).toBe("executed");
      }
      expect(world.writesOf("op")).toBe(after.state === undefined ? 1 : after.writes);
      await journal.close();
      await site.remove();
    },
  );

  it("ACT-5: a process that is killed while it waits leaves its entry abandoned, never executed late", async () => {
    const site = await makeSite(kind);
    const world = new World(site.worldPath);
    const journal = await openStore(site.store);
    const child = spawnChild({
      store: site.store,
      worldPath: site.worldPath,
      crashAt: "never",
      operations: [{ operationId: "op", key: KEY }],
      width: 1,
      writeMs: 0,
      waitsForStart: true,
    });
    await child.says(({ ready }) => ready === true);
    let finish = (): void => undefined;
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: {
        execute: (intent) =>
          new Promise((resolve) => {
            finish = () => resolve(GameActionReceipt.committed(intent, null));
          }),
      },
    });
    const holding = dispatcher.dispatch({ ...INTENT, operationId: "holder" });
    await expect.poll(async () => (await journal.find("holder"))?.state).toBe("dispatched");
    child.start();
    await expect.poll(async () => (await journal.find("op"))?.state).toBe("prepared");
    child.kill("SIGKILL");
    await child.ended;
    await expect
      .poll(
        async () => {
          await dispatcher.start();
          return (await journal.find("op"))?.state;
        },
        { timeout: 10_000 },
      )
      .toBe("abandoned");
    finish();
    await holding;
    expect(world.writesOf("op")).toBe(0);
    expect(worldFaults(world.events())).toEqual([]);
    await journal.close();
    await site.remove();
  });
});
