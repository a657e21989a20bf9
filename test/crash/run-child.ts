/**
 * A process that takes runs of a store and records facts in them: the subject of the tests of run stores
 * across processes. It is given its orders as JSON and by lines on its input, and writes a line for every
 * answer of the store.
 */
import { createInterface } from "node:readline";
import type { RunClaim, RunStore } from "../../src/domain/run-store.ts";
import { openRuns, type StoreAddress } from "./store.ts";
import { writeLine } from "./write-line.ts";

/** What a process is told to do. */
export type RunOrders =
  /** Takes runs and records numbered facts in each, one after another, all runs at the same time. */
  | {
      readonly kind: "record";
      readonly store: StoreAddress;
      readonly runIds: readonly string[];
      readonly count: number;
    }
  /**
   * Waits for lines `try <run>` and says whether it was won, and `<run>` to give back what was won.
   */
  | { readonly kind: "contend"; readonly store: StoreAddress };

/** A line that it says. */
export interface RunSaid {
  readonly ready?: true;
  readonly taken?: string;
  /** How many facts a run has, once that is acknowledged. */
  readonly recorded?: { readonly runId: string; readonly count: number };
  readonly tried?: { readonly runId: string; readonly isWon: boolean; readonly code?: string };
  readonly released?: string;
  readonly refused?: { readonly runId: string; readonly code: string };
}

function say(line: RunSaid): void {
  writeLine(line);
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown }).code ?? error);
}

async function recordIn(store: RunStore, runId: string, count: number): Promise<void> {
  const claim = await store.claim(runId, { create: true });
  say({ taken: runId });
  for (let number = claim.facts.length + 1; number <= count; number += 1) {
    try {
      await claim.append([{ kind: "dispatched", turn: 1, index: number, atMs: 0 }], {
        status: "running",
        turn: number,
      });
    } catch (error) {
      say({ refused: { runId, code: codeOf(error) } });
      return;
    }
    say({ recorded: { runId, count: number } });
  }
  await claim.release();
  say({ released: runId });
}

async function tryToTake(store: RunStore, runId: string, won: Map<string, RunClaim>): Promise<void> {
  try {
    const claim = await store.claim(runId, { create: true });
    won.set(runId, claim);
    await claim.append([{ kind: "dispatched", turn: 1, index: -process.pid, atMs: 0 }]);
    say({ tried: { runId, isWon: true } });
  } catch (error) {
    say({ tried: { runId, isWon: false, code: codeOf(error) } });
  }
}

async function contend(store: RunStore): Promise<void> {
  const won = new Map<string, RunClaim>();
  say({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, runId = ""] = line.split(" ");
    if (verb === "end") break;
    if (verb === "try") await tryToTake(store, runId, won);
    else await won.get(runId)?.release();
    if (verb === "release") say({ released: runId });
  }
}

async function work(orders: RunOrders): Promise<void> {
  const store = await openRuns(orders.store);
  if (orders.kind === "contend") await contend(store);
  else await Promise.all(orders.runIds.map((runId) => recordIn(store, runId, orders.count)));
  await store.close();
  process.exit(0);
}

await work(JSON.parse(process.argv[2] ?? "") as RunOrders); // written by the test
