/**
 * `toolkernel journal …` on a journal file of each test's own.
 * Owns: the folder of the test that runs.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GameActionDispatcher, GameActionReceipt, type Journal } from "toolkernel";
import { openSqliteJournal, openSqliteRunStore } from "toolkernel/sqlite";
import { beforeEach, expect } from "vitest";
import { intentOf } from "../actions/rig.ts";
import { temporaryDirectory } from "../journal/temporary-directory.ts";
import { type Ran, runCommand } from "./command-scene.ts";

let folder = "";

beforeEach(() => {
  folder = temporaryDirectory();
});

/** A file in the folder of this test. */
export function fileHere(name: string): string {
  return join(folder, name);
}

/** The journal of this test, which need not be there yet. */
export function journalPath(): string {
  return fileHere("journal.db");
}

/** Runs `toolkernel journal …`. */
export function run(...args: readonly string[]): Promise<Ran> {
  return runCommand(["journal", ...args], { allowsColor: false });
}

/** Runs it on the journal of this test. */
export function here(...args: readonly string[]): Promise<Ran> {
  return run(...args, "--journal", journalPath());
}

/** The same, for the objects that it writes. */
export async function json(
  ...args: readonly string[]
): Promise<{ readonly exitCode: number; readonly lines: unknown[] }> {
  const { exitCode, out, errors } = await here(...args, "--json");
  expect(errors).toBe("");
  const lines = out.split("\n").filter((line) => line !== "");
  return { exitCode, lines: lines.map((line) => JSON.parse(line) as unknown) };
}

/** Writes a journal: `done` has ended, `lost` and `gone` are uncertain, `waiting` waits for the key of `lost`. */
export async function filled(open: () => Promise<Journal> = () => openSqliteJournal(journalPath())): Promise<void> {
  const journal = await open();
  const dispatcher = new GameActionDispatcher({
    journal,
    handler: {
      execute: (intent) => {
        if (intent.inputId !== "input") throw new Error("the answer was lost");
        return GameActionReceipt.committed(intent, { built: "a farm" });
      },
    },
  });
  await dispatcher.dispatch(intentOf("done", { arguments: { plot: 7 } }));
  await dispatcher.dispatch(intentOf("lost", { inputId: "other", conflictKeys: ["plot:1"] }));
  await dispatcher.dispatch(intentOf("gone", { inputId: "other" }));
  await journal.close();
}

/** Writes an operation that waits for a key, as a living process would have it; answers how to end that process. */
export async function waiting(): Promise<() => Promise<void>> {
  const journal = await openSqliteJournal(journalPath());
  const request = (operationId: string) => ({
    operationId,
    claimId: operationId,
    intentHash: "h",
    intentText: JSON.stringify(intentOf(operationId, { conflictKeys: ["plot:9"] })),
    scopes: [{ id: "plot:9", key: "plot:9" }],
  });
  await journal.protocol.claim(request("holding"));
  await journal.protocol.claim(request("waiting"));
  return () => journal.close();
}

/** Writes a run that waits for an approval into the file of the journal. */
export async function keepRun(): Promise<void> {
  const store = await openSqliteRunStore(journalPath());
  const claim = await store.claim("run-1", { create: true });
  await claim.append([{ kind: "begun", earlier: [] }], { status: "awaitingApproval", turn: 2 });
  await claim.release();
  await store.close();
}

/** A module that knows that `lost` was built, and nothing of anything else. */
export async function handlerModule(): Promise<string> {
  const module = fileHere("handler.mjs");
  await writeFile(
    module,
    `export default { handler: { knows: "lost", recover({ operationId, moment }) {
      if (operationId === this.knows) return { operationId, moment, status: "committed", result: { built: "a farm" } };
    } } };`,
  );
  return module;
}
