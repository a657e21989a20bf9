import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { GameActionReceipt as Receipt } from "../../src/domain/action.ts";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import { intentOf } from "../actions/rig.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { type Cut, openProxy } from "./cutting-proxy.ts";
import { dropDatabase, makeSite } from "./stores.ts";

afterAll(dropDatabase);

const CUTS: readonly Cut[] = [1, 2, 3, 4].flatMap((message) => [
  { lost: "request", message } as const,
  { lost: "answer", message } as const,
]);

describe("a connection that is cut", () => {
  it.each(CUTS)(
    "ACT-1, ACT-6: with the $lost of message $message lost: one write, one receipt, no key left held",
    async (cut) => {
      const { store, remove } = await makeSite("postgres", 20_000);
      if (store.kind !== "postgres") throw new Error("a PostgreSQL store was asked for");
      const proxy = await openProxy(store.url);
      const journal = await openPostgresJournal(proxy.url, { schema: store.schema });
      const written: string[] = [];
      const dispatcher = new GameActionDispatcher({
        journal,
        handler: {
          execute: (intent) => {
            written.push(intent.operationId);
            return GameActionReceipt.committed(intent, { n: written.length });
          },
        },
      });
      await dispatcher.dispatch(intentOf("before", { conflictKeys: ["k"] }));
      proxy.arm(cut);
      const { receipt, disposition } = await dispatcher.dispatch(intentOf("op", { conflictKeys: ["k"] }));
      expect([disposition, receipt?.status]).toEqual(["executed", "committed"]);
      expect((await dispatcher.dispatch(intentOf("after", { conflictKeys: ["k"] }))).disposition).toBe("executed");
      expect(written).toEqual(["before", "op", "after"]);
      expect(await journal.find("op")).toMatchObject({ state: "committed", receipt });
      expect((await journal.listOpen({ limit: 9 })).entries).toEqual([]);
      await journal.close();
      await proxy.close();
      await remove();
    },
  );
});

describe("a database server that is killed", () => {
  it("ACT-6: under load: no acknowledged receipt is lost, nothing runs twice, and work goes on when it is back", {
    timeout: 120_000,
  }, async () => {
    const server = await startPostgres();
    let isOver = false;
    onTestFinished(async () => {
      isOver = true;
      await server.stop();
    });
    const journal = await openPostgresJournal(server.url);
    const writes = new Map<string, number>();
    const acknowledged = new Map<string, Receipt>();
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: {
        execute: (intent) => {
          writes.set(intent.operationId, (writes.get(intent.operationId) ?? 0) + 1);
          return GameActionReceipt.committed(intent, { n: 1 });
        },
      },
    });
    let next = 0;
    const worker = async (): Promise<void> => {
      while (!isOver) {
        const id = `op-${next++}`;
        try {
          const { receipt } = await dispatcher.dispatch(intentOf(id, { conflictKeys: [`k-${next % 5}`] }));
          if (receipt?.status === "committed") acknowledged.set(id, receipt);
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^JOURNAL_/) });
          expect(writes.has(id)).toBe(false);
        }
      }
    };
    const workers = Array.from({ length: 8 }, worker);
    for (const wanted of [20, 40]) {
      await expect.poll(() => acknowledged.size, { timeout: 30_000 }).toBeGreaterThan(wanted);
      await server.restart();
    }
    await expect.poll(() => acknowledged.size, { timeout: 30_000 }).toBeGreaterThan(60);
    isOver = true;
    await Promise.all(workers);
    expect([...writes.values()].filter((count) => count !== 1)).toEqual([]);
    for (const [id, receipt] of acknowledged) expect((await journal.find(id))?.receipt).toEqual(receipt);
    await expect.poll(async () => (await journal.listOpen({ limit: 100 })).entries, { timeout: 10_000 }).toEqual([]);
    await journal.close();
  });
});
