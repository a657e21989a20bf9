import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GameActionDispatcher, GameActionReceipt, type Journal } from "toolkernel";
import { openPostgresJournal, openPostgresRunStore } from "toolkernel/postgres";
import { openSqliteJournal, openSqliteRunStore } from "toolkernel/sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/commands.ts";
import { intentOf } from "../actions/rig.ts";
import { temporaryDirectory } from "../journal/temporary-directory.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";

let database: TestDatabase;
let folder = "";
let path = "";

beforeAll(async () => {
  database = await makeDatabase();
}, 60_000);

afterAll(() => database.drop());

beforeEach(() => {
  folder = temporaryDirectory();
  path = join(folder, "journal.db");
});

interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly errors: string;
}

/** Runs `toolkernel journal …` on the journal of this test. */
async function run(...args: readonly string[]): Promise<Ran> {
  let [out, errors] = ["", ""];
  const exitCode = await runCli(["journal", ...args], {
    stdout: {
      write: (text) => {
        out += text;
      },
      isTerminal: false,
      allowsColor: false,
    },
    writeError: (text) => {
      errors += text;
    },
    interrupt: new AbortController().signal,
  });
  return { exitCode, out, errors };
}

function here(...args: readonly string[]): Promise<Ran> {
  return run(...args, "--journal", path);
}

async function json(...args: readonly string[]): Promise<{ readonly exitCode: number; readonly lines: unknown[] }> {
  const { exitCode, out, errors } = await here(...args, "--json");
  expect(errors).toBe("");
  const lines = out.split("\n").filter((line) => line !== "");
  return { exitCode, lines: lines.map((line) => JSON.parse(line) as unknown) };
}

/** Writes a journal: `done` has ended, `lost` and `gone` are uncertain, `waiting` waits for the key of `lost`. */
async function filled(open: () => Promise<Journal> = () => openSqliteJournal(path)): Promise<void> {
  const journal = await open();
  const dispatcher = new GameActionDispatcher({
    journal,
    handler: {
      execute: (intent) => {
        if (intent.inputId !== "input") throw new Error("the answer was lost");
        return GameActionReceipt.committed(intent, { built: "a farm" });
      },
    },
  });
  await dispatcher.dispatch(intentOf("done", { arguments: { plot: 7 } }));
  await dispatcher.dispatch(intentOf("lost", { inputId: "other", conflictKeys: ["plot:1"] }));
  await dispatcher.dispatch(intentOf("gone", { inputId: "other" }));
  await journal.close();
}

/** Writes an operation that waits for a key, as a living process would have it; answers how to end that process. */
async function waiting(): Promise<() => Promise<void>> {
  const journal = await openSqliteJournal(path);
  const request = (operationId: string) => ({
    operationId,
    claimId: operationId,
    intentHash: "h",
    intentText: JSON.stringify(intentOf(operationId, { conflictKeys: ["plot:9"] })),
    scopes: [{ id: "plot:9", key: "plot:9" }],
  });
  await journal.protocol.claim(request("holding"));
  await journal.protocol.claim(request("waiting"));
  return () => journal.close();
}

async function keepRun(): Promise<void> {
  const store = await openSqliteRunStore(path);
  const claim = await store.claim("run-1", { create: true });
  await claim.append([{ kind: "begun", earlier: [] }], { status: "awaitingApproval", turn: 2 });
  await claim.release();
  await store.close();
}

/** A module that knows that `lost` was built, and nothing of anything else. */
async function handlerModule(): Promise<string> {
  const module = join(folder, "handler.mjs");
  await writeFile(
    module,
    `export default { handler: { knows: "lost", recover({ operationId, moment }) {
      if (operationId === this.knows) return { operationId, moment, status: "committed", result: { built: "a farm" } };
    } } };`,
  );
  return module;
}

