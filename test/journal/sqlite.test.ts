import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { openSqliteJournal, type SqliteDatabase } from "../../src/journal/sqlite/index.ts";
import { testJournal } from "../../src/testing/journal-suite.ts";
import { gate, intentOf } from "../actions/rig.ts";
import { chartEdges, JOURNAL_STATES } from "./chart-edges.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

describe("the SQLite journal keeps to the protocol", () => {
  const open = () => openSqliteJournal(`${temporaryDirectory()}/journal.db`);
  for (const { name, run } of testJournal(open)) it(name, run);
});

describe("the SQLite journal keeps to the protocol through a database that the host opened", () => {
  const open = () => {
    const path = `${temporaryDirectory()}/journal.db`;
    return openSqliteJournal(path, { driver: new DatabaseSync(path) });
  };
  for (const { name, run } of testJournal(open).filter((_each, place) => place % 8 === 0)) it(name, run);
});

/** A database that a journal has made, for statements of the test's own. */
async function rawDatabase(): Promise<SqliteDatabase> {
  const path = `${temporaryDirectory()}/journal.db`;
  await (await openSqliteJournal(path)).close();
  return new DatabaseSync(path);
}

function insertEntry(database: SqliteDatabase, id: string, state: string): void {
  database
    .prepare("INSERT INTO toolkernel_entries VALUES (?, ?, 1, 'o', 'c', 'h', '{}', '', NULL, NULL, 0, 1, 1, 0)")
    .run(id, state);
}

function isDone(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    expect(String(error)).toContain("toolkernel: ");
    return false;
  }
}

/** How to bring an entry to a state by allowed steps. */
const WAY_TO: Readonly<Record<string, readonly string[]>> = {
  prepared: ["prepared"],
  abandoned: ["prepared", "abandoned"],
  dispatched: ["dispatched"],
  uncertain: ["dispatched", "uncertain"],
  committed: ["dispatched", "committed"],
  rejected: ["dispatched", "rejected"],
  failed: ["dispatched", "failed"],
};

describe("the SQLite schema itself", () => {
  it("ACT-2: lets an entry go along the edges of the chart, and along no others", async () => {
    const database = await rawDatabase();
    const step = (id: string, state: string) => () => {
      database.prepare("UPDATE toolkernel_entries SET state = ? WHERE operation_id = ?").run(state, id);
    };
    const edges: string[] = [];
    for (const state of JOURNAL_STATES) {
      if (isDone(() => insertEntry(database, `new-${state}`, state))) edges.push(`new -> ${state}`);
    }
    for (const before of JOURNAL_STATES) {
      for (const after of JOURNAL_STATES.filter((state) => state !== before)) {
        const id = `${before}-${after}`;
        const [first = "", ...rest] = WAY_TO[before] ?? [];
        insertEntry(database, id, first);
        for (const state of rest) step(id, state)();
        if (isDone(step(id, after))) edges.push(`${before} -> ${after}`);
      }
    }
    expect(edges.sort()).toEqual(chartEdges().sort());
    database.close();
  });

  it.each([
    ["delete an entry", "DELETE FROM toolkernel_entries"],
    ["change a receipt", "UPDATE toolkernel_entries SET receipt = '{}'"],
    ["change the owner of an ended entry", "UPDATE toolkernel_entries SET owner = 'x'"],
    ["change an id", "UPDATE toolkernel_entries SET operation_id = 'x'"],
    ["change a hash", "UPDATE toolkernel_entries SET intent_hash = 'x'"],
    ["change an intent", "UPDATE toolkernel_entries SET intent = 'x'"],
    ["forget with the time changed", "UPDATE toolkernel_entries SET is_forgotten = 1, updated_at_ms = 9"],
  ])("ACT-2: refuses to %s", async (_name, sql) => {
    const database = await rawDatabase();
    insertEntry(database, "a", "dispatched");
    database.exec("UPDATE toolkernel_entries SET state = 'committed', receipt = '1'");
    expect(isDone(() => database.exec(sql))).toBe(false);
    database.close();
  });

  it("ACT-4: refuses to lower a fence", async () => {
    const database = await rawDatabase();
    insertEntry(database, "a", "dispatched");
    expect(isDone(() => database.exec("UPDATE toolkernel_entries SET fence = 0"))).toBe(false);
    database.close();
  });
});

