import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { openPostgresJournal, openPostgresRunStore } from "toolkernel/postgres";
import { describe, expect, it } from "vitest";
import { filled, handlerModule, here, journalPath, keepRun, run } from "../support/journal-command-scene.ts";
import { setPostgresScene } from "../support/postgres-scene.ts";

const { database } = setPostgresScene();

/** Makes a file the database of another program. */
function fill(path: string, version: number): void {
  const other = new DatabaseSync(path);
  other.exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY); PRAGMA user_version = ${version}`);
  other.close();
}

describe("journal copy", () => {
  it("ACT-10: moves a journal with its runs to PostgreSQL, once nothing is open", async () => {
    await filled();
    await keepRun();
    const to = ["--to", database.url, "--schema", "copied"];
    const refused = await run("copy", "--journal", journalPath(), "--to", database.url);
    expect(refused).toMatchObject({ exitCode: 1, errors: expect.stringContaining("holds operations that are open") });
    for (const id of ["lost", "gone"]) await here("resolve", id, "--status", "failed", "--evidence", "looked");
    // The schema is the target's.
    const { exitCode, out, errors } = await run("copy", "--journal", journalPath(), ...to);
    expect([exitCode, errors]).toEqual([0, ""]);
    expect(out).toBe(
      `Copied 3 operations and 1 run.\nThe file is now ${journalPath()}-moved, so that nobody keeps writing to it.\n`,
    );
    const listed = await run("list", "--journal", database.url, "--schema", "copied", "--json");
    expect(listed.out.split("\n")).toHaveLength(2);
    expect(JSON.parse(listed.out)).toMatchObject({ kind: "run", runId: "run-1", status: "awaitingApproval" });
    const shown = await run("show", "done", "--journal", database.url, "--schema", "copied", "--json");
    expect(JSON.parse(shown.out)).toMatchObject({ state: "committed", receipt: { result: { built: "a farm" } } });
    expect(await here("list")).toMatchObject({ exitCode: 1, errors: expect.stringContaining("which does not exist") });
  });

  it("goes one way only", async () => {
    await filled();
    for (const [journal, to] of [
      [journalPath(), journalPath()],
      [database.url, journalPath()],
      [database.url, database.url],
    ] as const) {
      expect(await run("copy", "--journal", journal, "--to", to)).toMatchObject({
        exitCode: 1,
        errors: expect.stringContaining("copy only goes from a SQLite file"),
      });
    }
  });
});

describe("the place of a journal", () => {
  describe.each([
    ["an empty file", (_path: string) => undefined, "is empty, and not a journal"],
    ["a database of something else", (path: string) => fill(path, 0), "is not a journal"],
    ["one that counts its versions too", (path: string) => fill(path, 2), "is not a journal"],
  ])("ACT-11: with %s", (_name, make, words) => {
    it.each([
      ["list"],
      ["show", "x"],
      ["abandon", "x"],
      ["resolve", "x", "--status", "failed", "--evidence", "looked"],
      ["prune", "--before", "1d"],
      ["reconcile", "--handler", "HANDLER"],
      ["copy", "--to", "postgres://u@127.0.0.1:1/x"],
    ])("is refused by %s, and left as it is", async (...args) => {
      const path = journalPath();
      writeFileSync(path, "");
      make(path);
      const module = await handlerModule();
      const before = readFileSync(path);
      const files = readdirSync(dirname(path));
      const ran = await here(...args.map((each) => (each === "HANDLER" ? module : each)));
      expect(ran).toMatchObject({ exitCode: 1, out: "", errors: expect.stringContaining(words) });
      expect([readFileSync(path).equals(before), readdirSync(dirname(path))]).toEqual([true, files]);
    });
  });

  it("may be a PostgreSQL database", async () => {
    await filled(() => openPostgresJournal(database.url, { schema: "shown" }));
    const store = await openPostgresRunStore(database.url, { schema: "shown" });
    await (await store.claim("run-2", { create: true })).append([], { status: "running", turn: 1 });
    const place = ["--journal", database.url, "--schema", "shown"];
    const { exitCode, out } = await run("list", ...place);
    expect(exitCode).toBe(2);
    expect(out).toContain("a live process");
    await store.close();
    expect((await run("reconcile", ...place, "--handler", await handlerModule())).out).toBe(
      "gone: still unknown\nlost: committed (recovered)\n",
    );
  });

  it("ACT-11: is no schema in which there is no journal, and none is made in it", async () => {
    for (const args of [["list"], ["show", "x"]]) {
      expect(await run(...args, "--journal", database.url, "--schema", "mistyped")).toMatchObject({
        exitCode: 1,
        out: "",
        errors: expect.stringContaining("schema mistyped holds no journal"),
      });
    }
  });

  it.each([
    ["a file that is not there", ["list", "--journal", "nowhere.db"], "names nowhere.db, which does not exist"],
    ["no place", ["list"], "--journal"],
    ["a file with a schema", ["list", "--journal", "package.json", "--schema", "x"], "belongs to a PostgreSQL journal"],
    ["a file that is no journal", ["list", "--journal", "package.json"], "damaged or not a journal"],
    ["a database out of reach", ["list", "--journal", "postgres://u:secret@127.0.0.1:1/x"], "cannot be reached"],
    ["an unknown command", ["destroy", "--journal", "x"], "unknown command"],
  ])("refuses %s", async (_name, args, words) => {
    const { exitCode, out, errors } = await run(...args);
    expect([exitCode, out, errors]).toEqual([1, "", expect.stringContaining(words)]);
    expect(errors).not.toContain("secret");
  });
});
