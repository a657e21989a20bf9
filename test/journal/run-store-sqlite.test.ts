import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { RunStore } from "../../src/domain/run-store.ts";
import { openSqliteJournal, openSqliteRunStore } from "../../src/journal/sqlite/index.ts";
import { MIGRATIONS, migrate } from "../../src/journal/sqlite/migrations.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { intentOf } from "../actions/rig.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

function newPath(): string {
  return `${temporaryDirectory()}/store.db`;
}

/** Writes some runs and closes, so that everything is in the database file. */
async function filled(path: string, runIds: readonly string[] = ["a", "b"]): Promise<void> {
  const store = await openSqliteRunStore(path);
  for (const runId of runIds) {
    const claim = await store.claim(runId, { create: true });
    await claim.append(factsUpTo(3), { status: "running", turn: 1 });
    await claim.release();
  }
  await store.close();
}

/** Statements on a file as somebody who does not keep to the rules could make them. */
function tamper(path: string, ...statements: readonly string[]): void {
  const database = new DatabaseSync(path);
  for (const statement of statements) database.exec(statement);
  database.close();
}

async function factsOf(store: RunStore, runId: string) {
  const claim = await store.claim(runId, { create: false });
  await claim.release();
  return claim.facts;
}

function commitsOf(path: string): number {
  const database = new DatabaseSync(path);
  const { commits } = database.prepare("SELECT commits FROM toolkernel_journal").get() as { readonly commits: number };
  database.close();
  return commits;
}

describe("a SQLite run store", () => {
  it("RUN-6: facts of many runs that are recorded at the same time share commits", async () => {
    const path = newPath();
    const store = await openSqliteRunStore(path);
    const runIds = Array.from({ length: 64 }, (_, place) => `run-${place}`);
    const claims = await Promise.all(runIds.map((runId) => store.claim(runId, { create: true })));
    const before = commitsOf(path);
    await Promise.all(claims.map((claim) => claim.append([fact(1)])));
    expect(commitsOf(path) - before).toBe(1);
    for (const number of [2, 3]) await claims[0]?.append([fact(number)]);
    expect(commitsOf(path) - before).toBe(3);
    await store.close();
  });

  it("RUN-6: shares a file with a journal, both at work at the same time", async () => {
    const path = newPath();
    const [journal, store] = [await openSqliteJournal(path), await openSqliteRunStore(path)];
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: { execute: (intent) => GameActionReceipt.committed(intent, { done: true }) },
    });
    const claim = await store.claim("run", { create: true });
    await Promise.all(
      Array.from({ length: 20 }, async (_, place) => {
        await claim.append([fact(place + 1)]);
        await dispatcher.dispatch(intentOf(`op-${place}`, { conflictKeys: ["k"] }));
      }),
    );
    await journal.close();
    await claim.release();
    expect(await factsOf(store, "run")).toEqual(factsUpTo(20));
    await store.close();
    const again = await openSqliteJournal(path);
    for (let place = 0; place < 20; place += 1) expect((await again.find(`op-${place}`))?.state).toBe("committed");
    await again.close();
  });

  it("RUN-6: a second store on the file sees who holds a run, and takes it once it was given back", async () => {
    const path = newPath();
    const [one, other] = [await openSqliteRunStore(path), await openSqliteRunStore(path)];
    const claim = await one.claim("run", { create: true });
    await claim.append([fact(1)]);
    await expect(other.claim("run", { create: true })).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    for (const store of [one, other])
      expect((await store.listOpen({ limit: 9 })).runs).toMatchObject([{ claimed: true }]);
    await claim.release();
    const next = await other.claim("run", { create: false });
    expect(next.facts).toEqual([fact(1)]);
    await expect(one.claim("run", { create: false })).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    await one.close();
    await other.close();
  });

  it("RUN-6: a store that is closed leaves its runs to whoever comes next, and no lock behind", async () => {
    const path = newPath();
    const one = await openSqliteRunStore(path);
    await (await one.claim("run", { create: true })).append([fact(1)]);
    const other = await openSqliteRunStore(path);
    await one.close();
    expect((await other.listOpen({ limit: 9 })).runs).toMatchObject([{ runId: "run", claimed: false }]);
    expect(await factsOf(other, "run")).toEqual([fact(1)]);
    await other.close();
    expect(readdirSync(`${path}-owners`)).toEqual([]);
  });

  it("RUN-6: whoever lost its run records nothing more in it, and cannot give it away", async () => {
    const path = newPath();
    const [former, next] = [await openSqliteRunStore(path), await openSqliteRunStore(path)];
    const lost = await former.claim("run", { create: true });
    await lost.append([fact(1)]);
    // As if its process had ended.
    for (const name of readdirSync(`${path}-owners`)) rmSync(`${path}-owners/${name}`);
    const claim = await next.claim("run", { create: false });
    await expect(lost.append([fact(2)])).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    await lost.release();
    await claim.append([fact(3)]);
    await claim.release();
    expect(await factsOf(next, "run")).toEqual([fact(1), fact(3)]);
    await former.close();
    await next.close();
  });

  it("RUN-6: pruning takes what a dead process held, in as many parts as it needs", async () => {
    const path = newPath();
    const store = await openSqliteRunStore(path);
    const claims = await Promise.all(
      Array.from({ length: 250 }, (_, place) => store.claim(`run-${place}`, { create: true })),
    );
    await Promise.all(claims.map((claim) => claim.append([fact(1)], { status: "completed", turn: 1 })));
    expect(await store.prune({ endedBefore: Number.MAX_SAFE_INTEGER })).toBe(0);
    await store.close();
    const other = await openSqliteRunStore(path);
    expect(await other.prune({ endedBefore: Number.MAX_SAFE_INTEGER })).toBe(250);
    await other.close();
    const database = new DatabaseSync(path);
    expect({ ...(database.prepare("SELECT count(*) AS left FROM toolkernel_facts").get() as object) }).toEqual({
      left: 0,
    });
    database.close();
  });
});