function commitsOf(path: string): number {
  const database = new DatabaseSync(path);
  const { commits } = database.prepare("SELECT commits FROM toolkernel_journal").get() as { commits: number };
  database.close();
  return commits;
}

function dispatcherOn(journal: Journal): GameActionDispatcher {
  return new GameActionDispatcher({
    journal,
    handler: { execute: (intent) => GameActionReceipt.committed(intent, { done: intent.operationId }) },
  });
}

describe("group commit", () => {
  it("ACT-1: ordered writes on one key cost one commit each and one more, since a receipt shares its commit with the next claim", async () => {
    const path = `${temporaryDirectory()}/journal.db`;
    const journal = await openSqliteJournal(path);
    const dispatcher = dispatcherOn(journal);
    await dispatcher.start();
    const before = commitsOf(path);
    const ids = Array.from({ length: 10 }, (_, place) => `op-${place}`);
    await Promise.all(ids.map((id) => dispatcher.dispatch(intentOf(id, { conflictKeys: ["k"] }))));
    expect(commitsOf(path) - before).toBe(ids.length + 1);
    await journal.close();
  });

  it("ACT-1: writes at the same time share their commits, and a single one needs two", async () => {
    const path = `${temporaryDirectory()}/journal.db`;
    const journal = await openSqliteJournal(path);
    const dispatcher = dispatcherOn(journal);
    await dispatcher.dispatch(intentOf("first"));
    expect(commitsOf(path)).toBe(2);
    await Promise.all(Array.from({ length: 50 }, (_, place) => dispatcher.dispatch(intentOf(`op-${place}`))));
    expect(commitsOf(path)).toBe(4);
    await journal.close();
  });

  it("ACT-10: looking and waiting writes nothing", async () => {
    const path = `${temporaryDirectory()}/journal.db`;
    const journal = await openSqliteJournal(path);
    const { protocol } = journal;
    const dispatcher = dispatcherOn(journal);
    await dispatcher.dispatch(intentOf("a"));
    const before = commitsOf(path);
    await dispatcher.dispatch(intentOf("a"));
    await dispatcher.reconcile("a");
    await protocol.sweep();
    await journal.listOpen({ limit: 5 });
    await journal.prune({ finalBefore: 0 });
    expect(commitsOf(path)).toBe(before);
    await journal.close();
  });
});

describe("two journals on one file", () => {
  it("ACT-4: exclude each other's keys and replay each other's receipts", async () => {
    const path = `${temporaryDirectory()}/journal.db`;
    const journals = [await openSqliteJournal(path), await openSqliteJournal(path)];
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
    const ids = Array.from({ length: 20 }, (_, place) => `op-${place}`);
    const results = await Promise.all(
      ids.flatMap((id) => dispatchers.map((dispatcher) => dispatcher.dispatch(intentOf(id, { conflictKeys: ["k"] })))),
    );
    expect([...log].sort()).toEqual([...ids].sort());
    expect(results.filter(({ disposition }) => disposition === "executed")).toHaveLength(ids.length);
    expect(results.every(({ receipt }) => receipt?.status === "committed")).toBe(true);
    for (const journal of journals) await journal.close();
  });

  it("ACT-5: what one left dispatched becomes uncertain, what it left waiting is abandoned, and nothing is executed", async () => {
    const path = `${temporaryDirectory()}/journal.db`;
    const [first, second] = [await openSqliteJournal(path), await openSqliteJournal(path)];
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
    expect(await staying.start()).toEqual({ uncertain: 0, abandoned: 0 });
    await waiting;
    await second.close();
  });
});
