import { existsSync, readFileSync } from "node:fs";
import { ROOT } from "./syntax.ts";

/** The parts of package.json that tests ask about. */
export interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** One entry that hosts can import: its name and the source of its barrel. */
export interface PackageEntry {
  readonly name: string;
  readonly source: string;
  readonly types: string;
  readonly code: string;
}

/** Reads package.json. */
export function readManifest(): Manifest {
  return JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as Manifest;
}

/** Every entry of the package, package.json itself left out. */
export function packageEntries(manifest: Manifest = readManifest()): PackageEntry[] {
  return Object.entries(manifest.exports).flatMap(([entry, target]) =>
    typeof target === "string"
      ? []
      : [
          {
            name: manifest.name + entry.slice(1),
            source: target.default.replace(/^\.\/dist\//, "").replace(/\.js$/, ".ts"),
            types: target.types,
            code: target.default,
          },
        ],
  );
}

/** Whether a file of the project is there. */
export function exists(path: string): boolean {
  return existsSync(ROOT + path);
}
