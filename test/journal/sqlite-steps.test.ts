import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SqliteDatabase } from "../../src/journal/sqlite/driver.ts";
import { EntryTable } from "../../src/journal/sqlite/entry-table.ts";
import { MIGRATIONS, migrate } from "../../src/journal/sqlite/migrations.ts";
import { appendStep, giveBackStep, type Taker, takeStep } from "../../src/journal/sqlite/run-steps.ts";
import { RunTable } from "../../src/journal/sqlite/run-table.ts";
import type { StoredEntry } from "../../src/journal/stored-entry.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

function openTables(): SqliteDatabase {
  const path = `${temporaryDirectory()}/store.db`;
  // The binding says more than a store asks of it.
  const database = new DatabaseSync(path) as unknown as SqliteDatabase;
  migrate({ database, path, migrations: MIGRATIONS });
  onTestFinished(() => database.close());
  return database;
}

const DISPATCHED: StoredEntry = {
  operationId: "op",
  state: "dispatched",
  fence: 1,
  owner: "owner",
  claimId: "claim",
  intentHash: "hash",
  intentText: "{}",
  scopes: [],
  receiptText: null,
  heldUntilMs: null,
  isForgotten: false,
  createdAtMs: 1,
  updatedAtMs: 1,
};

describe("a step on a row that is no longer what was read", () => {
  it.each([
    ["state", { state: "uncertain" }],
    ["fence", { state: "uncertain", fence: 2 }],
  ] as const)("ACT-2: of another %s is an error and writes nothing", (_what, change) => {
    const entries = new EntryTable(openTables());
    entries.insert(DISPATCHED);
    const [read, late] = [entries.find("op"), entries.find("op")];
    if (read === undefined || late === undefined) throw new Error("an entry was inserted");
    const receiptText = '{"status":"uncertain"}';
    entries.update(read, { ...read, ...change, receiptText, updatedAtMs: 2 });
    const standing = entries.find("op");
    const ended = { ...late, state: "committed", receiptText: '{"status":"committed"}', updatedAtMs: 3 } as const;
    expect(() => entries.update(late, ended)).toThrow("no row changed");
    if (change.state === "uncertain" && "fence" in change) {
      const other = { ...late, state: "uncertain", receiptText } as const;
      expect(() => entries.update(other, { ...ended, fence: 2 })).toThrow("no row changed");
    }
    expect(entries.find("op")).toEqual(standing);
  });

  const taker = (owner: string, deadOwner: string | null = null): Taker => ({
    owner,
    deadOwner,
    nowMs: 1,
    checkSpace: () => undefined,
  });
  const append = { runId: "run", behind: 0, texts: ["{}"], progress: undefined };

  it("RUN-6, C28: a run that somebody else took since it was looked at is claimed", () => {
    const table = new RunTable(openTables());
    expect(takeStep(table, { runId: "run", create: true }, taker("dead"))).toMatchObject({ kind: "taken", fence: 1 });
    expect(takeStep(table, { runId: "run", create: true }, taker("one", "dead"))).toMatchObject({ fence: 2 });
    expect(takeStep(table, { runId: "run", create: true }, taker("other", "dead"))).toEqual({ kind: "claimed" });
    expect(takeStep(table, { runId: "run", create: true }, taker("other"))).toEqual({ kind: "claimed" });
  });

  it("RUN-6: who took a run again records under the new fence alone, and who gave it back under none", () => {
    const table = new RunTable(openTables());
    takeStep(table, { runId: "run", create: true }, taker("one"));
    takeStep(table, { runId: "run", create: true }, taker("one"));
    expect(appendStep(table, { ...append, fence: 1 }, taker("one"))).toBeUndefined();
    expect(appendStep(table, { ...append, fence: 2 }, taker("other"))).toBeUndefined();
    giveBackStep(table, { runId: "run", fence: 1 }, "one");
    giveBackStep(table, { runId: "run", fence: 2 }, "other");
    expect(appendStep(table, { ...append, fence: 2 }, taker("one"))).toBe(1);
    giveBackStep(table, { runId: "run", fence: 2 }, "one");
    expect(appendStep(table, { ...append, behind: 1, fence: 2 }, taker("one"))).toBeUndefined();
    expect(table.find("run")).toMatchObject({ facts: 1, fence: 2, owner: null });
  });
});