describe("journal list", () => {
  it("lists what is open and where it stands, and says by its exit code that something is uncertain", async () => {
    await filled();
    await keepRun();
    const { exitCode, out, errors } = await here("list");
    expect([exitCode, errors]).toEqual([2, ""]);
    expect(out.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").split("\n")).toEqual([
      "operation  state      action  keys    fence  since",
      "gone       uncertain  build           1      TIME",
      "lost       uncertain  build   plot:1  1      TIME",
      "2 operations open.",
      "run    status            turn  held by  since",
      "run-1  awaitingApproval  2     nobody   TIME",
      "1 run open.",
      "",
    ]);
  });

  it("gives data, an object a line", async () => {
    await filled();
    await keepRun();
    const { exitCode, lines } = await json("list");
    expect(exitCode).toBe(2);
    expect(lines).toMatchObject([
      { kind: "entry", state: "uncertain", intent: { operationId: "gone" }, receipt: { code: "handler_threw" } },
      { kind: "entry", state: "uncertain", intent: { operationId: "lost", conflictKeys: ["plot:1"] } },
      { kind: "run", runId: "run-1", status: "awaitingApproval", turn: 2, claimed: false },
    ]);
  });

  it("ACT-5: looks after dead processes first: what they dispatched is uncertain, what waited is abandoned", async () => {
    await (await waiting())();
    const { exitCode, lines } = await json("list");
    expect([exitCode, lines]).toMatchObject([2, [{ intent: { operationId: "holding" }, state: "uncertain" }]]);
    expect((await json("show", "waiting")).lines).toMatchObject([{ state: "abandoned" }]);
  });

  it("ends well when nothing is uncertain", async () => {
    const end = await waiting();
    const { exitCode, out } = await here("list");
    expect(exitCode).toBe(0);
    expect(out).toMatch(/holding\s+dispatched .*\nwaiting\s+prepared .*\n2 operations open\.\n0 runs open\.\n$/);
    await end();
  });

  it("puts no control characters of others on the terminal", async () => {
    const journal = await openSqliteJournal(path);
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: { execute: () => Promise.reject(new Error("lost")) },
    });
    await dispatcher.dispatch(intentOf("odd \u001b[2J", { action: "act\u0007", arguments: { text: "\u009b31m" } }));
    await journal.close();
    for (const { out } of [await here("list"), await here("show", "odd \u001b[2J")]) {
      expect(out).toContain("odd [2J");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    }
  });
});

describe("journal show", () => {
  it("shows everything that is known of an operation", async () => {
    await filled();
    const { exitCode, out } = await here("show", "done");
    expect(exitCode).toBe(0);
    expect(out).toContain('arguments  {"plot":7}\n');
    expect(out).toContain("state      committed\n");
    expect(out).toMatch(/receipt {4}\{.*"status":"committed".*"built":"a farm".*\}\n/);
    expect((await here("show", "lost")).exitCode).toBe(2);
  });

  it("names an operation that is not there", async () => {
    await filled();
    expect(await here("show", "nothing")).toEqual({
      exitCode: 1,
      out: "",
      errors: "toolkernel: The journal holds no operation nothing.\n",
    });
  });
});

describe("journal reconcile", () => {
  it("ACT-5: asks the handler of a module about everything that is uncertain", async () => {
    await filled();
    const handler = await handlerModule();
    const { exitCode, out } = await here("reconcile", "--handler", handler);
    expect([exitCode, out]).toEqual([2, "gone: still unknown\nlost: committed (recovered)\n"]);
    expect((await json("list")).lines).toMatchObject([{ intent: { operationId: "gone" } }]);
    expect((await json("show", "lost")).lines).toMatchObject([
      { state: "committed", receipt: { result: { built: "a farm" } } },
    ]);
    expect(await json("reconcile", "lost", "--handler", handler)).toMatchObject({
      exitCode: 0,
      lines: [{ kind: "reconciled", operationId: "lost", disposition: "replayed", receipt: { status: "committed" } }],
    });
    expect(await json("reconcile", "gone", "--handler", handler)).toEqual({
      exitCode: 2,
      lines: [{ kind: "reconciled", operationId: "gone", disposition: "unknown" }],
    });
  });

  it("says so when nothing is uncertain", async () => {
    await (await openSqliteJournal(path)).close();
    expect(await here("reconcile", "--handler", await handlerModule())).toEqual({
      exitCode: 0,
      out: "Nothing is uncertain.\n",
      errors: "",
    });
  });

  it.each([
    ["is not there", undefined, "cannot be loaded: "],
    ["throws", "throw new Error('no world');", "cannot be loaded: no world"],
    ["exports nothing", "", "does not export { handler } by default with a function recover"],
    ["cannot recover", "export default { handler: { execute() {} } };", "does not export { handler }"],
  ])("refuses a handler module that %s", async (_name, text, words) => {
    await filled();
    const module = join(folder, "bad.mjs");
    if (text !== undefined) await writeFile(module, text);
    const { exitCode, errors } = await here("reconcile", "--handler", module);
    expect([exitCode, errors]).toEqual([1, expect.stringContaining(words)]);
  });
});

