import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it, vi } from "vitest";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";
import { intentOf } from "../actions/rig.ts";
import { dispatcherOn, filled, newPath, refusal } from "../support/sqlite-faults-scene.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

function lockFiles(path: string): string[] {
  return readdirSync(`${path}-owners`).filter((name) => name.endsWith(".lock"));
}

describe("unsafe ground", () => {
  it("ACT-11: a SQLite that can lose commits is refused", async () => {
    class Old extends DatabaseSync {
      override prepare(sql: string): never {
        return (sql.includes("sqlite_version") ? { get: () => ({ version: "3.51.2" }) } : super.prepare(sql)) as never;
      }
    }
    const path = newPath();
    await expect(openSqliteJournal(path, { driver: Old as never })).rejects.toMatchObject({
      code: "JOURNAL_UNSAFE",
      message: expect.stringContaining("3.51.2"),
    });
    expect(existsSync(path)).toBe(false);
  });

  it.each([
    ["PRAGMA synchronous", { synchronous: 1 }],
    ["PRAGMA journal_mode = WAL", { journal_mode: "delete" }],
  ])("ACT-11: a connection on which %s does not hold is refused", async (pragma, answer) => {
    class Weak extends DatabaseSync {
      override prepare(sql: string): never {
        return (sql === pragma ? { get: () => answer } : super.prepare(sql)) as never;
      }
    }
    expect(await refusal(newPath(), { driver: Weak as never })).toBe("JOURNAL_UNSAFE");
  });

  it("ACT-11: a file that is opened again syncs every commit, whatever its binding was compiled for", async () => {
    const settings: string[] = [];
    class Watched extends DatabaseSync {
      override close(): void {
        const row = super.prepare("PRAGMA synchronous").get() as { synchronous: number };
        settings.push(`${this.location() ?? "memory"} ${row.synchronous}`);
        super.close();
      }
    }
    const path = newPath();
    for (let times = 0; times < 2; times += 1) {
      expect(await refusal(path, { driver: Watched as never })).toBe("opened");
    }
    expect(settings.filter((each) => each.startsWith(path))).toEqual([`${path} 2`, `${path} 2`]);
  });

  it("ACT-11: a second binding, or a second copy of the library, on an open file is refused", async () => {
    class Other extends DatabaseSync {}
    const path = newPath();
    const journal = await openSqliteJournal(path, { driver: DatabaseSync as never });
    expect(await refusal(path, { driver: Other as never })).toBe("JOURNAL_UNSAFE");
    vi.resetModules();
    const copy = await import("../../src/journal/sqlite/index.ts");
    expect(copy.openSqliteJournal).not.toBe(openSqliteJournal);
    await expect(copy.openSqliteJournal(path, { driver: DatabaseSync as never })).rejects.toMatchObject({
      code: "JOURNAL_UNSAFE",
    });
    expect(await refusal(path, { driver: DatabaseSync as never })).toBe("opened");
    await journal.close();
  });

  it.each(["", ":memory:", "file:journal.db", "a\u0000.db", null as never, 5 as never])(
    "a path %j that names no file is refused",
    async (path) => {
      expect(await refusal(path)).toBe("INVALID_OPTIONS");
    },
  );

  it("ACT-11: a directory that is not there is named, not made", async () => {
    const path = `${temporaryDirectory()}/missing/journal.db`;
    expect(await refusal(path)).toBe("JOURNAL_UNAVAILABLE");
  });

  it.each([
    { leaseMs: 0 },
    { heartbeatMs: 1.5 },
    { leaseMs: 9_999, heartbeatMs: 5_000 },
    { leaseMS: 60_000 },
    { driver: "better-sqlite3" },
    { driver: () => undefined },
    { driver: null },
    { clock: {} },
  ])("options %j are refused, and no file is made", async (options) => {
    const path = newPath();
    expect(await refusal(path, options as never)).toBe("INVALID_OPTIONS");
    expect(existsSync(path)).toBe(false);
  });
});

describe("a locked SQLite journal", () => {
  /** A clock that jumps a second with each look and whose timers run at once. */
  function hastyClock() {
    let nowMs = 0;
    return {
      now: () => {
        nowMs += 1_000;
        return nowMs;
      },
      setTimer: (_atMs: number, run: () => void) => {
        queueMicrotask(run);
        return () => undefined;
      },
    };
  }

  it("ACT-11: a lock that another connection keeps is an error in the end, and steps go on when it is let go", async () => {
    const path = newPath();
    const journal = await openSqliteJournal(path, { clock: hastyClock() });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const claim = { operationId: "a", claimId: "c", intentHash: "h", intentText: "{}", scopes: [] };
    await expect(journal.protocol.claim(claim)).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    expect(await refusal(path, { clock: hastyClock() })).toBe("JOURNAL_UNAVAILABLE");
    other.exec("ROLLBACK");
    expect(await journal.protocol.claim(claim)).toEqual({ kind: "claimed", fence: 1 });
    other.close();
    await journal.close();
  });

  it("ACT-11: steps that met a lock are taken when it is free, in their order", async () => {
    const path = newPath();
    const journal = await openSqliteJournal(path);
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const claims = ["a", "b", "c"].map((operationId) =>
      journal.protocol.claim({
        operationId,
        claimId: operationId,
        intentHash: "h",
        intentText: "{}",
        scopes: [{ id: "s", key: "k" }],
      }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    other.exec("COMMIT");
    expect((await Promise.all(claims)).map(({ kind }) => kind)).toEqual(["claimed", "waiting", "waiting"]);
    other.close();
    await journal.close();
  });
});

describe("owners' locks", () => {
  it("ACT-5: a journal that leaves nothing behind removes its lock, and the next one those of the dead", async () => {
    const path = newPath();
    await filled(path);
    expect(lockFiles(path)).toEqual([]);
    writeFileSync(`${path}-owners/dead.lock`, "");
    const journal = await openSqliteJournal(path);
    await dispatcherOn(journal).dispatch(intentOf("c"));
    expect(lockFiles(path)).toHaveLength(1);
    await journal.close();
    expect(lockFiles(path)).toEqual([]);
  });
});
