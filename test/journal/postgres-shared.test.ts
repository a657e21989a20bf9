import { describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import { gate, intentOf } from "../actions/rig.ts";
import { dispatcherOn, setPostgresScene } from "../support/postgres-scene.ts";

const { database, newSchema } = setPostgresScene();

describe("two journals in one database", () => {
  it("ACT-4: exclude each other's keys and replay each other's receipts", async () => {
    const schema = newSchema();
    const journals = [
      await openPostgresJournal(database.url, { schema }),
      await openPostgresJournal(database.url, { schema }),
    ];
    const log: string[] = [];
    let running = 0;
    const dispatchers = journals.map(
      (journal, place) =>
        new GameActionDispatcher({
          journal,
          handler: {
            execute: async (intent) => {
              running += 1;
              expect(running).toBe(1);
              log.push(intent.operationId);
              await Promise.resolve();
              running -= 1;
              return GameActionReceipt.committed(intent, place);
            },
          },
        }),
    );
    const ids = Array.from({ length: 12 }, (_, place) => `op-${place}`);
    const results = await Promise.all(
      ids.flatMap((id) => dispatchers.map((dispatcher) => dispatcher.dispatch(intentOf(id, { conflictKeys: ["k"] })))),
    );
    expect([...log].sort()).toEqual([...ids].sort());
    expect(results.filter(({ disposition }) => disposition === "executed")).toHaveLength(ids.length);
    expect(results.every(({ receipt }) => receipt?.status === "committed")).toBe(true);
    for (const journal of journals) await journal.close();
  });

  it("ACT-4: a waiting process is told when the other one releases the key", async () => {
    const schema = newSchema();
    const [first, second] = [
      await openPostgresJournal(database.url, { schema }),
      await openPostgresJournal(database.url, { schema }),
    ];
    const claim = (operationId: string) => ({
      operationId,
      claimId: `claim of ${operationId}`,
      intentHash: "h",
      intentText: JSON.stringify(intentOf(operationId)),
      scopes: [{ id: "scope", key: "k" }],
    });
    expect(await first.protocol.claim(claim("a"))).toEqual({ kind: "claimed", fence: 1 });
    const told = gate();
    second.protocol.onReleased(({ operationId, scopes }) => {
      expect([operationId, scopes]).toEqual(["a", ["scope"]]);
      told.open();
    });
    expect(await second.protocol.claim(claim("b"))).toEqual({ kind: "waiting" });
    // The listener's connection is taken on the way; a second look makes sure that it listens.
    await expect
      .poll(
        async () =>
          (
            await database.query(
              "SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()",
            )
          ).rows[0]?.n,
      )
      .toBeGreaterThan(0);
    await first.protocol.finish({ operationId: "a", fence: 1, receipt: GameActionReceipt.committed(intentOf("a"), 1) });
    await told.opened;
    expect(await second.protocol.claim(claim("b"))).toEqual({ kind: "claimed", fence: 2 });
    await first.close();
    await second.close();
  });

  it("ACT-5: what one left dispatched becomes uncertain, what it left waiting is abandoned, and nothing is executed", async () => {
    const schema = newSchema();
    const [first, second] = [
      await openPostgresJournal(database.url, { schema }),
      await openPostgresJournal(database.url, { schema }),
    ];
    const never = gate();
    const leaving = new GameActionDispatcher({ journal: first, handler: { execute: () => never.opened as never } });
    void leaving.dispatch(intentOf("a", { conflictKeys: ["k"] }));
    const waiting = expect(leaving.dispatch(intentOf("b", { conflictKeys: ["k"] }))).rejects.toMatchObject({
      code: "JOURNAL_UNAVAILABLE",
    });
    const staying = dispatcherOn(second);
    await expect.poll(async () => (await second.find("b"))?.state).toBe("prepared");
    expect(await staying.start()).toEqual({ uncertain: 0, abandoned: 0 });
    await first.close();
    expect(await staying.start()).toEqual({ uncertain: 1, abandoned: 1 });
    expect(await second.find("a")).toMatchObject({
      state: "uncertain",
      receipt: { status: "uncertain", code: "owner_lost" },
    });
    expect((await second.find("b"))?.state).toBe("abandoned");
    await waiting;
    await second.close();
  });

  it("ACT-5: a lease that runs out makes its entries uncertain; the slow owner's receipt still counts, once", async () => {
    const schema = newSchema();
    const lease = { schema, leaseMs: 400, heartbeatMs: 200 };
    // The owner's heart does not beat: its process is busy or stopped.
    const stopped = { now: () => 0, setTimer: (atMs: number, run: () => void) => stoppedTimer(atMs, run) };
    const slow = await openPostgresJournal(database.url, { ...lease, clock: stopped });
    const other = await openPostgresJournal(database.url, lease);
    const answer = gate();
    const working = new GameActionDispatcher({
      journal: slow,
      handler: {
        execute: async (intent) => {
          await answer.opened;
          return GameActionReceipt.committed(intent, "slow");
        },
      },
    });
    const dispatching = working.dispatch(intentOf("a", { conflictKeys: ["k"] }));
    await expect.poll(async () => (await other.find("a"))?.state).toBe("dispatched");
    const owner = (await other.find("a"))?.owner;
    await expect.poll(() => other.protocol.sweep(), { timeout: 5_000 }).toEqual({ uncertain: 1, abandoned: 0 });
    expect((await other.find("a"))?.state).toBe("uncertain");
    answer.open();
    expect((await dispatching).receipt).toMatchObject({ status: "committed", result: "slow" });
    expect((await other.find("a"))?.state).toBe("committed");
    // Its next claim is made under a new name.
    const next = await working.dispatch(intentOf("b", { conflictKeys: ["k"] }));
    expect(next.receipt?.status).toBe("committed");
    expect((await other.find("b"))?.owner).not.toBe(owner);
    await slow.close();
    await other.close();
  });

  it("ACT-5: an owner that was overtaken by a reconciler gets what the reconciler found, never both", async () => {
    const schema = newSchema();
    const lease = { schema, leaseMs: 400, heartbeatMs: 200 };
    const stopped = { now: () => 0, setTimer: (atMs: number, run: () => void) => stoppedTimer(atMs, run) };
    const slow = await openPostgresJournal(database.url, { ...lease, clock: stopped });
    const other = await openPostgresJournal(database.url, lease);
    const answer = gate();
    const handler = {
      execute: async (intent: Parameters<typeof GameActionReceipt.committed>[0]) => {
        await answer.opened;
        return GameActionReceipt.committed(intent, "slow");
      },
      recover: (intent: Parameters<typeof GameActionReceipt.committed>[0]) =>
        GameActionReceipt.failed(intent, "absent", "Not there."),
    };
    const dispatching = new GameActionDispatcher({ journal: slow, handler }).dispatch(intentOf("a"));
    await expect.poll(async () => (await other.find("a"))?.state).toBe("dispatched");
    await expect.poll(() => other.protocol.sweep(), { timeout: 5_000 }).toEqual({ uncertain: 1, abandoned: 0 });
    const reconciled = await new GameActionDispatcher({ journal: other, handler }).reconcile("a");
    expect(reconciled).toMatchObject({ disposition: "recovered", receipt: { status: "failed" } });
    answer.open();
    expect((await dispatching).receipt).toEqual(reconciled?.receipt);
    expect(await other.protocol.listEvidence("a")).toMatchObject([{ kind: "lateReceipt", fence: 1 }]);
    await slow.close();
    await other.close();
  });
});

/** Timers within a statement's time run; a heart that beats later does not. */
function stoppedTimer(atMs: number, run: () => void): () => void {
  if (atMs > 100) return () => undefined;
  queueMicrotask(run);
  return () => undefined;
}
