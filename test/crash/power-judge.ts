/** What must be true of a store that is opened on a disk as a power cut left it. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { GameActionReceipt as Receipt } from "../../src/domain/action.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { openSqliteJournal, openSqliteRunStore } from "../../src/journal/sqlite/index.ts";
import { MIGRATIONS } from "../../src/journal/sqlite/migrations.ts";
import { isFinalState } from "../../src/journal/transitions.ts";
import type { DiskStep } from "./disk-trace.ts";
import { type PowerSaid, powerIntent } from "./power-lines.ts";

/** What the outside knows at the moment of a power cut: what the world has seen, and what was acknowledged. */
export class Outside {
  /** Operations whose handler was called, with the fence it was given. */
  readonly begun = new Map<string, number>();
  readonly receipts = new Map<string, Receipt>();
  /** Receipts that were there when pruning began; whether it was done. */
  readonly pruned = new Map<string, Receipt>();
  isPruned = false;
  isMoved = false;
  readonly facts = new Map<string, number>();
  /** The highest fence of each key. */
  readonly fences = new Map<string, number>();

  /** Whether there was a file of an older version, with something in it. */
  get hasOldFile(): boolean {
    return [...this.receipts.keys()].some((id) => id.startsWith("op-old"));
  }

  /** Takes a step of a trace; all but what was said is the disk's. */
  take(step: DiskStep): void {
    if (step.kind !== "said") return;
    for (const line of step.text.split("\n").filter((each) => each !== "")) this.#hear(JSON.parse(line) as PowerSaid); // written by the process
  }

  #hear(said: PowerSaid): void {
    if ("begun" in said) {
      this.begun.set(said.begun, said.fence);
      if (said.key !== "") this.fences.set(said.key, Math.max(said.fence, this.fences.get(said.key) ?? 0));
    } else if ("receipt" in said) this.receipts.set(said.receipt.operationId, said.receipt);
    else if ("moved" in said) this.isMoved = true;
    else if ("run" in said) this.facts.set(said.run, said.facts);
    else if (said.prune === "done") this.isPruned = true;
    else for (const [id, receipt] of this.receipts) if (receipt.status !== "uncertain") this.pruned.set(id, receipt);
  }
}

/** Whether a store holds what it must; each fault is a sentence. Nothing that it does is seen by the world again. */
export async function faultsOf(path: string, outside: Outside): Promise<string[]> {
  const faults: string[] = [];
  const note = (what: string): void => void faults.push(what);
  const driver = DatabaseSync as never; // the binding says more than a store asks of it
  try {
    const journal = await openSqliteJournal(path, { driver });
    await judgeEntries(journal, outside, note);
    await judgeRepeats(journal, outside, note);
    await journal.close();
    const store = await openSqliteRunStore(path, { driver });
    for (const [run, facts] of outside.facts) {
      const claim = await store.claim(run, { create: true });
      const isPrefix = claim.facts.every((fact, place) => fact.kind === "dispatched" && fact.index === place + 1);
      if (!isPrefix || claim.facts.length < facts) note(`${run} has ${claim.facts.length} facts of ${facts}`);
    }
    await store.close();
    if (integrityOf(path) !== "ok") note("the database is not whole");
  } catch (error) {
    note(`refused: ${String((error as { readonly code?: unknown }).code ?? error)} ${(error as Error).message}`);
  }
  return faults;
}

async function judgeEntries(journal: Journal, outside: Outside, note: (what: string) => void): Promise<void> {
  await journal.protocol.sweep();
  for (const id of outside.begun.keys()) {
    const entry = await journal.find(id);
    const isKnown = entry !== undefined && (entry.state === "uncertain" || isFinalState(entry.state));
    if (!isKnown) note(`${id} was dispatched and is ${entry?.state ?? "not known"}`);
  }
  for (const [id, receipt] of outside.receipts) {
    const entry = await journal.find(id);
    const mayBeForgotten = outside.pruned.has(id);
    if (mayBeForgotten && entry?.forgotten === true) continue;
    if (mayBeForgotten && outside.isPruned) note(`${id} was forgotten and is known again`);
    if (receipt.status === "uncertain") continue; // what a call was told while its handler went on
    if (JSON.stringify(entry?.receipt) !== JSON.stringify(receipt)) note(`the receipt of ${id} is lost`);
  }
}

/** Everything that was begun is dispatched again, and something new behind it. */
async function judgeRepeats(journal: Journal, outside: Outside, note: (what: string) => void): Promise<void> {
  const dispatcher = new GameActionDispatcher({
    journal,
    conflictWaitTimeoutMs: 1,
    handler: {
      execute: (intent, { fence }) => {
        if (outside.begun.has(intent.operationId)) note(`${intent.operationId} is written a second time`);
        for (const key of intent.conflictKeys) {
          if (fence <= (outside.fences.get(key) ?? 0)) note(`the fence of ${key} falls to ${fence}`);
        }
        return GameActionReceipt.committed(intent, null);
      },
    },
  });
  const again = [...outside.begun.keys(), ...Array.from({ length: 5 }, (_, place) => `op-0-${9_000 + place}`)];
  await Promise.all(
    again.map(async (id) => {
      try {
        await dispatcher.dispatch(powerIntent(id));
      } catch (error) {
        const { code } = error as { readonly code?: unknown };
        if (code !== "OPERATION_FORGOTTEN" || !outside.pruned.has(id)) note(`${id}: ${String(code ?? error)}`);
      }
    }),
  );
}

/**
 * What is wrong with a store that was being moved to another: once that is done nobody may go on at the old
 * place, and the file is whole under its new name; before, it is whole under the one or the other.
 */
export async function movingFaultsOf(path: string, outside: Outside): Promise<string[]> {
  const isAway = existsSync(`${path}-moved`);
  if (!isAway) return outside.isMoved ? ["the moved file has its old name"] : faultsOf(path, outside);
  const faults: string[] = [];
  try {
    await (await openSqliteJournal(path, { driver: DatabaseSync as never })).close();
    faults.push("a new journal is made where one was moved away");
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code !== "JOURNAL_CORRUPT") faults.push(`refused: ${String(code ?? error)}`);
  }
  return [...faults, ...(await faultsOf(`${path}-moved`, outside))];
}

/** What is wrong with the copy that was made of an older file before it was migrated. */
export function copyFaults(path: string, { receipts }: Outside): string[] {
  const copy = `${path}-before-${MIGRATIONS.length}`;
  if (!existsSync(copy)) return ["there is no copy of the older file"];
  const database = new DatabaseSync(copy);
  try {
    const { user_version: version } = database.prepare("PRAGMA user_version").get() as {
      readonly user_version: number;
    };
    const rows = database.prepare("SELECT receipt FROM toolkernel_entries").all() as { readonly receipt: string }[];
    const kept = new Set(rows.map(({ receipt }) => receipt));
    const lost = [...receipts].filter(([id, receipt]) => id.startsWith("op-old") && !kept.has(JSON.stringify(receipt)));
    return [
      ...(version === 1 ? [] : [`the copy has version ${version}`]),
      ...lost.map(([id]) => `the copy has no receipt of ${id}`),
    ];
  } catch (error) {
    return [`the copy cannot be read: ${(error as Error).message}`];
  } finally {
    database.close();
  }
}

function integrityOf(path: string): unknown {
  const database = new DatabaseSync(path);
  const row = database.prepare("PRAGMA integrity_check").get() as { readonly integrity_check: unknown };
  database.close();
  return row.integrity_check;
}
