import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";
import { intentOf } from "../actions/rig.ts";
import { temporaryDirectory } from "../journal/temporary-directory.ts";

export function newPath(): string {
  return `${temporaryDirectory()}/journal.db`;
}

export function dispatcherOn(journal: Journal): GameActionDispatcher {
  return new GameActionDispatcher({
    journal,
    handler: { execute: (intent) => GameActionReceipt.committed(intent, { gold: 100 }) },
  });
}

/** Writes some receipts and closes, so that everything is in the database file. */
export async function filled(path: string, ids: readonly string[] = ["a", "b"]): Promise<void> {
  const journal = await openSqliteJournal(path);
  for (const id of ids) await dispatcherOn(journal).dispatch(intentOf(id, { conflictKeys: [`key-${id}`] }));
  await journal.close();
}

export async function refusal(path: string, options: Parameters<typeof openSqliteJournal>[1] = {}): Promise<unknown> {
  try {
    await (await openSqliteJournal(path, options)).close();
  } catch (error) {
    return (error as { readonly code: unknown }).code;
  }
  return "opened";
}
