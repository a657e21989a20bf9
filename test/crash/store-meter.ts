/** What a store costs, counted: statements and pages, never time. */
import { readFileSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import pg from "pg";
import type { Journal } from "../../src/domain/journal.ts";
import type { SqliteDatabase, SqliteStatement } from "../../src/journal/sqlite/driver.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";
import { openStore, type StoreAddress } from "./store.ts";

/** Counts since a store was made. */
export interface Counts {
  /** Of a SQLite file: statements of entries, scopes, waiters and evidence. Zero on PostgreSQL. */
  readonly statements: number;
  /** Pages looked at: of a SQLite file those that it did not have in memory, of PostgreSQL all. */
  readonly pages: number;
  /** Rows of entries, scopes and evidence that were read by going through the table. Zero on SQLite. */
  readonly scanned: number;
  /** Transactions that were committed. */
  readonly transactions: number;
  /** Most entries that one transaction has changed since this was last asked. Zero on PostgreSQL. */
  readonly mostChanged: number;
}

/** Opens one store, again and again, and counts what it does; counts are whole while it is closed. */
export interface Meter {
  open(): Promise<Journal>;
  read(): Promise<Counts>;
  close(): Promise<void>;
}

/** Makes the meter of a store. */
export async function makeMeter(store: StoreAddress): Promise<Meter> {
  return store.kind === "sqlite" ? sqliteMeter(store.path) : postgresMeter(store);
}

const PAGE = 4_096;

function sqliteMeter(path: string): Meter {
  const counts = { statements: 0, transactions: 0, changed: 0, mostChanged: 0 };
  class Counted implements SqliteDatabase {
    readonly #database: SqliteDatabase;

    constructor(file: string) {
      this.#database = new DatabaseSync(file) as unknown as SqliteDatabase; // says more than a store asks of it
    }

    close(): void {
      this.#database.close();
    }

    exec(sql: string): void {
      this.#database.exec(sql);
      if (sql === "BEGIN IMMEDIATE") counts.changed = 0;
      if (sql !== "COMMIT") return;
      counts.transactions += 1;
      counts.mostChanged = Math.max(counts.mostChanged, counts.changed);
    }

    prepare(sql: string): SqliteStatement {
      const statement = this.#database.prepare(sql);
      const isChange = sql.startsWith("UPDATE toolkernel_entries");
      if (!/toolkernel_(entries|scopes|waiters|evidence)/.test(sql)) return statement;
      const count = <Answer>(answer: Answer): Answer => {
        counts.statements += 1;
        if (isChange) counts.changed += 1;
        return answer;
      };
      return {
        run: (...values) => count(statement.run(...values)),
        get: (...values) => count(statement.get(...values)),
        all: (...values) => count(statement.all(...values)),
      };
    }
  }
  return {
    open: () => openSqliteJournal(path, { driver: Counted }),
    read: async () => {
      const { statements, transactions, mostChanged } = counts;
      counts.mostChanged = 0;
      return { statements, transactions, mostChanged, pages: bytesRead() / PAGE, scanned: 0 };
    },
    close: async () => undefined,
  };
}

/** What this process has read from files, where the system says so. */
function bytesRead(): number {
  try {
    return Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function postgresMeter(store: Extract<StoreAddress, { readonly kind: "postgres" }>): Promise<Meter> {
  const client = new pg.Client({ connectionString: store.url });
  await client.connect();
  const ask = async (sql: string): Promise<Readonly<Record<string, unknown>>> => {
    const { rows } = await client.query(sql);
    return rows[0] as Readonly<Record<string, unknown>>; // one row is asked for
  };
  /** Sessions say what they have counted when they end. */
  const othersAreGone = async (): Promise<void> => {
    const sql =
      "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'";
    while (Number((await ask(sql)).count) > 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    open: () => openStore(store),
    read: async () => {
      await othersAreGone();
      await client.query("SELECT pg_stat_clear_snapshot()");
      const { pages } = await ask(
        `SELECT sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0)) AS pages
         FROM pg_statio_user_tables WHERE schemaname = '${store.schema}'`,
      );
      const { scanned } = await ask(
        `SELECT sum(seq_tup_read) AS scanned FROM pg_stat_user_tables
         WHERE schemaname = '${store.schema}' AND relname IN ('entries', 'scopes', 'evidence')`,
      );
      const { xact_commit: transactions } = await ask(
        "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()",
      );
      const counted = { pages: Number(pages), scanned: Number(scanned), transactions: Number(transactions) };
      return { ...counted, statements: 0, mostChanged: 0 };
    },
    close: () => client.end(),
  };
}
