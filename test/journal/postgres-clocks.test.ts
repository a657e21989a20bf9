import { describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt, uncertainReceipt } from "../../src/actions/receipt.ts";
import type { ClaimRequest, Journal, JournalProtocol } from "../../src/domain/journal.ts";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import { gate, intentOf } from "../actions/rig.ts";
import { FAKETIME, WHY_NO_FAKETIME } from "../support/faked-time.ts";
import { BACK, JUMPS, SHORT, setTimedScene } from "../support/timed-scene.ts";

/** A journal that lets something happen between two steps of a dispatcher. */
function interrupted(journal: Journal, steps: Partial<Record<"claim" | "finish", () => Promise<void>>>): Journal {
  const inner = journal.protocol;
  const protocol: Partial<JournalProtocol> = {
    claim: async (request) => {
      const answer = await inner.claim(request);
      if (answer.kind === "claimed") await steps.claim?.();
      return answer;
    },
    finish: async (request) => {
      await steps.finish?.();
      return inner.finish(request);
    },
  };
  const bound = (target: object, name: PropertyKey): unknown => {
    const value: unknown = Reflect.get(target, name, target);
    return typeof value === "function" ? value.bind(target) : value;
  };
  const outer = new Proxy(inner, { get: (target, name) => Reflect.get(protocol, name) ?? bound(target, name) });
  return new Proxy(journal, { get: (target, name) => (name === "protocol" ? outer : bound(target, name)) });
}

function claimOf(operationId: string): ClaimRequest {
  const scopes = [{ id: "scope", key: "k" }];
  const intentText = JSON.stringify(intentOf(operationId));
  return { operationId, claimId: `claim of ${operationId}`, intentHash: "h", intentText, scopes };
}

