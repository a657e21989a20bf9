import { GameActionDispatcher } from "toolkernel";
import { openSqliteJournal } from "toolkernel/sqlite";
import { describe, expect, it } from "vitest";
import { intentOf } from "../actions/rig.ts";
import { filled, here, journalPath, json, keepRun, waiting } from "../support/journal-command-scene.ts";

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
    const journal = await openSqliteJournal(journalPath());
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
