import { openPostgresJournal, openPostgresRunStore } from "toolkernel/postgres";
import { describe, expect, it } from "vitest";
import { filled, handlerModule, here, journalPath, keepRun, run } from "../support/journal-command-scene.ts";
import { setPostgresScene } from "../support/postgres-scene.ts";

const { database } = setPostgresScene();

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
      `Copied 3 operations and 1 run.\nThe file is ${journalPath()}-moved now, so that nobody goes on writing to it.\n`,
    );
    const listed = await run("list", "--journal", database.url, "--schema", "copied", "--json");
    expect(listed.out.split("\n")).toHaveLength(2);
    expect(JSON.parse(listed.out)).toMatchObject({ kind: "run", runId: "run-1", status: "awaitingApproval" });
    const shown = await run("show", "done", "--journal", database.url, "--schema", "copied", "--json");
    expect(JSON.parse(shown.out)).toMatchObject({ state: "committed", receipt: { result: { built: "a farm" } } });
    expect(await here("list")).toMatchObject({ exitCode: 1, errors: expect.stringContaining("no file") });
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
        errors: expect.stringContaining("no other way"),
      });
    }
  });
});

describe("the place of a journal", () => {
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

  it.each([
    ["a file that is not there", ["list", "--journal", "nowhere.db"], "names nowhere.db, where there is no file"],
    ["no place", ["list"], "--journal"],
    ["a file with a schema", ["list", "--journal", "package.json", "--schema", "x"], "belongs to a PostgreSQL journal"],
    ["a file that is no journal", ["list", "--journal", "package.json"], "damaged or no journal"],
    ["a database out of reach", ["list", "--journal", "postgres://u:secret@127.0.0.1:1/x"], "cannot be reached"],
    ["an unknown command", ["destroy", "--journal", "x"], "unknown command"],
  ])("refuses %s", async (_name, args, words) => {
    const { exitCode, out, errors } = await run(...args);
    expect([exitCode, out, errors]).toEqual([1, "", expect.stringContaining(words)]);
    expect(errors).not.toContain("secret");
  });
});
