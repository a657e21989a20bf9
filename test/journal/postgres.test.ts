import pg from "pg";
import { describe, expect, it } from "vitest";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import { testJournal } from "../../src/testing/journal-suite.ts";
import { setPostgresScene } from "../support/postgres-scene.ts";
import { chartEdges, JOURNAL_STATES } from "./chart-edges.ts";

const { database, newSchema } = setPostgresScene();

describe("the PostgreSQL journal keeps to the protocol", () => {
  for (const { name, run } of testJournal(() => openPostgresJournal(database.url))) it(name, run);
});

describe("the PostgreSQL schema itself", () => {
  it("ACT-2: lets an entry go along the edges of the chart, and along no others", async () => {
    const schema = newSchema();
    await (await openPostgresJournal(database.url, { schema })).close();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`SET search_path TO ${schema}`);
    const isDone = async (sql: string, ...values: unknown[]): Promise<boolean> => {
      try {
        await client.query(sql, values);
        return true;
      } catch (error) {
        expect((error as { readonly code: string }).code).toBe("TK002");
        return false;
      }
    };
    const insert = (id: string, state: string) =>
      isDone(
        `INSERT INTO entries (operation_id, state, fence, owner, claim_id, intent_hash, intent, intent_sum, scopes, created_at_ms, updated_at_ms)
         VALUES ($1, $2, 1, gen_random_uuid(), 'c', 'h', '{}', '', '{}', 1, 1)`,
        id,
        state,
      );
    const step = (id: string, state: string) =>
      isDone("UPDATE entries SET state = $2 WHERE operation_id = $1", id, state);
    const ways: Readonly<Record<string, readonly string[]>> = {
      prepared: ["prepared"],
      abandoned: ["prepared", "abandoned"],
      dispatched: ["dispatched"],
      uncertain: ["dispatched", "uncertain"],
      committed: ["dispatched", "committed"],
      rejected: ["dispatched", "rejected"],
      failed: ["dispatched", "failed"],
    };
    const edges: string[] = [];
    for (const state of JOURNAL_STATES) if (await insert(`new-${state}`, state)) edges.push(`new -> ${state}`);
    for (const before of JOURNAL_STATES) {
      for (const after of JOURNAL_STATES.filter((state) => state !== before)) {
        const id = `${before}-${after}`;
        const [first = "", ...rest] = ways[before] ?? [];
        await insert(id, first);
        for (const state of rest) await step(id, state);
        if (await step(id, after)) edges.push(`${before} -> ${after}`);
      }
    }
    expect(edges.sort()).toEqual(chartEdges().sort());
    const forbidden = [
      "DELETE FROM entries",
      "UPDATE entries SET receipt = '{}' WHERE state = 'committed'",
      "UPDATE entries SET owner = gen_random_uuid() WHERE state = 'committed'",
      "UPDATE entries SET operation_id = 'x' WHERE operation_id = 'prepared-failed'",
      "UPDATE entries SET intent_hash = 'x'",
      "UPDATE entries SET intent = 'x'",
      "UPDATE entries SET fence = 0",
    ];
    for (const sql of forbidden) expect([sql, await isDone(sql)]).toEqual([sql, false]);
    await client.end();
  });
});
