import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A process that is given orders, and says lines of JSON. */
export interface Program<Line> {
  readonly process: ChildProcess;
  /** Everything it has said, whole lines only. */
  readonly said: readonly Line[];
  /** Resolves when it has said something that fits. */
  says(isWanted: (said: Line) => boolean): Promise<Line>;
  /** Writes a line to its input. */
  tell(line: string): void;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code, or the signal it died of. */
  readonly ended: Promise<number | string>;
}

/** What to start; with a command before it, such as a tracer, that is run around it. */
export interface ProgramStart {
  /** The name of a file of this folder, without its ending. */
  readonly name: string;
  readonly orders: object;
  readonly around?: readonly string[];
}

/** Builds a program of this folder, once per test process. */
export function buildProgram(name: string): void {
  buildSync({
    entryPoints: [fileURLToPath(new URL(`./${name}.ts`, import.meta.url))],
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outfile: bundleOf(name),
  });
}

/** Starts a program that was built. `Line` is what its source says it says. */
export function spawnProgram<Line>({ name, orders, around = [] }: ProgramStart): Program<Line> {
  const [command = process.execPath, ...rest] = [...around, process.execPath, bundleOf(name), JSON.stringify(orders)];
  const child = spawn(command, rest, { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
  const said: Line[] = [];
  const watchers: {
    isWanted: (said: Line) => boolean;
    resolve: (said: Line) => void;
    reject: (error: Error) => void;
  }[] = [];
  // Whoever has been killed reads no more.
  child.stdin.on("error", () => undefined);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const each = parse<Line>(line);
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
    tell: (line) => {
      child.stdin.write(`${line}\n`);
    },
    kill: (signal) => {
      child.kill(signal);
    },
    ended,
  };
}

function bundleOf(name: string): string {
  return `${ROOT}.tmp/${name}-${process.pid}.mjs`;
}

/** A line that was cut off by a kill is no line. */
function parse<Line>(line: string): Line | undefined {
  try {
    return JSON.parse(line) as Line; // written by the program
  } catch {
    return undefined;
  }
}
