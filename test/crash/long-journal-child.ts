/**
 * A process that brings a journal to a great many finished actions, and counts what it costs at the beginning
 * and at the end; that makes it forget half of them while they are asked for again, and leaves a thousand under
 * way: the subject of the test of long lives.
 */
import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { GameActionIntent } from "../../src/domain/action.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { COUNTED, type Cost, LEFT, type LongOrders, type LongSaid } from "./long-lines.ts";
import { randomFrom } from "./long-runs.ts";
import { type Meter, makeMeter } from "./store-meter.ts";
import { writeLine } from "./write-line.ts";

/** Actions that are under way at the same time. */
const WIDTH = 256;
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void; // what the flag exposes

function say(line: LongSaid): void {
  writeLine(line);
}

/** Ids are as good as random, as the kernel's own are. */
function idOf(place: number): string {
  return createHash("sha256").update(String(place)).digest("hex").slice(0, 32);
}

function intentAt(place: number, keys: number): GameActionIntent {
  return {
    operationId: idOf(place),
    action: "write",
    arguments: { place, text: "a line of a letter that somebody writes" },
    sessionId: "session",
    actorId: "actor",
    inputId: `input-${place}`,
    moment: { timelineId: "main", tick: place },
    conflictKeys: [`key-${place % keys}`],
  };
}

/** Runs a task for each place from one to another, many at the same time. */
async function forEach(from: number, to: number, task: (place: number) => Promise<unknown>): Promise<void> {
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < to) {
      next += 1;
      await task(next - 1);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
}

class LongLife {
  readonly #orders: LongOrders;
  readonly #meter: Meter;
  #calls = 0;

  constructor(orders: LongOrders, meter: Meter) {
    this.#orders = orders;
    this.#meter = meter;
  }

  /** Opens the journal, does something with it, closes it, and says what that cost. */
  async counted(cost: string, work: (journal: Journal) => Promise<void>): Promise<void> {
    const before = await this.#meter.read();
    const cpu = process.cpuUsage();
    const began = performance.now();
    const journal = await this.#meter.open();
    await work(journal);
    await journal.close();
    const ms = Math.round(performance.now() - began);
    const { user, system } = process.cpuUsage(cpu);
    const after = await this.#meter.read();
    const of: Cost = {
      statements: after.statements - before.statements,
      pages: Math.round(after.pages - before.pages),
      scanned: after.scanned - before.scanned,
      transactions: after.transactions - before.transactions,
      mostChanged: after.mostChanged,
      ms,
      cpuMs: Math.round((user + system) / 1_000),
    };
    say({ cost, of });
  }

  dispatcherOn(journal: Journal): GameActionDispatcher {
    return new GameActionDispatcher({
      journal,
      conflictWaitTimeoutMs: 60_000,
      handler: {
        execute: (intent) => {
          this.#calls += 1;
          return GameActionReceipt.committed(intent, { done: intent.inputId });
        },
      },
    });
  }

  /** Performs the actions from one place to another. */
  async act(journal: Journal, from: number, to: number): Promise<void> {
    const dispatcher = this.dispatcherOn(journal);
    await forEach(from, to, async (place) => {
      await dispatcher.dispatch(intentAt(place, this.#orders.keys));
      const isTenth = (place + 1) % Math.floor(this.#orders.operations / 10) === 0;
      if (!isTenth) return;
      collect();
      say({ heap: process.memoryUsage().heapUsed, after: place + 1 });
    });
  }

  /** Makes the older half forget, while actions of both halves are asked for again. */
  async forget(journal: Journal): Promise<void> {
    const { operations, keys, seed } = this.#orders;
    const middle = await journal.find(idOf(Math.floor(operations / 2)));
    const finalBefore = middle?.updatedAtMs ?? 0;
    const dispatcher = this.dispatcherOn(journal);
    const random = randomFrom(seed);
    const [before, found] = [this.#calls, new Map<string, number>()];
    let isDone = false;
    const ask = async (): Promise<void> => {
      while (!isDone) {
        const answer = await answerOf(dispatcher, intentAt(Math.floor(random() * operations), keys));
        found.set(answer, (found.get(answer) ?? 0) + 1);
      }
    };
    const asking = Promise.all([ask(), ask(), ask(), ask()]);
    say({ found: "pruned", count: await journal.prune({ finalBefore }) });
    isDone = true;
    await asking;
    for (const [answer, count] of found) say({ found: `during: ${answer}`, count });
    say({ found: "handler called again", count: this.#calls - before });
    say({ found: "pruned again", count: await journal.prune({ finalBefore }) });
    const old = await Promise.all([0, 1, 2].map((place) => answerOf(dispatcher, intentAt(place, keys))));
    const young = await answerOf(dispatcher, intentAt(operations - 1, keys));
    say({ found: `after: ${[...old, young].join(" ")}`, count: 1 });
  }

  /** Leaves a thousand actions under way, each with a key. */
  async leave(journal: Journal): Promise<void> {
    const begun: Promise<void>[] = [];
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: {
        execute: ({ operationId }) => {
          resolvers.get(operationId)?.();
          return new Promise<never>(() => undefined);
        },
      },
    });
    const resolvers = new Map<string, () => void>();
    for (let place = 0; place < LEFT; place += 1) {
      const intent = intentAt(this.#orders.operations + place, this.#orders.keys);
      begun.push(new Promise((resolve) => resolvers.set(intent.operationId, resolve)));
      void dispatcher.dispatch(intent).catch(() => undefined); // the journal is closed under it
    }
    await Promise.all(begun);
  }

  /** Finds what was left. */
  async sweep(journal: Journal): Promise<void> {
    const { uncertain } = await this.dispatcherOn(journal).start();
    say({ found: "uncertain", count: uncertain });
    let [listed, after]: [number, string | undefined] = [0, undefined];
    do {
      const page = await journal.listOpen({ limit: 100, after });
      listed += page.entries.filter(({ state }) => state === "uncertain").length;
      after = page.next;
    } while (after !== undefined);
    say({ found: "listed", count: listed });
  }
}

async function answerOf(dispatcher: GameActionDispatcher, intent: GameActionIntent): Promise<string> {
  try {
    return (await dispatcher.dispatch(intent)).disposition;
  } catch (error) {
    return String((error as { readonly code?: unknown }).code ?? error);
  }
}

async function work(orders: LongOrders): Promise<void> {
  const { operations } = orders;
  const meter = await makeMeter(orders.store);
  const life = new LongLife(orders, meter);
  await life.counted("first", (journal) => life.act(journal, 0, COUNTED));
  await life.counted("open few", async () => undefined);
  await life.counted("act few", (journal) => life.act(journal, COUNTED, 2 * COUNTED));
  await life.counted("fill", (journal) => life.act(journal, 2 * COUNTED, operations - COUNTED));
  await life.counted("open many", async () => undefined);
  await life.counted("act many", (journal) => life.act(journal, operations - COUNTED, operations));
  await life.counted("forget", (journal) => life.forget(journal));
  await life.counted("leave", (journal) => life.leave(journal));
  await life.counted("sweep", (journal) => life.sweep(journal));
  await meter.close();
  process.exit(0);
}

await work(JSON.parse(process.argv[2] ?? "") as LongOrders); // written by the test
