/**
 * `npm run check:package`, its last part: what `npm pack` would publish is the built code, its types, the pages
 * and the papers, every entry of the manifest is in it, and nothing else is.
 */
import { execFileSync } from "node:child_process";
import { posix } from "node:path";
import { type Manifest, packageEntries, readManifest } from "../test/support/manifest.ts";
import { listFiles, ROOT } from "../test/support/syntax.ts";

const PAPERS = ["CHANGELOG.md", "LICENSE", "README.md", "package.json"];
const PAGES = /^docs\/.+\.(?:md|svg|json)$/;
const BUILT = /^dist\/(?:src|machines|bin)\/.+(?:\.js|\.d\.ts)$/;

const faults = packageFaults(packedFiles(), readManifest());
for (const fault of faults) {
  process.stderr.write(`${fault}\n`);
}
process.stdout.write(faults.length === 0 ? "The package holds what it should.\n" : "");
process.exitCode = faults.length === 0 ? 0 : 1;

function packedFiles(): string[] {
  const answer = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: ROOT });
  const packed = JSON.parse(answer.toString("utf8")) as readonly {
    readonly files: readonly { readonly path: string }[];
  }[];
  return packed.flatMap(({ files }) => files.map(({ path }) => path));
}

function packageFaults(files: readonly string[], manifest: Manifest): string[] {
  const wanted = [
    ...PAPERS,
    ...listFiles(["docs"], ".md"),
    ...Object.values(manifest.bin).map((path) => posix.normalize(path)),
    ...packageEntries(manifest).flatMap(({ code, types }) => [posix.normalize(code), posix.normalize(types)]),
  ];
  const missing = wanted.filter((path) => !files.includes(path)).map((path) => `${path} is not in the package`);
  const strange = files.filter((path) => !PAPERS.includes(path) && !PAGES.test(path) && !BUILT.test(path));
  return [...missing, ...strange.map((path) => `${path} does not belong in the package`)];
}
