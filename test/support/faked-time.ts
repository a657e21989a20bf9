/**
 * A PostgreSQL server whose clock can be set to another time while it runs.
 * Owns: the file that the clock is read from. Uses Debian's libfaketime, which stands between the server and
 * its system; the test's own clock, and the time that passes, are left alone.
 */
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serverDirectory } from "./postgres-programs.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

const ROOT = "/usr/lib";

/** The library, where it is installed. */
export const FAKETIME: string | undefined = (existsSync(ROOT) ? ["", ...readdirSync(ROOT)] : [])
  .map((machine) => join(ROOT, machine, "faketime", "libfaketime.so.1"))
  .find((path) => existsSync(path));
/** For the names of tests that are skipped without it. */
export const WHY_NO_FAKETIME = FAKETIME === undefined ? " (skipped: libfaketime is not installed)" : "";

/** A server, and its clock. */
export interface TimedPostgres extends PostgresServer {
  /** Sets the clock of the server to a time that is so much later than the true one. */
  setClock(aheadMs: number): void;
}

/** Starts one. */
export async function startTimedPostgres(): Promise<TimedPostgres> {
  const directory = serverDirectory("toolkernel-time-");
  const path = join(directory, "time");
  // The server looks whenever it wants to know the time, so the new file takes the place of the old one at once.
  const setClock = (aheadMs: number): void => {
    writeFileSync(`${path}-next`, `${aheadMs < 0 ? "-" : "+"}${Math.abs(aheadMs) / 1_000}\n`);
    renameSync(`${path}-next`, path);
  };
  setClock(0);
  const server = await startPostgres({
    environment: {
      LD_PRELOAD: FAKETIME ?? "",
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      FAKETIME_DONT_RESET: "1",
    },
  });
  return Object.assign(Object.create(server) as PostgresServer, {
    setClock,
    stop: async () => {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  });
}
