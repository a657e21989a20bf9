/**
 * A process that dispatches actions and records facts of a run, session after session on one file: the subject
 * of the tests of power cuts, which trace what it asks of the disk. Everything that it is told by the stores,
 * and every call of the handler, is a line that it writes, so that the trace has them all in one order.
 */
import { DatabaseSync } from "@photostructure/sqlite";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { checkIntent } from "../../src/actions/intent.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { makeDurable } from "../../src/journal/sqlite/connection.ts";
import type { SqliteClass } from "../../src/journal/sqlite/driver.ts";
import { EntryTable } from "../../src/journal/sqlite/entry-table.ts";
import { openSqliteJournal, openSqliteRunStore } from "../../src/journal/sqlite/index.ts";
import { MIGRATIONS, migrate } from "../../src/journal/sqlite/migrations.ts";
import { moveSqliteStore } from "../../src/journal/sqlite/move-sqlite-store.ts";
import { type PowerOrders, type PowerSaid, placeOf, powerIntent } from "./power-lines.ts";
import { writeLine } from "./write-line.ts";

function say(line: PowerSaid): void {
  writeLine(line);
}

/** The binding, with other settings than the journal gives it. */
function bindingOf({ checkpointEvery, isWeakened }: PowerOrders): SqliteClass {
  class Tuned extends DatabaseSync {
    override exec(sql: string): void {
      const isCheckpoint = checkpointEvery !== undefined && sql.startsWith("PRAGMA wal_autocheckpoint");
      super.exec(isCheckpoint ? `PRAGMA wal_autocheckpoint = ${checkpointEvery}` : sql);
      // After the settings were read back, the first transaction of the journal begins.
      if (isWeakened === true && sql.startsWith("BEGIN IMMEDIATE; UPDATE")) super.exec("PRAGMA synchronous = NORMAL");
    }
  }
  return Tuned as unknown as SqliteClass; // the binding's statements say more than a store asks of them
}

async function act(journal: Journal, session: number, actions: number): Promise<void> {
  const dispatcher = new GameActionDispatcher({
    journal,
    conflictWaitTimeoutMs: 20,
    handler: {
      execute: (intent, { fence }) => {
        say({ begun: intent.operationId, key: intent.conflictKeys[0] ?? "", fence });
        const isLeft = placeOf(intent.operationId) % 6 === 5;
        return isLeft
          ? new Promise<never>(() => undefined)
          : Promise.resolve(GameActionReceipt.committed(intent, { fence, seen: intent.operationId }));
      },
    },
  });
  const waiting = Array.from({ length: actions }, (_, place) => `op-${session}-${place}`);
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const dispatched = dispatcher.dispatch(powerIntent(next)).then(({ receipt }) => {
        if (receipt !== undefined) say({ receipt });
      });
      if (placeOf(next) % 6 !== 5) await dispatched;
    }
  };
  await Promise.all([worker(), worker(), worker()]);
}

/** Makes a file as the oldest version of the journal did, with a few entries that have ended. */
function beginOld(path: string, databaseClass: SqliteClass): void {
  const database = new databaseClass(path);
  makeDurable(database, path);
  migrate({ database, path, migrations: MIGRATIONS.slice(0, 1) });
  const entries = new EntryTable(database);
  for (let place = 100; place < 140; place += 1) {
    const intent = powerIntent(`op-old-${place}`);
    const { intentHash, intentText, scopes } = checkIntent(intent);
    const { operationId } = intent;
    const receipt = GameActionReceipt.committed(intent, "old");
    const begun = {
      ...({
        operationId,
        state: "dispatched",
        fence: 1,
        owner: "old",
        claimId: "old",
        intentHash,
        intentText,
      } as const),
      ...{ scopes: scopes.map(({ id }) => id), receiptText: null, heldUntilMs: null, isForgotten: false },
      ...{ createdAtMs: 1, updatedAtMs: 1 },
    };
    entries.insert(begun);
    say({ begun: operationId, key: "", fence: 1 });
    entries.update(begun, { ...begun, state: "committed", receiptText: JSON.stringify(receipt) });
    say({ receipt });
  }
  database.close();
}

async function work(orders: PowerOrders): Promise<void> {
  const driver = bindingOf(orders);
  if (orders.beginsOld === true) beginOld(orders.path, driver);
  for (let session = 0; session < orders.sessions; session += 1) {
    const journal = await openSqliteJournal(orders.path, { driver });
    const store = await openSqliteRunStore(orders.path, { driver });
    const run = `run-${session}`;
    const claim = await store.claim(run, { create: true });
    if (session === 2) {
      say({ prune: "begun" });
      await journal.prune({ finalBefore: Number.MAX_SAFE_INTEGER });
      say({ prune: "done" });
    }
    const acting = act(journal, session, orders.actions);
    for (let facts = 1; facts <= 6; facts += 1) {
      await claim.append([{ kind: "dispatched", turn: 1, index: facts, atMs: 0 }]);
      say({ run, facts });
    }
    await acting;
    await claim.release();
    await store.close();
    await journal.close();
  }
  if (orders.moves === true) {
    await moveSqliteStore(orders.path, { driver }, async () => undefined);
    say({ moved: true });
  }
  process.exit(0);
}

await work(JSON.parse(process.argv[2] ?? "") as PowerOrders); // written by the test