describe.skipIf(FAKETIME === undefined)(
  `a database server whose clock is set to another time${WHY_NO_FAKETIME}`,
  () => {
    const { server, here, mortalPool } = setTimedScene();

    describe.each(JUMPS)("%s", (_name, aheadMs) => {
      it.each(["between claim and dispatch", "between dispatch and receipt", "between receipt and its commit"])(
        "ACT-1, ACT-4, ACT-6: %s: one write, its receipt, and the key is held until then",
        async (point) => {
          const journals = [
            await openPostgresJournal(server.url, here()),
            await openPostgresJournal(server.url, here()),
          ];
          const [one, other] = journals as [Journal, Journal];
          const written: [string, number][] = [];
          const watching = new GameActionDispatcher({
            journal: other,
            conflictWaitTimeoutMs: 60,
            handler: {
              execute: (intent, { fence }) => {
                written.push([intent.operationId, fence]);
                return GameActionReceipt.committed(intent, "watching");
              },
            },
          });
          const jump = async (): Promise<void> => {
            server.setClock(aheadMs);
            await watching.start();
            // Ahead, the lease has run out by the server's clock, and back it has not.
            expect((await other.find("op"))?.state).toBe(aheadMs > 0 ? "uncertain" : "dispatched");
            const { disposition } = await watching.dispatch(intentOf("op", { conflictKeys: ["k"] }));
            expect(disposition).not.toBe("executed");
            const blocked = await watching.dispatch(intentOf("other", { conflictKeys: ["k"] }));
            expect(blocked.disposition).toBe("conflictBlocked");
          };
          let hasJumped = false;
          const jumpAt = async (place: string): Promise<void> => {
            if (place !== point || hasJumped) return;
            hasJumped = true;
            await jump();
          };
          const working = new GameActionDispatcher({
            journal: interrupted(one, {
              claim: () => jumpAt("between claim and dispatch"),
              finish: () => jumpAt("between receipt and its commit"),
            }),
            handler: {
              execute: async (intent, { fence }) => {
                written.push([intent.operationId, fence]);
                await jumpAt("between dispatch and receipt");
                return GameActionReceipt.committed(intent, "working");
              },
            },
          });
          const { receipt } = await working.dispatch(intentOf("op", { conflictKeys: ["k"] }));
          expect(receipt).toMatchObject({ status: "committed", result: "working" });
          expect(await one.find("op")).toMatchObject({ state: "committed", receipt });
          const again = await watching.dispatch(intentOf("op", { conflictKeys: ["k"] }));
          expect([again.disposition, again.receipt]).toEqual(["replayed", receipt]);
          server.setClock(0);
          expect((await watching.dispatch(intentOf("other", { conflictKeys: ["k"] }))).disposition).toBe("executed");
          expect((await working.dispatch(intentOf("last"))).disposition).toBe("executed");
          expect(written.map(([id]) => id)).toEqual(["op", "other", "last"]);
          expect(written[1]?.[1]).toBeGreaterThan(written[0]?.[1] ?? 0);
          expect((await one.listOpen({ limit: 9 })).entries).toEqual([]);
          for (const journal of journals) await journal.close();
        },
      );

      it("ACT-5: a dead process is noticed, its key stays blocked, and nothing is written twice", async () => {
        const pool = mortalPool();
        const dead = await openPostgresJournal(pool, here(SHORT));
        const other = await openPostgresJournal(server.url, here(SHORT));
        expect(await dead.protocol.claim(claimOf("a"))).toMatchObject({ kind: "claimed" });
        pool.cut();
        server.setClock(aheadMs);
        await expect.poll(() => other.protocol.sweep(), { timeout: 5_000 }).toEqual({ uncertain: 1, abandoned: 0 });
        expect(await other.protocol.claim(claimOf("a"))).toMatchObject({ kind: "uncertain" });
        expect(await other.protocol.claim(claimOf("b"))).toEqual({ kind: "waiting" });
        await dead.close();
        await other.close();
      });
    });

    it("ACT-4: many times over between the writes of two hosts: fences rise, and each write is made once", async () => {
      const journals = [await openPostgresJournal(server.url, here()), await openPostgresJournal(server.url, here())];
      const fences: number[] = [];
      const dispatchers = journals.map(
        (journal) =>
          new GameActionDispatcher({
            journal,
            handler: {
              execute: (intent, { fence }) => {
                fences.push(fence);
                return GameActionReceipt.committed(intent, 1);
              },
            },
          }),
      );
      for (let place = 0; place < 12; place += 1) {
        server.setClock(JUMPS[place % JUMPS.length]?.[1] ?? 0);
        const intent = intentOf(`op-${place}`, { conflictKeys: ["k"] });
        const results = await Promise.all(dispatchers.map((each) => each.dispatch(intent)));
        expect(results.map(({ disposition }) => disposition).sort()).toEqual(["executed", "replayed"]);
      }
      expect(fences).toHaveLength(12);
      expect(fences).toEqual([...new Set(fences)].sort((one, next) => one - next));
      for (const journal of journals) await journal.close();
    });

    it.each(BACK)(
      "ACT-5: %s: a living process goes on, and believes in no longer lease than it has",
      async (_name, ms) => {
        const pool = mortalPool();
        const journal = await openPostgresJournal(pool, here(SHORT));
        expect(await journal.protocol.claim(claimOf("a"))).toMatchObject({ kind: "claimed" });
        server.setClock(ms);
        expect(await journal.protocol.claim({ ...claimOf("b"), scopes: [] })).toMatchObject({ kind: "claimed" });
        pool.cut();
        await expect.poll(() => journal.protocol.holdsLease(), { timeout: 5_000 }).toBe(false);
        await journal.close();
      },
    );

    it.each(BACK.slice(-1))(
      "ACT-3: %s: who stood in line and looks no more lets the next one pass",
      { timeout: 30_000 },
      async (_name, ms) => {
        const long = { leaseMs: 60_000, heartbeatMs: 300 };
        const pool = mortalPool();
        const gone = await openPostgresJournal(pool, here(long));
        const journal = await openPostgresJournal(server.url, here(long));
        const answer = gate();
        const dispatcher = new GameActionDispatcher({
          journal,
          conflictWaitTimeoutMs: 15_000,
          handler: {
            execute: async (intent) => {
              if (intent.operationId === "first") await answer.opened;
              return GameActionReceipt.committed(intent, 1);
            },
          },
        });
        const first = dispatcher.dispatch(intentOf("first", { conflictKeys: ["k"] }));
        await expect.poll(async () => (await journal.find("first"))?.state).toBe("dispatched");
        const waiting = new GameActionDispatcher({
          journal: gone,
          conflictWaitTimeoutMs: 300,
          receiptCommitTimeoutMs: 100,
          handler: { execute: () => Promise.reject(new Error("never called")) },
        });
        const lost = waiting.dispatch(intentOf("gone", { conflictKeys: ["k"] })).catch(() => undefined);
        await expect.poll(async () => (await journal.find("gone"))?.state).toBe("prepared");
        pool.cut();
        server.setClock(ms);
        const next = dispatcher.dispatch(intentOf("next", { conflictKeys: ["k"] }));
        answer.open();
        expect((await Promise.all([first, next])).map(({ disposition }) => disposition)).toEqual([
          "executed",
          "executed",
        ]);
        await lost;
        await gone.close();
        await journal.close();
      },
    );

    it.each(BACK)("ACT-5: %s: who died while asking the world keeps nobody from asking", async (_name, ms) => {
      const journal = await openPostgresJournal(server.url, here(SHORT));
      await journal.protocol.claim(claimOf("a"));
      const receipt = uncertainReceipt(intentOf("a"), "handler_threw");
      await journal.protocol.doubt({ operationId: "a", fence: 1, receipt });
      const ask = () => journal.protocol.takeOver({ operationId: "a", by: "reconciler", holdMs: 300 });
      expect(await ask()).toMatchObject({ kind: "taken", entry: { fence: 2 } });
      server.setClock(ms);
      expect(await ask()).toEqual({ kind: "busy" });
      await expect.poll(ask, { timeout: 5_000 }).toMatchObject({ kind: "taken", entry: { fence: 3 } });
      await journal.close();
    });
  },
);
