import { copyFileSync, existsSync, renameSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import { openSqliteJournal, openSqliteRunStore } from "../../src/journal/sqlite/index.ts";
import { MIGRATIONS, migrate } from "../../src/journal/sqlite/migrations.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { factsOf } from "../support/run-store-scene.ts";
import { newPath } from "../support/run-store-sqlite-scene.ts";

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
  ])("ACT-11: %s is named and refused; other runs can be resumed", async (_name, statement) => {
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
