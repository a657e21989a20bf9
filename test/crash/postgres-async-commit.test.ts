import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GameActionReceipt, uncertainReceipt } from "../../src/actions/receipt.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { openPostgresJournal, openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { intentOf } from "../actions/rig.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";

/** It acknowledges at once, and writes down ten seconds later: what is killed in between is lost. */
const ACKNOWLEDGES_EARLY = { synchronous_commit: "off", wal_writer_delay: "10s" };

describe("a server that is set to acknowledge before it writes down, and is killed", () => {
  let server: PostgresServer;
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgres({ settings: ACKNOWLEDGES_EARLY });
  });
  afterAll(() => server.stop());

  const query = async (sql: string): Promise<readonly unknown[]> => {
    const client = new pg.Client({ connectionString: server.url });
    client.on("error", () => undefined);
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return rows;
  };
  const receipt = (result: number) => GameActionReceipt.committed(intentOf("op"), result);
  /** Opens a journal, takes steps of which the last is what is asked about, kills the server, and looks. */
  const afterKill = async <Found>(
    steps: (journal: Journal) => Promise<unknown>,
    look: (journal: Journal) => Promise<Found>,
  ): Promise<Found> => {
    schemas += 1;
    const journal = await openPostgresJournal(server.url, { schema: `async_${schemas}` });
    const intentText = JSON.stringify(intentOf("op"));
    const claim = { operationId: "op", claimId: "c", intentHash: "h", intentText, scopes: [{ id: "scope", key: "k" }] };
    expect(await journal.protocol.claim(claim)).toEqual({ kind: "claimed", fence: 1 });
    await steps(journal);
    await server.restart();
    const found = await look(journal);
    await journal.close();
    return found;
  };
  const stateOf = async (journal: Journal) => (await journal.find("op"))?.state;
  const doubt = ({ protocol }: Journal) =>
    protocol.doubt({ operationId: "op", fence: 1, receipt: uncertainReceipt(intentOf("op"), "handler_threw") });
  const ask = ({ protocol }: Journal) => protocol.takeOver({ operationId: "op", by: "person", holdMs: 1 });

  it("loses what others write, which shows that these tests can see a loss", async () => {
    await query("CREATE TABLE others (n integer)");
    await query("CHECKPOINT");
    await query("INSERT INTO others VALUES (1)");
    await server.restart();
    expect(await query("SELECT n FROM others")).toEqual([]);
  });

  it("ACT-1: keeps a claim", async () => {
    expect(await afterKill(async () => undefined, stateOf)).toBe("dispatched");
  });

  it("ACT-1, ACT-6: keeps a receipt", async () => {
    const finish = ({ protocol }: Journal) => protocol.finish({ operationId: "op", fence: 1, receipt: receipt(1) });
    expect(await afterKill(finish, (journal) => journal.find("op"))).toMatchObject({ receipt: { result: 1 } });
  });

  it("ACT-5: keeps a doubt, and the fence of whoever asks the world", async () => {
    expect(await afterKill(doubt, stateOf)).toBe("uncertain");
    const asked = async (journal: Journal) => {
      await doubt(journal);
      expect(await ask(journal)).toMatchObject({ kind: "taken" });
    };
    expect(await afterKill(asked, (journal) => journal.find("op"))).toMatchObject({ fence: 2 });
  });

  it("ACT-2: keeps a late receipt as evidence", async () => {
    const overtaken = async (journal: Journal) => {
      await doubt(journal);
      await ask(journal);
      await journal.protocol.finish({ operationId: "op", fence: 2, receipt: receipt(2) });
      const late = await journal.protocol.finish({ operationId: "op", fence: 1, receipt: receipt(1) });
      expect(late.kind).toBe("overtaken");
    };
    const evidence = await afterKill(overtaken, ({ protocol }) => protocol.listEvidence("op"));
    expect(evidence).toMatchObject([{ kind: "lateReceipt", content: { result: 1 } }]);
  });

  it("ACT-3: keeps the end of an attempt that did not reach its handler", async () => {
    const failed = GameActionReceipt.failed(intentOf("op"), "not_dispatched", "Not dispatched.");
    const withdraw = ({ protocol }: Journal) => protocol.withdraw({ operationId: "op", claimId: "c", receipt: failed });
    expect(await afterKill(withdraw, stateOf)).toBe("failed");
  });

  it("RUN-6: keeps what a run records", async () => {
    const store = await openPostgresRunStore(server.url, { schema: "runs" });
    const claim = await store.claim("run", { create: true });
    for (let place = 1; place <= 2; place += 1) {
      await claim.append([fact(place)]);
      await server.restart();
    }
    await claim.append([fact(3)]);
    await claim.release();
    expect((await store.claim("run", { create: false })).facts).toEqual(factsUpTo(3));
    await store.close();
  });
});
