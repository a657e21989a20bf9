import { existsSync } from "node:fs";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { fillPostgresStore, openPostgresJournal, openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { moveSqliteStore, openSqliteJournal, openSqliteRunStore } from "../../src/journal/sqlite/index.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { intentOf } from "../actions/rig.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

let database: TestDatabase;
let schemas = 0;

beforeAll(async () => {
  database = await makeDatabase();
}, 60_000);

afterAll(() => database.drop());

function newSchema(): string {
  schemas += 1;
  return `moved_${schemas}`;
}

function newPath(): string {
  return `${temporaryDirectory()}/journal.db`;
}

function dispatcherOn(journal: Journal): GameActionDispatcher {
  return new GameActionDispatcher({
    journal,
    handler: {
      execute: (intent) => {
        if (intent.inputId === "rejected") return GameActionReceipt.rejected(intent, "no", "Not so.");
        if (intent.inputId === "lost") throw new Error("the answer was lost");
        return GameActionReceipt.committed(intent, { text: "\u0000 \ud800 é 😀", order: { z: 1, a: 2 } });
      },
    },
  });
}

const FEW = ["committed", "rejected", "failed", "forgotten", "abandoned", "é 😀 'quoted'"];
/** More than are read at once. */
const MANY = [...FEW, ...Array.from({ length: 130 }, (_, place) => `op-${place}`)];

/** A file with an entry of every kind that can be moved, evidence, and runs. */
async function filledFile(ids: readonly string[] = FEW): Promise<string> {
  const path = newPath();
  const journal = await openSqliteJournal(path);
  const dispatcher = dispatcherOn(journal);
  await dispatcher.dispatch(intentOf("forgotten", { conflictKeys: ["k"] }));
  await journal.prune({ finalBefore: Number.MAX_SAFE_INTEGER });
  for (const id of ids.filter((each) => !["forgotten", "abandoned", "failed"].includes(each))) {
    await dispatcher.dispatch(intentOf(id, { inputId: id, conflictKeys: ["k", `key of ${id}`] }));
  }
  await dispatcher.dispatch(intentOf("failed", { inputId: "lost", conflictKeys: ["lost"] }));
  await dispatcher.resolve("failed", { status: "failed", evidence: { seen: "nothing" } });
  const { protocol } = journal;
  const scopes = [{ id: "held", key: "held" }];
  const request = (operationId: string) => ({
    operationId,
    claimId: protocol.newClaimId(),
    intentHash: "h",
    intentText: JSON.stringify(intentOf(operationId, { conflictKeys: ["held"] })),
    scopes,
  });
  const holder = request("op-held");
  await protocol.claim(holder);
  await protocol.claim(request("abandoned"));
  await protocol.abandon("abandoned");
  await protocol.finish({
    operationId: "op-held",
    fence: 1,
    receipt: GameActionReceipt.committed(intentOf("op-held"), 1),
  });
  await journal.close();
  const store = await openSqliteRunStore(path);
  for (const [runId, status] of [
    ["waiting", "awaitingApproval"],
    ["ended", "completed"],
  ] as const) {
    const claim = await store.claim(runId, { create: true });
    await claim.append(factsUpTo(20), { status, turn: 3 });
    await claim.release();
  }
  await store.close();
  return path;
}

async function entriesOf(journal: Journal) {
  const entries = await Promise.all([...MANY, "op-held"].map((id) => journal.find(id)));
  // Names of owners are spelt otherwise.
  return entries.map((entry) => entry && { ...entry, owner: entry.owner.replaceAll("-", "") });
}

describe("moving a SQLite store to PostgreSQL", () => {
  it("ACT-10: takes every entry, receipt, piece of evidence and run along, and ids stay taken", async () => {
    const [path, schema] = [await filledFile(MANY), newSchema()];
    const before = await openSqliteJournal(path);
    const [entries, evidence] = [await entriesOf(before), await before.protocol.listEvidence("failed")];
    await before.close();
    const { answer, movedTo } = await moveSqliteStore(path, {}, (contents) =>
      fillPostgresStore(database.url, contents, { schema }),
    );
    expect(answer).toEqual({ entries: MANY.length + 1, scopes: MANY.length, evidence: 1, runs: 2, facts: 40 });
    expect([existsSync(path), existsSync(movedTo)]).toEqual([false, true]);
    const journal = await openPostgresJournal(database.url, { schema });
    expect(await entriesOf(journal)).toEqual(entries);
    expect(await journal.protocol.listEvidence("failed")).toEqual(evidence);
    const dispatcher = dispatcherOn(journal);
    const replayed = await dispatcher.dispatch(intentOf("committed", { inputId: "committed", conflictKeys: ["k"] }));
    expect([replayed.disposition, replayed.receipt]).toEqual(["replayed", entries[0]?.receipt]);
    await expect(dispatcher.dispatch(intentOf("forgotten", { conflictKeys: ["k"] }))).rejects.toMatchObject({
      code: "OPERATION_FORGOTTEN",
    });
    // Fences go on rising.
    await dispatcher.dispatch(intentOf("new", { conflictKeys: ["k"] }));
    const highest = Math.max(
      ...entries.filter((entry) => entry?.intent.conflictKeys.includes("k")).map((entry) => entry?.fence ?? 0),
    );
    expect((await journal.find("new"))?.fence).toBe(highest + 1);
    const anew = { operationId: "abandoned", claimId: "anew", intentHash: "h", intentText: "{}" };
    expect(await journal.protocol.claim({ ...anew, scopes: [{ id: "held", key: "held" }] })).toEqual({
      kind: "claimed",
      fence: 2,
    });
    await journal.close();
    const store = await openPostgresRunStore(database.url, { schema });
    expect((await store.listOpen({ limit: 9 })).runs).toMatchObject([
      { runId: "waiting", status: "awaitingApproval", turn: 3 },
    ]);
    const claim = await store.claim("ended", { create: false });
    expect(claim.facts).toEqual(factsUpTo(20));
    await claim.append([fact(21)]);
    await store.close();
  });

  it("ACT-11: leaves nothing behind that could be written to: the old path is refused", async () => {
    const [path, schema] = [await filledFile(), newSchema()];
    await moveSqliteStore(path, {}, (contents) => fillPostgresStore(database.url, contents, { schema }));
    await expect(openSqliteJournal(path)).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
    await expect(openSqliteRunStore(path)).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
    await expect(moveSqliteStore(path, {}, async () => undefined)).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
  });

  it.each(["dispatched", "uncertain", "prepared"] as const)(
    "ACT-10: refuses while an entry is %s, and changes nothing",
    async (state) => {
      const path = newPath();
      const journal = await openSqliteJournal(path);
      const { protocol } = journal;
      const request = (operationId: string) => ({
        operationId,
        claimId: protocol.newClaimId(),
        intentHash: "h",
        intentText: JSON.stringify(intentOf(operationId)),
        scopes: [{ id: "s", key: "s" }],
      });
      const claimed = await protocol.claim(request("a"));
      if (state === "prepared") {
        await protocol.claim(request("b"));
        await protocol.finish({ operationId: "a", fence: 1, receipt: GameActionReceipt.committed(intentOf("a"), 1) });
      }
      expect(claimed).toEqual({ kind: "claimed", fence: 1 });
      await journal.close();
      if (state === "uncertain") {
        const other = await openSqliteJournal(path);
        await other.protocol.sweep();
        await other.close();
      }
      await expect(moveSqliteStore(path, {}, async () => undefined)).rejects.toMatchObject({
        code: "INVALID_OPTIONS",
        message: expect.stringContaining(state === "prepared" ? "such as b" : "such as a"),
      });
      await (await openSqliteJournal(path)).close();
    },
  );

  it("RUN-6: refuses while a run is held, or anybody is at work in the file", async () => {
    const path = await filledFile();
    const store = await openSqliteRunStore(path);
    const claim = await store.claim("waiting", { create: false });
    await expect(moveSqliteStore(path, {}, async () => undefined)).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    await claim.release();
    await expect(moveSqliteStore(path, {}, async () => undefined)).rejects.toMatchObject({
      code: "JOURNAL_UNAVAILABLE",
    });
    await store.close();
    expect((await moveSqliteStore(path, {}, async () => "taken")).answer).toBe("taken");
  });

  it("ACT-11: a target that holds anything already takes nothing, and the file stays", async () => {
    const [path, schema] = [await filledFile(), newSchema()];
    const journal = await openPostgresJournal(database.url, { schema });
    await dispatcherOn(journal).dispatch(intentOf("there"));
    const moving = moveSqliteStore(path, {}, (contents) => fillPostgresStore(database.url, contents, { schema }));
    await expect(moving).rejects.toMatchObject({ code: "INVALID_OPTIONS", subject: "schema" });
    expect(await journal.find("committed")).toBeUndefined();
    await journal.close();
    const file = await openSqliteJournal(path);
    expect((await file.find("committed"))?.state).toBe("committed");
    await file.close();
  });

  it("ACT-11: a move that breaks off in the middle leaves the target empty and the file as it was", async () => {
    const [path, schema] = [await filledFile(), newSchema()];
    const pool = new pg.Pool({ connectionString: database.url });
    const moving = moveSqliteStore(path, {}, (contents) =>
      fillPostgresStore(
        pool,
        {
          ...bound(contents),
          facts: () => {
            throw new Error("out of memory");
          },
        },
        { schema },
      ),
    );
    await expect(moving).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    const { rows } = await pool.query(`SELECT count(*)::int AS entries FROM ${schema}.entries`);
    expect([rows, existsSync(path)]).toEqual([[{ entries: 0 }], true]);
    await moveSqliteStore(path, {}, (contents) => fillPostgresStore(pool, contents, { schema }));
    await pool.end();
  });
});

function bound<Contents extends Parameters<typeof fillPostgresStore>[1]>(contents: Contents) {
  return {
    entries: () => contents.entries(),
    scopes: () => contents.scopes(),
    evidence: () => contents.evidence(),
    runs: () => contents.runs(),
  };
}
