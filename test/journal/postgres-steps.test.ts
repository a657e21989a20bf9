import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await makeDatabase();
  await (await openPostgresRunStore(database.url, { schema: "steps" })).close();
});
afterAll(() => database.drop());

async function newOwner(lease = "1 h"): Promise<string> {
  const { rows } = await database.query(
    "INSERT INTO steps.owners (lease_until) VALUES (clock_timestamp() + $1::interval) RETURNING owner",
    [lease],
  );
  return String(rows[0]?.owner);
}

async function take(owner: string, runId: string) {
  const { rows } = await database.query(
    "SELECT kind, run_fence::int AS fence FROM steps.take_run($1, 1000, $2, true)",
    [owner, runId],
  );
  return rows[0];
}

/** Appends one fact behind none, as a process does that has taken a run under a fence. */
async function append(owner: string, runId: string, fence: number) {
  const { rows } = await database.query(
    `SELECT kind FROM steps.append_facts($1::uuid, 1000, ARRAY[$2], ARRAY[$3]::bigint[], ARRAY[$1]::uuid[], ARRAY[0]::bigint[],
       ARRAY[NULL]::text[], ARRAY[NULL]::int[], ARRAY[1]::int[], ARRAY[1]::int[], ARRAY['{}'])`,
    [owner, runId, fence],
  );
  return rows[0]?.kind;
}

describe("the PostgreSQL run store's own steps", () => {
  it("RUN-6: who took a run again records under the new fence alone", async () => {
    const owner = await newOwner();
    expect([await take(owner, "again"), await take(owner, "again")]).toEqual([
      { kind: "taken", fence: 1 },
      { kind: "taken", fence: 2 },
    ]);
    expect([await append(owner, "again", 1), await append(owner, "again", 2)]).toEqual(["lost", "saved"]);
  });

  it("RUN-6: nobody records under another's fence, nor in a run that was given back", async () => {
    const [owner, other] = [await newOwner(), await newOwner()];
    await take(owner, "other's");
    expect(await append(other, "other's", 1)).toBe("lost");
    await database.query("UPDATE steps.runs SET owner = NULL WHERE run_id = 'other''s'");
    expect(await append(owner, "other's", 1)).toBe("lost");
  });

  it("C28, RUN-6: a run of a living owner is claimed, of one whose lease is over by the database's clock it is not", async () => {
    const [living, dead, next] = [await newOwner(), await newOwner(), await newOwner()];
    await take(living, "living");
    await take(dead, "dead");
    await database.query("UPDATE steps.owners SET lease_until = clock_timestamp() - interval '1 ms' WHERE owner = $1", [
      dead,
    ]);
    expect([await take(next, "living"), await take(next, "dead")]).toMatchObject([
      { kind: "claimed" },
      { kind: "taken", fence: 2 },
    ]);
  });
});
