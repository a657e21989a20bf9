import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { filled, handlerModule, journalPath, run } from "../support/journal-command-scene.ts";

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
      ["journal.db", journalPath()],
      ["OPERATION", "lost"],
      ["handler.js", await handlerModule()],
    ]);
    const { errors } = await run(...args.map((word) => given.get(word) ?? word));
    // Refused for what stands in the journal, if at all; never for what was asked.
    expect(errors).toMatch(/^(?:|toolkernel: The journal .* holds operations that are open.*\n)$/);
  });
});
