import { existsSync, linkSync, readdirSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";
import { moveSqliteStore } from "../../src/journal/sqlite/move-sqlite-store.ts";
import { intentOf } from "../actions/rig.ts";
import { dispatcherOn, filled, newPath, refusal } from "../support/sqlite-faults-scene.ts";

/** A second name for a journal, as an operator's link to a data directory is one. */
function linkTo(path: string): string {
  const link = `${dirname(path)}/link.db`;
  symlinkSync(path, link);
  return link;
}

describe("a SQLite journal under two names", () => {
  it("ACT-11: is whole under a link too, while what was written still lies in its log", async () => {
    const path = newPath();
    const journal = await openSqliteJournal(path);
    await dispatcherOn(journal).dispatch(intentOf("a"));
    expect(await refusal(linkTo(path))).toBe("opened");
    await journal.close();
  });

  it("ACT-4, ACT-5: whoever opens it by a link sees that its owner is alive, and leaves its action alone", async () => {
    const path = newPath();
    const journal = await openSqliteJournal(path);
    const handlers: (() => void)[] = [];
    const atWork = new Promise<void>((begun) => {
      const slow = new GameActionDispatcher({
        journal,
        handler: {
          execute: async (intent) => {
            begun();
            await new Promise<void>((letGo) => handlers.push(letGo));
            return GameActionReceipt.committed(intent, {});
          },
        },
      });
      void slow.dispatch(intentOf("a"));
    });
    await atWork;
    const other = await openSqliteJournal(linkTo(path));
    expect(await dispatcherOn(other).start()).toEqual({ uncertain: 0, abandoned: 0 });
    for (const letGo of handlers) letGo();
    expect((await dispatcherOn(other).dispatch(intentOf("a"))).disposition).toBe("replayed");
    await other.close();
    await journal.close();
    expect(readdirSync(dirname(path)).filter((name) => name.startsWith("link.db-"))).toEqual([]);
  });

  it("ACT-11: a journal that was moved by its link is refused under its own name", async () => {
    const path = newPath();
    await filled(path);
    const { movedTo } = await moveSqliteStore(linkTo(path), {}, async () => undefined);
    expect([movedTo, existsSync(path)]).toEqual([`${path}-moved`, false]);
    expect(await refusal(path)).toBe("JOURNAL_CORRUPT");
  });

  it("ACT-11: a file with a hard link is refused, since each name would have a log of its own", async () => {
    const path = newPath();
    await filled(path);
    linkSync(path, `${path}-hard`);
    expect(await refusal(path)).toBe("JOURNAL_UNSAFE");
    expect(await refusal(`${path}-hard`)).toBe("JOURNAL_UNSAFE");
  });
});
