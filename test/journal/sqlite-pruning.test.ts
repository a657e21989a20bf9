import { existsSync, readFileSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/domain/journal.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";
import { intentOf } from "../actions/rig.ts";
import { dispatcherOn } from "../support/sqlite-faults-scene.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const COUNTS = "/proc/self/io";

/** What this process has read of files, in bytes. */
function bytesRead(): number {
  return Number(/rchar: (\d+)/.exec(readFileSync(COUNTS, "utf8"))?.[1]);
}

/** A binding that keeps hardly a page in memory, so that each look at one is read from the file. */
class Forgetful extends DatabaseSync {
  override exec(sql: string): void {
    super.exec(sql);
    if (sql.startsWith("PRAGMA mmap_size")) super.exec("PRAGMA cache_size = 10");
  }
}

/** A journal with so many actions that have ended. */
async function journalOf(actions: number): Promise<Journal> {
  const journal = await openSqliteJournal(`${temporaryDirectory()}/journal.db`, { driver: Forgetful as never });
  const dispatcher = dispatcherOn(journal);
  await Promise.all(Array.from({ length: actions }, (_, place) => dispatcher.dispatch(intentOf(`op-${place}`))));
  return journal;
}

/** What it reads to make them all forget, for each action. */
async function bytesToForget(actions: number): Promise<number> {
  const journal = await journalOf(actions);
  const before = bytesRead();
  expect(await journal.prune({ finalBefore: Number.MAX_SAFE_INTEGER })).toBe(actions);
  const read = bytesRead() - before;
  await journal.close();
  return read / actions;
}

describe("making a SQLite journal forget", () => {
  // Each transaction began again with the first entry, and went by all that had forgotten.
  it.skipIf(!existsSync(COUNTS))(
    "ACT-10: goes once through the entries, so that an entry costs as much in a long journal",
    async () => {
      const [few, many] = [await bytesToForget(800), await bytesToForget(6_400)];
      expect(many).toBeLessThan(2 * few);
    },
  );

  it("ACT-10: forgets what is old between what is open and what is new, however far apart", async () => {
    const journal = await journalOf(5_000);
    expect(await journal.prune({ finalBefore: Number.MIN_SAFE_INTEGER })).toBe(0);
    const claim = { claimId: "claim", intentHash: "h", intentText: "{}", scopes: [] };
    await journal.protocol.claim({ ...claim, operationId: "open" });
    await dispatcherOn(journal).dispatch(intentOf("last"));
    expect(await journal.prune({ finalBefore: Number.MAX_SAFE_INTEGER })).toBe(5_001);
    expect(await journal.prune({ finalBefore: Number.MAX_SAFE_INTEGER })).toBe(0);
    expect((await journal.find("last"))?.forgotten).toBe(true);
    expect((await journal.find("op-4999"))?.forgotten).toBe(true);
    expect(await journal.listOpen({ limit: 10 })).toMatchObject({ entries: [{ state: "dispatched" }] });
    await journal.close();
  });
});