describe("a damaged SQLite run store", () => {
  const DROP_GUARDS = ["toolkernel_fact_is_immutable", "toolkernel_fact_stays", "toolkernel_run_goes_on"].map(
    (name) => `DROP TRIGGER ${name}`,
  );

  it.each([
    [
      "a fact that was changed",
      "UPDATE toolkernel_facts SET body = replace(body, '\"index\":2', '\"index\":9') WHERE run_id = 'a' AND seq = 2",
    ],
    [
      "facts that changed places",
      "UPDATE toolkernel_facts SET body = (SELECT body FROM toolkernel_facts WHERE run_id = 'b' AND seq = 1) WHERE run_id = 'a' AND seq = 2",
    ],
    ["a fact that is gone", "DELETE FROM toolkernel_facts WHERE run_id = 'a' AND seq = 2"],
    ["the last fact that is gone", "DELETE FROM toolkernel_facts WHERE run_id = 'a' AND seq = 3"],
    [
      "a fact too many",
      "INSERT INTO toolkernel_facts SELECT run_id, 4, body, checksum FROM toolkernel_facts WHERE run_id = 'a' AND seq = 3",
    ],
    ["a run that was changed", "UPDATE toolkernel_runs SET fence = 77 WHERE run_id = 'a'"],
  ])("ACT-11: %s is named and refused; other runs can be gone on with", async (_name, statement) => {
    const path = newPath();
    await filled(path);
    tamper(path, ...DROP_GUARDS, statement);
    const store = await openSqliteRunStore(path);
    for (let times = 0; times < 2; times += 1) {
      await expect(store.claim("a", { create: true })).rejects.toMatchObject({
        code: "JOURNAL_CORRUPT",
        subject: "run a",
      });
    }
    expect(await factsOf(store, "b")).toEqual(factsUpTo(3));
    await store.close();
  });

  it("RUN-6: the schema itself keeps facts, fences and open runs", async () => {
    const path = newPath();
    await filled(path);
    const database = new DatabaseSync(path);
    for (const statement of [
      "UPDATE toolkernel_facts SET body = '{}'",
      "DELETE FROM toolkernel_facts WHERE seq = 3",
      "DELETE FROM toolkernel_runs",
      "UPDATE toolkernel_runs SET fence = fence - 1",
      "UPDATE toolkernel_runs SET facts = 2",
      "UPDATE toolkernel_runs SET run_id = 'c' WHERE run_id = 'a'",
    ]) {
      expect(() => database.exec(statement)).toThrow("toolkernel: ");
    }
    database.close();
  });

  it("ACT-11: a table that is gone is an error", async () => {
    const path = newPath();
    await filled(path);
    tamper(path, "DROP TABLE toolkernel_facts");
    await expect(openSqliteRunStore(path)).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
  });

  it("ACT-11: an old copy put in its place is refused", async () => {
    const path = newPath();
    await filled(path, ["a"]);
    copyFileSync(path, `${path}.old`);
    await filled(path, ["b"]);
    copyFileSync(`${path}.old`, path);
    await expect(openSqliteRunStore(path)).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
  });

  it("CAN-5: a file that is moved away while it is open takes no fact, and takes the same one when it is back", async () => {
    const path = newPath();
    const store = await openSqliteRunStore(path);
    const claim = await store.claim("run", { create: true });
    await claim.append([fact(1)]);
    renameSync(path, `${path}.moved`);
    await expect(claim.append([fact(2)])).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    expect(existsSync(path)).toBe(false);
    renameSync(`${path}.moved`, path);
    await claim.append([fact(2)]);
    await claim.release();
    expect(await factsOf(store, "run")).toEqual(factsUpTo(2));
    await store.close();
  });

  it("RUN-6: a run that could not be given back is given back with the next step that succeeds", async () => {
    const path = newPath();
    const [store, other] = [await openSqliteRunStore(path), await openSqliteRunStore(path)];
    const claim = await store.claim("run", { create: true });
    renameSync(path, `${path}.moved`);
    await expect(claim.release()).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    renameSync(`${path}.moved`, path);
    await expect(other.claim("run", { create: false })).rejects.toMatchObject({ code: "RUN_CLAIMED" });
    await (await store.claim("another", { create: true })).append([fact(1)]);
    expect((await other.claim("run", { create: false })).facts).toEqual([]);
    await store.close();
    await other.close();
  });
});

