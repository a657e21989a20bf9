/**
 * A real pgbouncer before a database of the tests.
 * Owns: its process and its directory. It runs in transaction mode, and gives each transaction the next of
 * its connections in turn, so that nothing that belongs to a session is met again by chance.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, serverDirectory, serverIdentity } from "./postgres-programs.ts";

const PROGRAMS = ["pgbouncer", "/usr/sbin/pgbouncer"];

/** The program, where it is installed. */
export const PGBOUNCER = PROGRAMS.find((path) => spawnSync(path, ["--version"]).status === 0);
/** For the names of tests that are skipped without it. */
export const WHY_NO_PGBOUNCER = PGBOUNCER === undefined ? " (skipped: pgbouncer is not installed)" : "";

/** A pgbouncer that runs. */
export interface Pgbouncer {
  /** As the one it was started with, by way of it. */
  readonly url: string;
  /** Goes to another server from now on. */
  redirect(databaseUrl: string): Promise<void>;
  stop(): Promise<void>;
}

/** How it pools. */
export interface PgbouncerOptions {
  /** Connections to the server. */
  readonly size: number;
  readonly mode?: "transaction" | "session";
}

/** Starts one before the database of a connection string. */
export async function startPgbouncer(databaseUrl: string, options: PgbouncerOptions): Promise<Pgbouncer> {
  const directory = serverDirectory("toolkernel-pgbouncer-");
  const port = await freePort();
  const path = join(directory, "pgbouncer.ini");
  const configure = (url: string): void => {
    writeFileSync(path, configuration({ url, port, ...options }));
    const { uid, gid } = serverIdentity();
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  };
  configure(databaseUrl);
  const bouncer = spawn(PGBOUNCER ?? "pgbouncer", [path], { ...serverIdentity(), stdio: ["ignore", "ignore", "pipe"] });
  const killWithMe = (): void => void bouncer.kill("SIGKILL");
  process.once("exit", killWithMe);
  await says(bouncer, "process up");
  return {
    url: Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${port}` }).toString(),
    redirect: async (url) => {
      configure(url);
      const isDone = says(bouncer, "re-reading config");
      bouncer.kill("SIGHUP");
      await isDone;
    },
    stop: async () => {
      process.removeListener("exit", killWithMe);
      const ended = new Promise((resolve) => {
        bouncer.once("exit", resolve);
      });
      bouncer.kill("SIGKILL");
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function configuration(given: PgbouncerOptions & { readonly url: string; readonly port: number }): string {
  const { hostname, port, username, password } = new URL(given.url);
  const server = { host: hostname, port, user: username, ...(password === "" ? {} : { password }) };
  return `[databases]
* = ${Object.entries(server)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ")}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${given.port}
unix_socket_dir =
auth_type = any
pool_mode = ${given.mode ?? "transaction"}
default_pool_size = ${given.size}
server_round_robin = 1
server_login_retry = 1
max_client_conn = 200
`;
}

function says(bouncer: ChildProcess, wanted: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    bouncer.stderr?.on("data", (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-10_000);
      if (said.includes(wanted)) resolve();
    });
    bouncer.once("error", reject);
    bouncer.once("exit", (code) => reject(new Error(`pgbouncer ended with ${code}: ${said}`)));
  });
}