describe("journal resolve", () => {
  it("ACT-5: closes an uncertain operation by a person's word, with the evidence", async () => {
    await filled();
    const args = ["--status", "failed", "--evidence", "I looked, and nothing stands there.", "--code", "absent"];
    const { exitCode, out } = await here("resolve", "lost", ...args);
    expect([exitCode, out]).toEqual([0, "lost: failed; the evidence is kept beside the receipt.\n"]);
    expect((await json("show", "lost")).lines).toMatchObject([
      {
        state: "failed",
        receipt: { code: "absent" },
        evidence: [{ kind: "resolution", content: "I looked, and nothing stands there." }],
      },
    ]);
    expect((await here("show", "lost")).out).toContain("a person's word  ");
  });

  it("takes a result and evidence as JSON", async () => {
    await filled();
    const result = ["--result", '{"built":"a mill"}'];
    const { lines } = await json("resolve", "lost", "--status", "committed", "--evidence", '{"by":"anna"}', ...result);
    expect(lines).toMatchObject([{ kind: "resolved", receipt: { status: "committed", result: { built: "a mill" } } }]);
    expect((await json("show", "lost")).lines).toMatchObject([{ evidence: [{ content: { by: "anna" } }] }]);
  });

  it.each([
    ["a result of what did not happen", ["lost", "--status", "failed", "--evidence", "x", "--result", "1"], /--result/],
    ["a reason of what happened", ["lost", "--status", "committed", "--evidence", "x", "--code", "c"], /--code/],
    ["an ended one otherwise", ["done", "--status", "failed", "--evidence", "x"], /already|immutable|ended/i],
    ["one that is not there", ["nothing", "--status", "failed", "--evidence", "x"], /no operation nothing/],
    ["without evidence", ["lost", "--status", "failed"], /--evidence/],
    ["without a status", ["lost", "--evidence", "x"], /--status/],
    ["by a status that ends nothing", ["lost", "--status", "uncertain", "--evidence", "x"], /Allowed choices/],
    ["with a result that is no JSON", ["lost", "--status", "committed", "--evidence", "x", "--result", "{"], /no JSON/],
  ])("refuses to close %s", async (_name, args, words) => {
    await filled();
    const { exitCode, errors } = await here("resolve", ...args);
    expect([exitCode, errors]).toEqual([1, expect.stringMatching(words)]);
    expect((await json("show", "lost")).lines).toMatchObject([{ state: "uncertain" }]);
  });
});

describe("journal abandon", () => {
  it("ACT-2: gives up what waits for its keys, and nothing else", async () => {
    const end = await waiting();
    expect(await here("abandon", "waiting")).toEqual({
      exitCode: 0,
      out: "waiting: abandoned; nothing was dispatched.\n",
      errors: "",
    });
    expect(await json("abandon", "holding")).toEqual({
      exitCode: 1,
      lines: [{ kind: "abandoned", operationId: "holding", isAbandoned: false }],
    });
    expect((await here("abandon", "holding")).out).toContain("holding is dispatched; only");
    await end();
  });
});

describe("journal prune", () => {
  it("ACT-10: forgets what ended before a time, by date or by age", async () => {
    await filled();
    expect((await here("prune", "--before", "1d")).out).toBe("0 operations pruned.\n");
    expect((await here("prune", "--before", "2000-01-01")).out).toBe("0 operations pruned.\n");
    expect(await json("prune", "--before", "2200-01-01")).toEqual({
      exitCode: 0,
      lines: [{ kind: "pruned", pruned: 1 }],
    });
    expect((await here("show", "done")).out).toContain(
      "state      committed, pruned\naction     build\narguments  null\nsession",
    );
    // Without its unit an age is no date: "45" would be the year 2045, before which everything has ended.
    for (const time of ["soon", "5y", "", "45", "90", "2026", "jan 5", "2026-02-31x"])
      expect((await here("prune", "--before", time)).exitCode).toBe(1);
  });
});

describe("journal copy", () => {
  it("ACT-10: moves a journal with its runs to PostgreSQL, once nothing is open", async () => {
    await filled();
    await keepRun();
    const to = ["--to", database.url, "--schema", "copied"];
    const refused = await run("copy", "--journal", path, "--to", database.url);
    expect(refused).toMatchObject({ exitCode: 1, errors: expect.stringContaining("holds operations that are open") });
    for (const id of ["lost", "gone"]) await here("resolve", id, "--status", "failed", "--evidence", "looked");
    // The schema is the target's.
    const { exitCode, out, errors } = await run("copy", "--journal", path, ...to);
    expect([exitCode, errors]).toEqual([0, ""]);
    expect(out).toBe(
      `Copied 3 operations and 1 run.\nThe file is ${path}-moved now, so that nobody goes on writing to it.\n`,
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
      [path, path],
      [database.url, path],
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

describe("the runbook", () => {
  const page = readFileSync("docs/runbook.md", "utf8");
  const commands = [...page.matchAll(/^ *toolkernel journal (.*)$/gm)].map(([, words]) => String(words));

  it("shows every command", () => {
    const names = new Set(commands.map((words) => words.split(" ")[0]));
    expect([...names].sort()).toEqual(["abandon", "copy", "list", "prune", "reconcile", "resolve", "show"]);
  });

  it.each(commands)("can be followed: toolkernel journal %s", async (words) => {
    await filled();
    const args = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? String(plain));
    const given = new Map([
      ["journal.db", path],
      ["OPERATION", "lost"],
      ["handler.js", await handlerModule()],
    ]);
    const { errors } = await run(...args.map((word) => given.get(word) ?? word));
    // Refused for what stands in the journal, if at all; never for what was asked.
    expect(errors).toMatch(/^(?:|toolkernel: The journal .* holds operations that are open.*\n)$/);
  });
});
