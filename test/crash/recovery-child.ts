/**
 * A process that opens a journal, looks after the dead, and asks the world about what is open: the subject of
 * the tests that kill whoever recovers. It dies at the statement of its store that it is told.
 */
import { DatabaseSync } from "@photostructure/sqlite";
import pg from "pg";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { openPostgresJournal, type PostgresPool } from "../../src/journal/postgres/index.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";
import type { StoreAddress } from "./store.ts";
import { World } from "./world.ts";
import { writeLine } from "./write-line.ts";

/** What a process is told to do. */
export interface RecoveryOrders {
  readonly store: StoreAddress;
  readonly worldPath: string;
  /** At which statement it dies, the first is 1: before it is sent if even, else when it is done; 0: at none. */
  readonly dieAt: number;
}

/** What it says in the end. */
export interface RecoverySaid {
  /** How many beginnings and ends of statements it could have died at. */
  readonly points?: number;
}

let points = 0;
let dieAt = 0;

/** One point to die at. */
function pass(): void {
  points += 1;
  if (points === dieAt) process.kill(process.pid, "SIGKILL");
}

function around<Answer>(statement: () => Answer): Answer {
  pass();
  const answer = statement();
  pass();
  return answer;
}

type Statement = ReturnType<InstanceType<typeof DatabaseSync>["prepare"]>;

/** Every statement of it is one to die at. */
class MortalDatabase extends DatabaseSync {
  override exec(sql: string): void {
    around(() => super.exec(sql));
  }

  override prepare(sql: string): Statement {
    return new Proxy(super.prepare(sql), {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        const call = value.bind(target) as (...given: unknown[]) => unknown;
        if (name !== "run" && name !== "get" && name !== "all") return call;
        return (...given: unknown[]) => around(() => call(...given));
      },
    });
  }
}

/** Every statement on it is one to die at. */
function mortalPool(url: string): PostgresPool {
  const pool = new pg.Pool({ connectionString: url });
  return {
    connect: async () => {
      const client = await pool.connect();
      return new Proxy(client, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name, target);
          if (typeof value !== "function") return value;
          if (name !== "query") return value.bind(target);
          return async (text: string, values?: unknown[]) => {
            pass();
            const result = await target.query(text, values);
            pass();
            return result;
          };
        },
      });
    },
  };
}

function open(store: StoreAddress): Promise<Journal> {
  if (store.kind === "sqlite") return openSqliteJournal(store.path, { driver: MortalDatabase as never });
  const { url, schema, leaseMs } = store;
  return openPostgresJournal(mortalPool(url), { schema, leaseMs, heartbeatMs: Math.floor(leaseMs / 4) });
}

async function work(orders: RecoveryOrders): Promise<void> {
  dieAt = orders.dieAt;
  const world = new World(orders.worldPath);
  const journal = await open(orders.store);
  const dispatcher = new GameActionDispatcher({
    journal,
    conflictWaitTimeoutMs: 50,
    handler: {
      execute: () => Promise.reject(new Error("never called")),
      recover: (intent) =>
        world.isDone(intent.operationId) ? GameActionReceipt.committed(intent, "found") : undefined,
    },
  });
  await dispatcher.start();
  const { entries } = await journal.listOpen({ limit: 100 });
  for (const { intent } of entries) await dispatcher.reconcile(intent.operationId);
  await journal.close();
  writeLine({ points });
  process.exit(0);
}

await work(JSON.parse(process.argv[2] ?? "") as RecoveryOrders); // written by the test
