import pg from "pg";
import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/domain/journal.ts";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import { MIGRATIONS } from "../../src/journal/postgres/migrations.ts";
import { intentOf } from "../actions/rig.ts";
import { dispatcherOn, refusal, setPostgresScene } from "../support/postgres-scene.ts";

const { database, newSchema } = setPostgresScene();

describe("a PostgreSQL journal in trouble", () => {
  it("ACT-11: connections that are killed between steps are replaced", async () => {
    const schema = newSchema();
    const journal = await openPostgresJournal(database.url, { schema });
    const dispatcher = dispatcherOn(journal);
    for (let round = 0; round < 5; round += 1) {
      await dispatcher.dispatch(intentOf(`op-${round}`, { conflictKeys: ["k"] }));
      await database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    }
    expect((await dispatcher.dispatch(intentOf("op-0", { conflictKeys: ["k"] }))).disposition).toBe("replayed");
    await journal.close();
  });

  it("ACT-11: a step that the database refuses takes none of those beside it down", async () => {
    const schema = newSchema();
    const journal = await openPostgresJournal(database.url, { schema });
    const claim = (operationId: string) => ({
      operationId,
      claimId: operationId,
      intentHash: "h",
      intentText: "{}",
      scopes: [],
    });
    const settled = await Promise.allSettled(["a", "b\u0000", "c"].map((id) => journal.protocol.claim(claim(id))));
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    await journal.close();
  });

  it("ACT-1: a commit is on disk whatever the session says", async () => {
    const schema = newSchema();
    const pool = new pg.Pool({ connectionString: database.url, max: 3, options: "-c synchronous_commit=off" });
    const journal = await openPostgresJournal(pool, { schema });
    await dispatcherOn(journal).dispatch(intentOf("a"));
    const client = await pool.connect();
    await client.query("BEGIN");
    await client.query(
      `SELECT * FROM ${schema}.take_steps(NULL, 1000, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`,
    );
    expect((await client.query("SHOW synchronous_commit")).rows[0]).toEqual({ synchronous_commit: "on" });
    await client.query("ROLLBACK");
    client.release();
    await journal.close();
    // The host's pool stays open.
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it("ACT-11: a newer schema is refused by both numbers and left untouched", async () => {
    const schema = newSchema();
    await (await openPostgresJournal(database.url, { schema })).close();
    await database.query(`UPDATE ${schema}.schema_version SET version = 99`);
    await expect(openPostgresJournal(database.url, { schema })).rejects.toMatchObject({
      code: "JOURNAL_VERSION",
      message: expect.stringMatching(new RegExp(`version 99; .* up to ${MIGRATIONS.length}`)),
    });
    expect((await database.query(`SELECT version FROM ${schema}.schema_version`)).rows).toEqual([{ version: 99 }]);
  });

  it("ACT-11: many who open a new schema at once make it once", async () => {
    const schema = newSchema();
    const journals = await Promise.all(Array.from({ length: 6 }, () => openPostgresJournal(database.url, { schema })));
    await dispatcherOn(journals[0] as Journal).dispatch(intentOf("a"));
    expect(await Promise.all(journals.map(async (journal) => (await journal.find("a"))?.state))).toEqual(
      Array(6).fill("committed"),
    );
    for (const journal of journals) await journal.close();
  });

  it("ACT-11: a table that is gone is an error, and nothing is dispatched", async () => {
    const schema = newSchema();
    const journal = await openPostgresJournal(database.url, { schema });
    await database.query(`DROP TABLE ${schema}.scopes`);
    await expect(dispatcherOn(journal).dispatch(intentOf("a", { conflictKeys: ["k"] }))).rejects.toMatchObject({
      code: "JOURNAL_CORRUPT",
    });
    expect(await journal.find("a")).toBeUndefined();
    await journal.close();
  });

  it("ACT-11: a record that was changed behind the journal's back is named and refused", async () => {
    const schema = newSchema();
    const journal = await openPostgresJournal(database.url, { schema });
    for (const id of ["a", "b"]) await dispatcherOn(journal).dispatch(intentOf(id));
    await database.query(`ALTER TABLE ${schema}.entries DISABLE TRIGGER ALL`);
    await database.query(
      `UPDATE ${schema}.entries SET receipt = replace(receipt, 'done', 'dome') WHERE operation_id = 'a'`,
    );
    await expect(journal.find("a")).rejects.toMatchObject({ code: "JOURNAL_CORRUPT", subject: "operation a" });
    await expect(dispatcherOn(journal).dispatch(intentOf("a"))).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
    expect((await journal.find("b"))?.state).toBe("committed");
    await journal.close();
  });

  it("ACT-11: a database that was restored or failed over is refused until that is accepted", async () => {
    const schema = newSchema();
    await (await openPostgresJournal(database.url, { schema })).close();
    await database.query(`UPDATE ${schema}.journal SET timeline = timeline + 1`);
    expect(await refusal(openPostgresJournal(database.url, { schema }))).toBe("JOURNAL_UNSAFE");
    await database.query(`UPDATE ${schema}.journal SET system_identifier = NULL`);
    expect(await refusal(openPostgresJournal(database.url, { schema }))).toBe("opened");
    expect(await refusal(openPostgresJournal(database.url, { schema }))).toBe("opened");
  });

  it("ACT-11: a statement that the server cuts off is an error, and can be taken again", async () => {
    const schema = newSchema();
    const journal = await openPostgresJournal(database.url, { schema });
    const blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    await dispatcherOn(journal).dispatch(intentOf("a", { conflictKeys: ["k"] }));
    await blocker.query("BEGIN");
    await blocker.query(`SELECT * FROM ${schema}.scopes FOR UPDATE`);
    const dispatching = dispatcherOn(journal).dispatch(intentOf("b", { conflictKeys: ["k"] }));
    const settled = dispatching.then(
      () => "done",
      (error: { readonly code: string }) => error.code,
    );
    await expect
      .poll(
        async () =>
          (
            await database.query(
              "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
            )
          ).rows.length,
      )
      .toBe(1);
    expect(await settled).toBe("JOURNAL_UNAVAILABLE");
    await blocker.query("ROLLBACK");
    await blocker.end();
    expect((await dispatcherOn(journal).dispatch(intentOf("b", { conflictKeys: ["k"] }))).disposition).toBe("executed");
    await journal.close();
  });

  it.each([
    ["nothing to connect to", "postgres://postgres@127.0.0.1:1/postgres", {}, "JOURNAL_UNAVAILABLE"],
    ["no pool and no options", 5, {}, "INVALID_OPTIONS"],
    ["a schema of a wrong name", "postgres://x", { schema: "a; DROP" }, "INVALID_OPTIONS"],
    ["an option that is none", "postgres://x", { shema: "mine" } as object, "INVALID_OPTIONS"],
    ["a wrong lease", "postgres://x", { leaseMs: -1 }, "INVALID_OPTIONS"],
  ])("ACT-11: %s is refused by name", async (_name, given, options, code) => {
    expect(await refusal(openPostgresJournal(given as never, options))).toBe(code);
  });
});
