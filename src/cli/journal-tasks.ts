/** What people do to a journal: each task works on one place, shows what it finds, and returns the exit code. */
import {
  type ActionResolution,
  type GameActionDispatcher,
  type Journal,
  type JournalEntry,
  KernelError,
  type RunListing,
  type RunStore,
} from "toolkernel";
import { fillPostgresStore } from "toolkernel/postgres";
import { moveSqliteStore } from "toolkernel/sqlite";
import { isDatabase, type JournalPlace, personsDispatcher, withJournal, withRunStore } from "./open-journal.ts";
import { entryTable, runTable, type Shower, showEntry } from "./show-journal.ts";
import type { ExitCode } from "./show-summary.ts";
import { countOf } from "./wording.ts";

const PAGE = 500;
/** After so long a person wonders what is going on. */
const PATIENCE_MS = 1_000;

/** Lists open operations and open runs, after what dead processes left was looked after. 2: something is uncertain. */
export async function listJournal(place: JournalPlace, shower: Shower): Promise<ExitCode> {
  const entries = await withJournal(place, async (journal) => {
    await journal.protocol.sweep();
    return openEntries(journal);
  });
  const runs = await withRunStore(place, openRuns);
  for (const entry of entries) shower.data({ kind: "entry", ...entry });
  for (const run of runs) shower.data({ kind: "run", ...run });
  const { screen } = shower;
  if (entries.length > 0) screen.line(entryTable(entries, screen));
  screen.line(`${countOf(entries.length, "operation")} open.`);
  if (runs.length > 0) screen.line(runTable(runs, screen));
  screen.line(`${countOf(runs.length, "run")} open.`);
  return entries.some(({ state }) => state === "uncertain") ? 2 : 0;
}

/** Shows one operation with everything that is kept of it. 2: it is uncertain. */
export function showOperation(place: JournalPlace, operationId: string, shower: Shower): Promise<ExitCode> {
  return withJournal<ExitCode>(place, async (journal) => {
    const entry = await needEntry(journal, operationId);
    const evidence = await journal.protocol.listEvidence(operationId);
    shower.data({ kind: "entry", ...entry, evidence });
    showEntry({ entry, evidence }, shower.screen);
    return entry.state === "uncertain" ? 2 : 0;
  });
}

/** What `reconcile` is asked: one operation, or all that are uncertain. */
export interface ReconcileTask {
  readonly operationId: string | undefined;
  readonly handlerModule: string;
  /** Fires when no more operations are to be asked about. */
  readonly signal: AbortSignal;
  /** Told of an operation whose handler has not answered at once. */
  tellWait(operationId: string): void;
}

/** Asks the handler what became of uncertain operations. 2: something is still uncertain. */
export function reconcileOperations(place: JournalPlace, task: ReconcileTask, shower: Shower): Promise<ExitCode> {
  return withJournal<ExitCode>(place, async (journal) => {
    const dispatcher = await personsDispatcher(journal, task.handlerModule);
    await dispatcher.start();
    const ids = task.operationId === undefined ? await uncertainIds(journal) : [task.operationId];
    let unknown = 0;
    for (const operationId of ids) {
      if (task.signal.aborted) break;
      const answer = await askInSight(dispatcher, operationId, task);
      if (answer === undefined) unknown += 1;
      const what = answer === undefined ? "still unknown" : `${answer.receipt.status} (${answer.disposition})`;
      shower.data({ kind: "reconciled", operationId, ...(answer ?? { disposition: "unknown" }) });
      shower.say(`${operationId}: ${what}`);
    }
    if (task.signal.aborted) shower.say("Stopped; what was not answered stays uncertain.");
    if (ids.length === 0) shower.say("Nothing is uncertain.");
    return unknown > 0 || task.signal.aborted ? 2 : 0;
  });
}

