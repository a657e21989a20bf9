import { writeFile } from "node:fs/promises";
import { openSqliteJournal } from "toolkernel/sqlite";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runCommand } from "../support/command-scene.ts";
import { fileHere, filled, handlerModule, here, journalPath, json, waiting } from "../support/journal-command-scene.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
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
    await (await openSqliteJournal(journalPath())).close();
    expect(await here("reconcile", "--handler", await handlerModule())).toEqual({
      exitCode: 0,
      out: "Nothing is uncertain.\n",
      errors: "",
    });
  });

  it.each([[["lost"]], [[]]])("says what %j waits for, and asks no more once it is interrupted", async (ids) => {
    await filled();
    const module = fileHere("silent.mjs");
    await writeFile(module, "export default { handler: { recover: () => new Promise(globalThis.toolkernelAsked) } };");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const interrupt = new AbortController();
    vi.stubGlobal("toolkernelAsked", () => {
      vi.advanceTimersByTime(1_000);
      interrupt.abort();
    });
    const { exitCode, out, errors } = await runCommand(
      ["journal", "reconcile", ...ids, "--handler", module, "--journal", journalPath()],
      {
        interrupt,
      },
    );
    const [first] = [...ids, "gone"];
    expect(errors).toBe(
      `toolkernel: Waiting for the handler's answer about ${first}, at most 30 seconds; Ctrl-C stops it.\n`,
    );
    expect([exitCode, out]).toEqual([2, `${first}: still unknown\nStopped; what was not answered stays uncertain.\n`]);
  });

  it.each([
    ["is not there", undefined, "cannot be loaded: "],
    ["throws", "throw new Error('no world');", "cannot be loaded: no world"],
    ["exports nothing", "", "whose default export is not { handler } with a recover function"],
    ["cannot recover", "export default { handler: { execute() {} } };", "whose default export is not { handler }"],
  ])("refuses a handler module that %s", async (_name, text, words) => {
    await filled();
    const module = fileHere("bad.mjs");
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
    [
      "with a result that is not JSON",
      ["lost", "--status", "committed", "--evidence", "x", "--result", "{"],
      /not valid JSON/,
    ],
  ])("refuses to close %s", async (_name, args, words) => {
    await filled();
    const { exitCode, errors } = await here("resolve", ...args);
    expect([exitCode, errors]).toEqual([1, expect.stringMatching(words)]);
    expect(errors).not.toContain("unexpected");
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
