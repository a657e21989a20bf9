import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresJournal, openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { intentOf } from "../actions/rig.ts";
import { dispatcherOn, refusal, setPostgresScene } from "../support/postgres-scene.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";

const { database, newSchema } = setPostgresScene();

describe("a PostgreSQL server that is set to what can lose a commit", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  /** Sets it for the whole server, and answers when the server goes by it. */
  const set = async (name: string, value: string): Promise<void> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`ALTER SYSTEM SET ${name} = ${value}`);
    await client.query("SELECT pg_reload_conf()");
    await expect.poll(async () => (await client.query(`SHOW ${name}`)).rows[0]?.[name]).toBe(value);
    await client.end();
  };

  it.each(["fsync", "full_page_writes"])("ACT-11: %s off is refused by name, at opening and at work", async (name) => {
    const schema = newSchema();
    const journal = await openPostgresJournal(server.url, { schema });
    const store = await openPostgresRunStore(server.url, { schema });
    const claim = await store.claim("run", { create: true });
    await claim.append([fact(1)]);
    await dispatcherOn(journal).dispatch(intentOf("before"));
    await set(name, "off");
    const unsafe = { code: "JOURNAL_UNSAFE", message: expect.stringContaining(name) };
    await expect(openPostgresJournal(server.url, { schema })).rejects.toMatchObject(unsafe);
    await expect(openPostgresRunStore(server.url, { schema })).rejects.toMatchObject(unsafe);
    // A connection goes by what the server is set to from its next statement on.
    const refused = async () =>
      dispatcherOn(journal)
        .dispatch(intentOf(`after ${name}`))
        .then(
          () => "dispatched",
          (error: { readonly code: string }) => error.code,
        );
    expect(await refused()).toBe("JOURNAL_UNSAFE");
    expect(await journal.find(`after ${name}`)).toBeUndefined();
    await expect(claim.append([fact(2)])).rejects.toMatchObject({ code: "JOURNAL_UNSAFE" });
    await set(name, "on");
    expect(await refused()).toBe("dispatched");
    await claim.append([fact(2)]);
    await claim.release();
    expect((await store.claim("run", { create: false })).facts).toEqual(factsUpTo(2));
    await journal.close();
    await store.close();
  });
});

describe("a PostgreSQL database", () => {
  it("ACT-11: that does not keep its texts as UTF8 is refused by name", async () => {
    const name = `toolkernel_ascii_${process.pid}`;
    await database.query(`CREATE DATABASE ${name} ENCODING 'SQL_ASCII' TEMPLATE template0`);
    const url = Object.assign(new URL(database.url), { pathname: `/${name}` }).toString();
    await expect(openPostgresJournal(url)).rejects.toMatchObject({
      code: "JOURNAL_UNSAFE",
      message: expect.stringContaining("UTF8"),
    });
    await database.query(`DROP DATABASE ${name} WITH (FORCE)`);
  });

  it("ACT-11: of another server, restored while a process was away for longer than its lease, is refused by it", async () => {
    const schema = newSchema();
    const journal = await openPostgresJournal(database.url, { schema });
    await dispatcherOn(journal).dispatch(intentOf("a"));
    await database.query(`UPDATE ${schema}.journal SET system_identifier = '1'`);
    await database.query(`UPDATE ${schema}.owners SET lease_until = clock_timestamp()`);
    await expect(dispatcherOn(journal).dispatch(intentOf("b"))).rejects.toMatchObject({ code: "JOURNAL_UNSAFE" });
    expect(await journal.find("b")).toBeUndefined();
    expect(await refusal(openPostgresJournal(database.url, { schema }))).toBe("JOURNAL_UNSAFE");
    await journal.close();
  });
});
