import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it, vi } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import type { Journal } from "../../src/domain/journal.ts";
import type { SqliteDatabase } from "../../src/journal/sqlite/driver.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";
import { MIGRATIONS, migrate } from "../../src/journal/sqlite/migrations.ts";
import { intentOf } from "../actions/rig.ts";
import { dispatcherOn, filled, newPath, refusal } from "../support/sqlite-faults-scene.ts";

/** Changes a text in a file, in place, everywhere. */
function overwrite(path: string, text: string, by: string): void {
  const bytes = readFileSync(path);
  expect(bytes.includes(text)).toBe(true);
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text)) bytes.write(by, at);
  writeFileSync(path, bytes);
}

function tablesOf(database: SqliteDatabase): string[] {
  const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  return (rows as { readonly name: string }[]).map(({ name }) => name);
}

describe("a damaged SQLite journal", () => {
  it("ACT-11: a receipt that was changed on disk is named and refused; whole records stay readable", async () => {
    const path = newPath();
    await filled(path);
    overwrite(
      path,
      '"operationId":"a","moment":{"timelineId":"main","tick":7},"status":"committed","result":{"gold":100}',
      '"operationId":"a","moment":{"timelineId":"main","tick":7},"status":"committed","result":{"gold":900}',
    );
    const journal = await openSqliteJournal(path);
    await expect(journal.find("a")).rejects.toMatchObject({ code: "JOURNAL_CORRUPT", subject: "operation a" });
    await expect(dispatcherOn(journal).dispatch(intentOf("a", { conflictKeys: ["key-a"] }))).rejects.toMatchObject({
      code: "JOURNAL_CORRUPT",
    });
    expect((await journal.find("b"))?.receipt).toMatchObject({ result: { gold: 100 } });
    await journal.close();
  });

  it("ACT-11: what was kept beside a receipt and changed on disk is named as the operation is, and refused", async () => {
    const path = newPath();
    await filled(path);
    const raw = new DatabaseSync(path);
    raw.exec("INSERT INTO toolkernel_evidence VALUES (NULL, 'a', 'lateReceipt', 1, '{}', 1, 1)");
    raw.close();
    const journal = await openSqliteJournal(path);
    await expect(journal.protocol.listEvidence("a")).rejects.toMatchObject({
      code: "JOURNAL_CORRUPT",
      subject: "operation a",
    });
    expect(await journal.protocol.listEvidence("b")).toEqual([]);
    await journal.close();
  });

  it("ACT-11: a conflict scope that was changed on disk is refused before anything is dispatched", async () => {
    const path = newPath();
    await filled(path);
    const raw = new DatabaseSync(path);
    raw.exec("UPDATE toolkernel_scopes SET fence = 0");
    raw.close();
    const journal = await openSqliteJournal(path);
    const execute = vi.fn();
    const dispatcher = new GameActionDispatcher({ journal, handler: { execute } });
    await expect(dispatcher.dispatch(intentOf("c", { conflictKeys: ["key-a"] }))).rejects.toMatchObject({
      code: "JOURNAL_CORRUPT",
    });
    expect([execute.mock.calls, await journal.find("c")]).toEqual([[], undefined]);
    await journal.close();
  });

  it("ACT-11: a page that was zeroed is an error, never an absent entry", async () => {
    const path = newPath();
    await filled(
      path,
      Array.from({ length: 200 }, (_, place) => `op-${place}`),
    );
    const bytes = readFileSync(path);
    const page = Math.floor(bytes.indexOf('"operationId":"op-150"') / 4_096);
    bytes.fill(0, page * 4_096, (page + 1) * 4_096);
    writeFileSync(path, bytes);
    const journal = await openSqliteJournal(path);
    const found = await Promise.allSettled(Array.from({ length: 200 }, (_, place) => journal.find(`op-${place}`)));
    const codes = found.map((each) => (each.status === "rejected" ? each.reason.code : each.value?.state));
    expect(new Set(codes)).toEqual(new Set(["committed", "JOURNAL_CORRUPT"]));
    await journal.close();
  });

  it.each([
    ["garbage", (path: string) => writeFileSync(path, "hello world ".repeat(500)), "JOURNAL_CORRUPT"],
    ["a truncated file", (path: string) => truncateSync(path, 5_000), "JOURNAL_CORRUPT"],
    ["an empty file", (path: string) => truncateSync(path, 0), "JOURNAL_CORRUPT"],
    ["no file", (path: string) => rmSync(path), "JOURNAL_CORRUPT"],
    ...[0, 1, 2, 99].map((version): [string, (path: string) => void, string] => [
      `another program's database of version ${version}, with no witness,`,
      (path) => {
        for (const file of [path, `${path}-witness`]) rmSync(file);
        const database = new DatabaseSync(path);
        database.exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY); PRAGMA user_version = ${version}`);
        database.close();
      },
      "JOURNAL_CORRUPT",
    ]),
    [
      "a directory",
      (path: string) => {
        rmSync(path);
        mkdirSync(path);
      },
      "JOURNAL_UNAVAILABLE",
    ],
    ["a new journal's file", (path: string) => copyFileSync(path, `${path}.old`), "opened"],
  ])("ACT-11: %s in place of a journal", async (_name, damage, code) => {
    const path = newPath();
    await filled(path);
    damage(path);
    expect(await refusal(path)).toBe(code);
  });

  it("ACT-11: an old copy put in its place is refused, and accepted once the witness was removed", async () => {
    const path = newPath();
    await filled(path, ["a"]);
    copyFileSync(path, `${path}.old`);
    await filled(path, ["b"]);
    copyFileSync(`${path}.old`, path);
    expect(await refusal(path)).toBe("JOURNAL_CORRUPT");
    rmSync(`${path}-witness`);
    expect(await refusal(path)).toBe("opened");
  });

  it("ACT-11: a write-ahead log that was lost is noticed", async () => {
    const path = newPath();
    await filled(path, ["a"]);
    const journal = await openSqliteJournal(path);
    await dispatcherOn(journal).dispatch(intentOf("b"));
    // What a crash leaves behind, with and without its log.
    const [whole, cut] = [newPath(), newPath()];
    for (const copy of [whole, cut]) {
      copyFileSync(path, copy);
      copyFileSync(`${path}-witness`, `${copy}-witness`);
    }
    copyFileSync(`${path}-wal`, `${whole}-wal`);
    expect([await refusal(whole), await refusal(cut)]).toEqual(["opened", "JOURNAL_CORRUPT"]);
    await journal.close();
  });

  it("ACT-11: another journal's witness, or a damaged one, is refused", async () => {
    const [path, other] = [newPath(), newPath()];
    await filled(path);
    await filled(other);
    copyFileSync(`${other}-witness`, `${path}-witness`);
    expect(await refusal(path)).toBe("JOURNAL_CORRUPT");
    writeFileSync(`${path}-witness`, "x".repeat(64));
    expect(await refusal(path)).toBe("JOURNAL_CORRUPT");
    // What a power cut can leave of a file that was never synced.
    writeFileSync(`${path}-witness`, Buffer.alloc(64));
    expect(await refusal(path)).toBe("opened");
  });

  it("ACT-11: a table that is gone is an error, and nothing is dispatched", async () => {
    const path = newPath();
    const journal = await openSqliteJournal(path);
    const raw = new DatabaseSync(path);
    raw.exec("DROP TABLE toolkernel_scopes");
    raw.close();
    await expect(dispatcherOn(journal).dispatch(intentOf("a", { conflictKeys: ["k"] }))).rejects.toMatchObject({
      code: "JOURNAL_CORRUPT",
    });
    expect(await journal.find("a")).toBeUndefined();
    await journal.close();
  });

  it("ACT-11: a file that is moved away while it is open gets nothing more", async () => {
    const path = newPath();
    const journal = await openSqliteJournal(path);
    await dispatcherOn(journal).dispatch(intentOf("a"));
    renameSync(path, `${path}.moved`);
    await expect(
      journal.protocol.claim({ operationId: "b", claimId: "c", intentHash: "h", intentText: "{}", scopes: [] }),
    ).rejects.toMatchObject({
      code: "JOURNAL_UNAVAILABLE",
    });
    await journal.close();
  });
});

describe("schema versions", () => {
  it("ACT-11: a journal of a newer version is refused by both numbers and left untouched", async () => {
    const path = newPath();
    await filled(path);
    const raw = new DatabaseSync(path);
    raw.exec("PRAGMA user_version = 99");
    raw.close();
    const before = readFileSync(path);
    await expect(openSqliteJournal(path)).rejects.toMatchObject({
      code: "JOURNAL_VERSION",
      message: expect.stringMatching(new RegExp(`version 99; .* up to ${MIGRATIONS.length}`)),
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("ACT-11: an older one is copied, then migrated in one transaction", () => {
    const path = newPath();
    const database = new DatabaseSync(path);
    const steps = ["CREATE TABLE one (a)", "CREATE TABLE two (a)", "CREATE TABLE three (a); CREATE TABLE two (a)"];
    migrate({ database, path, migrations: steps.slice(0, 1) });
    database.exec("INSERT INTO one VALUES (1)");
    expect(() => migrate({ database, path, migrations: steps })).toThrow("two");
    expect(tablesOf(database)).toEqual(["one"]);
    rmSync(`${path}-before-3`);
    migrate({ database, path, migrations: steps.slice(0, 2) });
    migrate({ database, path, migrations: steps.slice(0, 2) });
    expect(tablesOf(database)).toEqual(["one", "two"]);
    const copy = new DatabaseSync(`${path}-before-2`);
    expect([tablesOf(copy), { ...(copy.prepare("SELECT * FROM one").get() as object) }]).toEqual([["one"], { a: 1 }]);
    copy.close();
    database.close();
  });

  it("ACT-11: many who open a new file at once make it once", async () => {
    const path = newPath();
    const journals = await Promise.all(Array.from({ length: 8 }, () => openSqliteJournal(path)));
    await dispatcherOn(journals[0] as Journal).dispatch(intentOf("a"));
    expect(await Promise.all(journals.map(async (journal) => (await journal.find("a"))?.state))).toEqual(
      Array(8).fill("committed"),
    );
    for (const journal of journals) await journal.close();
  });
});