/** Asks about one operation, and says so when that takes a while. */
async function askInSight(
  dispatcher: GameActionDispatcher,
  operationId: string,
  { signal, tellWait }: ReconcileTask,
): ReturnType<GameActionDispatcher["reconcile"]> {
  const timer = setTimeout(() => tellWait(operationId), PATIENCE_MS);
  try {
    return await dispatcher.reconcile(operationId, { signal });
  } finally {
    clearTimeout(timer);
  }
}

/** Closes an uncertain operation by a person's word. */
export function resolveOperation(
  place: JournalPlace,
  { operationId, ...resolution }: ActionResolution & { readonly operationId: string },
  shower: Shower,
): Promise<ExitCode> {
  return withJournal<ExitCode>(place, async (journal) => {
    const receipt = await (await personsDispatcher(journal, undefined)).resolve(operationId, resolution);
    shower.data({ kind: "resolved", operationId, receipt });
    shower.say(`${operationId}: ${receipt.status}; the evidence is kept beside the receipt.`);
    return 0;
  });
}

/** Abandons an operation that has not been dispatched. 1: it was not prepared. */
export function abandonOperation(place: JournalPlace, operationId: string, shower: Shower): Promise<ExitCode> {
  return withJournal<ExitCode>(place, async (journal) => {
    const { state } = await needEntry(journal, operationId);
    const isAbandoned = await (await personsDispatcher(journal, undefined)).abandon(operationId);
    shower.data({ kind: "abandoned", operationId, isAbandoned });
    shower.say(
      isAbandoned
        ? `${operationId}: abandoned; nothing was dispatched.`
        : `${operationId} is ${state}; only what waits for its keys can be abandoned.`,
    );
    return isAbandoned ? 0 : 1;
  });
}

/** Forgets arguments and receipts of operations that ended before a time; their ids stay taken. */
export function pruneJournal(place: JournalPlace, finalBefore: number, shower: Shower): Promise<ExitCode> {
  return withJournal<ExitCode>(place, async (journal) => {
    const pruned = await journal.prune({ finalBefore });
    shower.data({ kind: "pruned", pruned });
    shower.say(`${countOf(pruned, "operation")} pruned.`);
    return 0;
  });
}

/** Moves everything in a SQLite file into an empty schema of a PostgreSQL database, and renames the file. */
export async function copyJournal(place: JournalPlace, target: string, shower: Shower): Promise<ExitCode> {
  if (isDatabase(place.journal) || !isDatabase(target)) {
    const message = "copy only goes from a SQLite file (--journal) to a PostgreSQL database (--to).";
    throw new KernelError("INVALID_OPTIONS", message, { subject: "--to" });
  }
  const { answer, movedTo } = await moveSqliteStore(place.journal, {}, (contents) =>
    fillPostgresStore(target, contents, { schema: place.schema }),
  );
  shower.data({ kind: "copied", ...answer, movedTo });
  shower.say(`Copied ${countOf(answer.entries, "operation")} and ${countOf(answer.runs, "run")}.`);
  shower.say(`The file is now ${movedTo}, so that nobody keeps writing to it.`);
  return 0;
}

async function needEntry(journal: Journal, operationId: string): Promise<JournalEntry> {
  const entry = await journal.find(operationId);
  if (entry !== undefined) return entry;
  throw new KernelError("OPERATION_UNKNOWN", `The journal holds no operation ${operationId}.`, {
    subject: operationId,
  });
}

async function openEntries(journal: Journal): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (let after: string | undefined; ; ) {
    const page = await journal.listOpen({ limit: PAGE, after });
    entries.push(...page.entries);
    after = page.next;
    if (after === undefined) return entries;
  }
}

async function openRuns(store: RunStore): Promise<readonly RunListing[]> {
  const runs: RunListing[] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.listOpen({ limit: PAGE, after });
    runs.push(...page.runs);
    after = page.next;
    if (after === undefined) return runs;
  }
}

async function uncertainIds(journal: Journal): Promise<readonly string[]> {
  const uncertain = (await openEntries(journal)).filter(({ state }) => state === "uncertain");
  return uncertain.map(({ intent }) => intent.operationId);
}
