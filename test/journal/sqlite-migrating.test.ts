import { existsSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";
import { MIGRATIONS, migrate } from "../../src/journal/sqlite/migrations.ts";
import { intentOf } from "../actions/rig.ts";
import { dispatcherOn, newPath, refusal } from "../support/sqlite-faults-scene.ts";

const COPY = `-before-${MIGRATIONS.length}`;

/** A file as the oldest version left it. */
function oldFile(): string {
  const path = newPath();
  const database = new DatabaseSync(path);
  migrate({ database, path, migrations: MIGRATIONS.slice(0, 1) });
  database.close();
  return path;
}

function versionOf(path: string): number {
  const database = new DatabaseSync(path);
  const row = database.prepare("PRAGMA user_version").get() as { readonly user_version: number };
  database.close();
  return row.user_version;
}

describe("migrating a SQLite file", () => {
  // A copy that stood there already was an error, and the journal a damaged one, for ever.
  it.each([
    ["half a copy that a process left that died while it copied", [`${COPY}-unfinished`, `${COPY}-unfinished-journal`]],
    ["a copy of an earlier attempt, whole or not", [COPY]],
  ])("ACT-11: is not kept from it by %s", async (_what, names) => {
    const path = oldFile();
    for (const name of names) writeFileSync(`${path}${name}`, "half a copy");
    expect(await refusal(path)).toBe("opened");
    expect([versionOf(path), versionOf(`${path}${COPY}`)]).toEqual([MIGRATIONS.length, 1]);
    expect(existsSync(`${path}${COPY}-unfinished`)).toBe(false);
  });

  it("ACT-11: leaves the copy of the older file as it was when another process was first", async () => {
    const path = oldFile();
    const late = new DatabaseSync(path);
    const journal = await openSqliteJournal(path, { driver: DatabaseSync as never });
    await dispatcherOn(journal).dispatch(intentOf("a"));
    migrate({ database: late, path, migrations: MIGRATIONS });
    late.close();
    await journal.close();
    expect(versionOf(`${path}${COPY}`)).toBe(1);
  });
});
