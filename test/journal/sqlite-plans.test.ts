import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import { openSqliteJournal, openSqliteRunStore } from "../../src/journal/sqlite/index.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** Every statement that the stores prepare, with what SQLite says of how it goes about it. */
async function plans(): Promise<readonly { readonly sql: string; readonly plan: string }[]> {
  const path = `${temporaryDirectory()}/journal.db`;
  const heard = new Set<string>();
  class Heard extends DatabaseSync {
    override prepare(sql: string): ReturnType<InstanceType<typeof DatabaseSync>["prepare"]> {
      heard.add(sql);
      return super.prepare(sql);
    }
  }
  const journal = await openSqliteJournal(path, { driver: Heard as never });
  const store = await openSqliteRunStore(path, { driver: Heard as never });
  const database = new DatabaseSync(path);
  const found = [...heard]
    .filter((sql) => sql.includes("toolkernel_"))
    .map((sql) => {
      const values = Array.from(sql.matchAll(/\?/g), () => 1);
      const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { readonly detail: string }[];
      return { sql, plan: rows.map(({ detail }) => detail).join("; ") };
    });
  database.close();
  await store.close();
  await journal.close();
  return found;
}

/** What goes through a table from end to end, and why it may. */
const SCANS: Readonly<Record<string, RegExp>> = {
  "a table of one row": /toolkernel_journal/,
  "the last place, at the end of the table": /^SELECT coalesce\(max\(rowid\)/,
  "the index of what is open, which is small": /^SCAN toolkernel_entries USING INDEX toolkernel_entries_open/,
  "the owners of runs, when a file is moved": /^SELECT DISTINCT owner FROM toolkernel_runs/,
  "who stands in line, once a second": /^UPDATE toolkernel_waiters SET seen_at_ms/,
};

describe("the statements of a SQLite store", () => {
  it("find what they need by an index, however much has ended", async () => {
    const all = await plans();
    expect(all.length).toBeGreaterThan(25);
    // A search without a condition goes through it all as well.
    const scans = all.filter(({ plan }) => plan !== "" && !/^SEARCH [^;]*\(\w+[=<>]\?[^;]*$/.test(plan));
    const isExplained = ({ sql, plan }: (typeof scans)[number]): boolean =>
      Object.values(SCANS).some((each) => each.test(plan) || each.test(sql));
    expect(scans.filter((each) => !isExplained(each))).toEqual([]);
  });
});
