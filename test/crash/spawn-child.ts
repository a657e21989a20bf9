import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import type { GameActionReceipt } from "../../src/domain/action.ts";
import type { ChildOrders } from "./crash-child.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BUNDLE = `${ROOT}.tmp/crash-child-${process.pid}.mjs`;

/** A line that a child says. */
export interface Said {
  readonly ready?: true;
  readonly begun?: string;
  readonly operationId?: string;
  readonly disposition?: string;
  readonly receipt?: GameActionReceipt;
}

/** A process that dispatches actions. */
export interface Child {
  readonly process: ChildProcess;
  /** Everything it has said, whole lines only. */
  readonly said: readonly Said[];
  /** Resolves when it has said something that fits. */
  says(isWanted: (said: Said) => boolean): Promise<Said>;
  start(): void;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code, or the signal it died of. */
  readonly ended: Promise<number | string>;
}

/** Builds the child's program once per test process. */
export function buildChild(): void {
  buildSync({
    entryPoints: [fileURLToPath(new URL("./crash-child.ts", import.meta.url))],
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outfile: BUNDLE,
  });
}

/** Starts a process; with a command before it, such as a tracer, that is run around it. */
export function spawnChild(orders: ChildOrders, around: readonly string[] = []): Child {
  const [command = process.execPath, ...rest] = [...around, process.execPath, BUNDLE, JSON.stringify(orders)];
  const child = spawn(command, rest, { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
  const said: Said[] = [];
  const watchers: {
    isWanted: (said: Said) => boolean;
    resolve: (said: Said) => void;
    reject: (error: Error) => void;
  }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const each = parse(line);
    if (each === undefined) return;
    said.push(each);
    for (const watcher of watchers.filter(({ isWanted }) => isWanted(each))) watcher.resolve(each);
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => {
      for (const { reject } of watchers)
        reject(new Error(`The process ended (${signal ?? code}) before it said what was waited for.`));
      resolve(signal ?? code ?? "unknown");
    });
  });
  return {
    process: child,
    said,
    says: (isWanted) => {
      const before = said.find(isWanted);
      if (before !== undefined) return Promise.resolve(before);
      return new Promise((resolve, reject) => watchers.push({ isWanted, resolve, reject }));
    },
    start: () => child.stdin.write("go\n"),
    kill: (signal) => {
      child.kill(signal);
    },
    ended,
  };
}

/** A line that was cut off by a kill is no line. */
function parse(line: string): Said | undefined {
  try {
    return JSON.parse(line) as Said; // written by the child
  } catch {
    return undefined;
  }
}
