import { closeSync, existsSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoadedConversation } from "../../src/cli/conversation-file.ts";
import { beginRecording } from "../../src/cli/record-play.ts";
import { openWorld } from "../../src/cli/world.ts";
import { temporaryDirectory } from "../journal/temporary-directory.ts";

/** A conversation in a world that is written as a module. */
function worldOf(module: string): { readonly loaded: LoadedConversation; readonly journal: string } {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "world.mjs"), module);
  const input = { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "main", tick: 1 } };
  const conversation = { turns: [], world: { module: "world.mjs", input } };
  const loaded = { path: join(directory, "conversation.json"), directory, conversation };
  return { loaded: loaded as unknown as LoadedConversation, journal: join(directory, "journal.db") };
}

/** How often SQLite files are open in this process, as all copies of the library count them. */
function openFiles(): number {
  const shared = globalThis as unknown as Record<symbol, Map<string, { readonly uses: number }> | undefined>;
  const files = shared[Symbol.for("toolkernel.sqlite.openFiles")] ?? new Map();
  return [...files.values()].reduce((sum, { uses }) => sum + uses, 0);
}

/** The descriptor that the next file to be opened gets. */
function nextFile(path: string): number {
  const file = openSync(path, "w");
  closeSync(file);
  return file;
}

const ACTION = { name: "act", description: "Acts.", inputSchema: { type: "object" } };

describe("what a play opens", () => {
  it("is a world, with its journal and its run store, until it is closed", async () => {
    const actions = JSON.stringify([ACTION]);
    const { loaded, journal } = worldOf(`export default () => ({ handler: { execute() {} }, actions: ${actions} });`);
    const world = await openWorld(loaded, journal);
    expect([world.tools.map(({ name }) => name), openFiles()]).toEqual([["act"], 2]);
    await world.close();
    expect(openFiles()).toBe(0);
  });

  it.each([
    ["an action that cannot be one", "{ execute() {} }", [{ ...ACTION, projector: 1 }]],
    ["a handler that cannot be one", "{ execute() {}, recover: 1 }", []],
  ])("is closed again where its world has %s", async (_name, handler, actions) => {
    const { loaded, journal } = worldOf(
      `export default () => ({ handler: ${handler}, actions: ${JSON.stringify(actions)} });`,
    );
    await expect(openWorld(loaded, journal)).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
    expect([existsSync(journal), openFiles()]).toEqual([true, 0]);
  });

  it("is closed again where the report of a recording cannot be written", () => {
    const directory = temporaryDirectory();
    const next = nextFile(join(directory, "any"));
    const flags = { record: join(directory, "a.jsonl"), report: join(directory, "none", "a.html"), content: false };
    expect(() => beginRecording(flags)).toThrow("--report");
    expect(nextFile(join(directory, "any"))).toBe(next);
  });
});
