/**
 * W6: durable actions on a SQLite file, so many in flight at a time, against raw commits of the same SQLite
 * on the same disk in the same round. An action is two commits: intent and receipt.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { GameActionDispatcher, type GameActionIntent, GameActionReceipt } from "toolkernel";
import { openSqliteJournal, type SqliteDatabase } from "toolkernel/sqlite";
import type { Sample, Workload } from "../measure/workload.ts";

const IN_FLIGHT = [1, 16, 64, 256];
const ROUND_MS = 250;

/** See the file header. */
export const durableActions: Workload = {
  name: "W6",
  about: "durable actions on SQLite, against raw commits",
  prepare: async () => {
    const folder = await mkdtemp(join(tmpdir(), "toolkernel-bench-"));
    process.on("exit", () => void rm(folder, { recursive: true, force: true }));
    const raw = openRaw(join(folder, "raw.db"));
    const journal = await openSqliteJournal(join(folder, "journal.db"));
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: { execute: async (intent) => GameActionReceipt.committed(intent, { ok: true }) },
    });
    return {
      round: async () => {
        const rawPerSecond = commitRaw(raw);
        const sample: Record<string, number> = { rawPerSecond };
        for (const inFlight of IN_FLIGHT) {
          const perSecond = await dispatchMany(dispatcher, inFlight);
          sample[`perSecond${inFlight}`] = perSecond;
          sample[`toRaw${inFlight}`] = perSecond / rawPerSecond;
        }
        sample.toOne64 = (sample.perSecond64 ?? Number.NaN) / (sample.perSecond1 ?? Number.NaN);
        return sample satisfies Sample;
      },
    };
  },
};

/** With the journal's own settings, so that a commit is as durable as one of the journal. */
function openRaw(path: string): SqliteDatabase {
  // The binding says more than the journal asks of it.
  const database = new DatabaseSync(path) as unknown as SqliteDatabase;
  for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "fullfsync = 1", "checkpoint_fullfsync = 1"]) {
    database.prepare(`PRAGMA ${pragma}`).all();
  }
  database.exec("CREATE TABLE records (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID");
  return database;
}

let records = 0;
/** About as long as an intent. */
const BODY = JSON.stringify({ text: "x".repeat(300) });

function commitRaw(database: SqliteDatabase): number {
  const insert = database.prepare("INSERT INTO records (id, body) VALUES (?, ?)");
  const startedMs = performance.now();
  let commits = 0;
  for (; performance.now() - startedMs < ROUND_MS; commits++) {
    database.exec("BEGIN IMMEDIATE");
    insert.run(`record-${records++}`, BODY);
    database.exec("COMMIT");
  }
  return (commits * 1_000) / (performance.now() - startedMs);
}

let actions = 0;

async function dispatchMany(dispatcher: GameActionDispatcher, inFlight: number): Promise<number> {
  const startedMs = performance.now();
  let done = 0;
  const work = async (lane: number): Promise<void> => {
    while (performance.now() - startedMs < ROUND_MS) {
      await dispatcher.dispatch(intentOf(lane));
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, lane) => work(lane)));
  return (done * 1_000) / (performance.now() - startedMs);
}

/** Each lane has a key of its own, so that none waits for another. */
function intentOf(lane: number): GameActionIntent {
  actions += 1;
  return {
    operationId: `action-${actions}`,
    action: "move",
    arguments: { to: `place-${lane}`, step: actions },
    sessionId: "bench",
    actorId: "bench",
    inputId: `input-${actions}`,
    moment: { timelineId: "main", tick: actions },
    conflictKeys: [`lane-${lane}`],
  };
}
