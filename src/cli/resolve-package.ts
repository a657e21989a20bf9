import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { KernelError } from "toolkernel";

/** Which program of which package, and the folders to look from, first come first served. */
export interface PackageQuery {
  readonly name: string;
  readonly bin: string | undefined;
  readonly from: readonly string[];
}

/**
 * Finds the script that an installed package runs as a program; nothing is downloaded.
 * @throws KernelError `INVALID_OPTIONS` when the package or its bin is not there
 */
export async function resolvePackageBin(query: PackageQuery): Promise<string> {
  const manifestPath = findManifest(query);
  const manifest: unknown = JSON.parse(await readFile(manifestPath, "utf8"));
  const bins = binsOf(manifest, query.name);
  const script = bins.get(query.bin ?? defaultBin(bins, query.name));
  if (script === undefined) {
    throw new KernelError(
      "INVALID_OPTIONS",
      query.bin === undefined
        ? `the package ${query.name} has ${bins.size === 0 ? "no program" : "several programs"}: name one with bin (${[...bins.keys()].join(", ") || "none"}).`
        : `the package ${query.name} has no program ${query.bin}; it has: ${[...bins.keys()].join(", ") || "none"}.`,
      { subject: query.name },
    );
  }
  return resolve(dirname(manifestPath), script);
}

/** Looks for the folder itself: a package's exports may hide its manifest from `require.resolve`. */
function findManifest({ name, from }: PackageQuery): string {
  const found = from
    .flatMap((folder) => createRequire(join(folder, "here.js")).resolve.paths(name) ?? [])
    .map((folder) => join(folder, name, "package.json"))
    .find((path) => existsSync(path));
  if (found === undefined) {
    throw new KernelError(
      "INVALID_OPTIONS",
      `the package ${name} is not installed where ${from.join(" or ")} could use it: run npm install ${name} there.`,
      { subject: name },
    );
  }
  return found;
}

function binsOf(manifest: unknown, name: string): ReadonlyMap<string, string> {
  const bin = typeof manifest === "object" && manifest !== null && "bin" in manifest ? manifest.bin : undefined;
  if (typeof bin === "string") {
    return new Map([[unscoped(name), bin]]);
  }
  const entries = Object.entries(typeof bin === "object" && bin !== null ? bin : {});
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

function defaultBin(bins: ReadonlyMap<string, string>, name: string): string {
  const [first] = bins.keys();
  return bins.size === 1 && first !== undefined ? first : unscoped(name);
}

function unscoped(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}