describe("schema versions", () => {
  it("ACT-11: the file of a journal that was written before there were runs is copied, and goes on", async () => {
    const path = newPath();
    const database = new DatabaseSync(path);
    migrate({ database, path, migrations: MIGRATIONS.slice(0, 1) });
    database.close();
    const store = await openSqliteRunStore(path);
    await (await store.claim("run", { create: true })).append([fact(1)]);
    await store.close();
    expect(existsSync(`${path}-before-${MIGRATIONS.length}`)).toBe(true);
    await (await openSqliteJournal(path)).close();
  });

  it("ACT-11: a store of a newer version is refused by both numbers", async () => {
    const path = newPath();
    await filled(path);
    tamper(path, "PRAGMA user_version = 99");
    await expect(openSqliteRunStore(path)).rejects.toMatchObject({
      code: "JOURNAL_VERSION",
      message: expect.stringMatching(new RegExp(`version 99; .* up to ${MIGRATIONS.length}`)),
    });
  });

  it.each([
    ["", {}],
    [":memory:", {}],
    ["runs.db", { leaseMs: 0 }],
    ["runs.db", { leaseMs: 10, heartbeatMs: 6 }],
  ])("the path %j with %j is refused", async (path, options) => {
    await expect(openSqliteRunStore(path, options)).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
  });
});
