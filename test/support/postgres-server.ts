/**
 * A real PostgreSQL for the tests, from npm alone; started when a test first asks for it.
 *
 * Owns: one server per test run, its directory, and the socket through which workers ask for it. Does not
 * own: databases, which each test file makes for itself. With the environment variable
 * TOOLKERNEL_TEST_POSTGRES (a connection string with the right to create databases) that server is used.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, programsFor, serverDirectory, serverIdentity } from "./postgres-programs.ts";

/** Where workers ask for the server; set before they are started. */
export const SOCKET_VARIABLE = "TOOLKERNEL_TEST_POSTGRES_SOCKET";

/** A server that runs. */
export interface PostgresServer {
  readonly url: string;
  readonly processId: number;
  /** Kills it at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  /** Starts a standby from a copy of its data as they are now, as a replica that hears nothing more. */
  copyAsStandby(): Promise<PostgresServer>;
}

/** How a server is started. */
export interface PostgresStart {
  readonly settings?: Readonly<Record<string, string>>;
  /** Added to the environment of the server. */
  readonly environment?: Readonly<Record<string, string>>;
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

/** Starts a server of its own on a free port of the loopback device. */
export async function startPostgres(start: PostgresStart = {}): Promise<PostgresServer> {
  const directory = serverDirectory("toolkernel-postgres-");
  run(directory, "initdb", [
    ...["-D", join(directory, "data"), "-U", "postgres", "--auth=trust", "-E", "UTF8"],
    ...["--locale=C", "--no-sync"],
  ]);
  return startIn(directory, start);
}

/** Starts a server on the data of a directory. */
async function startIn(directory: string, { settings = {}, environment = {} }: PostgresStart): Promise<PostgresServer> {
  const data = join(directory, "data");
  const port = await freePort();
  const options = Object.entries({
    listen_addresses: "127.0.0.1",
    unix_socket_directories: directory,
    max_connections: "120",
    ...settings,
  });
  const start = async (): Promise<ChildProcess> => {
    const server = spawn(
      join(programsFor(directory), "postgres"),
      ["-D", data, "-p", String(port), ...options.flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      { ...serverIdentity(), stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...environment } },
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
    copyAsStandby: async () => {
      await end(server, "SIGINT");
      const copy = serverDirectory("toolkernel-postgres-");
      run(directory, "cp", ["-Rp", data, join(copy, "data")]);
      writeFileSync(join(copy, "data", "standby.signal"), "");
      server = await startAgain(start);
      return startIn(copy, { settings, environment });
    },
  };
}

/** Runs a program of the server, or of the system, as the server's user. */
function run(directory: string, program: string, words: readonly string[]): void {
  const path = program === "cp" ? program : join(programsFor(directory), program);
  const done = spawnSync(path, words, { ...serverIdentity(), encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${program} failed: ${done.stderr || String(done.error)}`);
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
      if (/database system is ready to accept (?:read-only )?connections/.test(said)) resolve();
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
