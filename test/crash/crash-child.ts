/**
 * A process that dispatches actions and dies where it is told to: the subject of the crash tests.
 * It is given its orders as JSON, writes a line for every receipt it was given, and kills itself with
 * SIGKILL at a named point, which is reached through the journal's port and the handler alone.
 */
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { GameActionIntent } from "../../src/domain/action.ts";
import type { Journal, JournalProtocol } from "../../src/domain/journal.ts";
import { openStore, type StoreAddress } from "./store.ts";
import { World } from "./world.ts";
import { writeLine } from "./write-line.ts";

/** Where a process can be told to die. */
export type CrashPoint =
  | "before claim"
  | "after claim"
  | "in handler before the write"
  | "in the middle of the write"
  | "after the write"
  | "before the receipt is saved"
  | "after the receipt is saved"
  | "never";

/** What a process is told to do. */
export interface ChildOrders {
  readonly store: StoreAddress;
  readonly worldPath: string;
  readonly crashAt: CrashPoint;
  /** Operations to dispatch, `width` at a time. */
  readonly operations: readonly { readonly operationId: string; readonly key: string }[];
  readonly width: number;
  /** In the handler, between beginning and ending a write. */
  readonly writeMs: number;
  /** Whether the process waits for a line on its input before it starts. */
  readonly waitsForStart: boolean;
}

function say(line: object): void {
  writeLine(line);
}

function dieIf(isHere: boolean): void {
  if (isHere) process.kill(process.pid, "SIGKILL");
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** A journal that dies before or after a step. */
function dyingJournal(journal: Journal, crashAt: CrashPoint): Journal {
  const inner = journal.protocol;
  const steps: Partial<JournalProtocol> = {
    claim: async (request) => {
      dieIf(crashAt === "before claim");
      const answer = await inner.claim(request);
      dieIf(crashAt === "after claim" && answer.kind === "claimed");
      return answer;
    },
    finish: async (request) => {
      dieIf(crashAt === "before the receipt is saved");
      const answer = await inner.finish(request);
      dieIf(crashAt === "after the receipt is saved");
      return answer;
    },
  };
  const protocol = new Proxy(inner, {
    get: (target, name) => {
      const value: unknown = Reflect.get(steps, name) ?? Reflect.get(target, name, target);
      return typeof value === "function" && !(name in steps) ? value.bind(target) : value;
    },
  });
  return new Proxy(journal, {
    get: (target, name) => {
      if (name === "protocol") return protocol;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function intentOf(operationId: string, key: string): GameActionIntent {
  return {
    operationId,
    action: "write",
    arguments: { key },
    sessionId: "session",
    actorId: "actor",
    inputId: operationId,
    moment: { timelineId: "main", tick: 1 },
    conflictKeys: key === "" ? [] : [key],
  };
}

async function work(orders: ChildOrders): Promise<void> {
  const { crashAt, writeMs } = orders;
  const world = new World(orders.worldPath);
  const journal = dyingJournal(await openStore(orders.store), crashAt);
  const dispatcher = new GameActionDispatcher({
    journal,
    handler: {
      execute: async (intent, { fence }) => {
        const write = { operationId: intent.operationId, key: intent.conflictKeys[0] ?? "", fence };
        dieIf(crashAt === "in handler before the write");
        world.note("begun", write);
        say({ begun: intent.operationId });
        dieIf(crashAt === "in the middle of the write");
        if (writeMs > 0) await pause(writeMs);
        world.note("done", write);
        dieIf(crashAt === "after the write");
        return GameActionReceipt.committed(intent, { by: process.pid, fence });
      },
    },
  });
  say({ ready: true });
  if (orders.waitsForStart) await new Promise((resolve) => process.stdin.once("data", resolve));
  const waiting = [...orders.operations];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { receipt, disposition } = await dispatcher.dispatch(intentOf(next.operationId, next.key));
      say({ operationId: next.operationId, disposition, receipt });
    }
  };
  await Promise.all(Array.from({ length: orders.width }, worker));
  await journal.close();
  process.exit(0);
}

await work(JSON.parse(process.argv[2] ?? "") as ChildOrders); // written by the test
