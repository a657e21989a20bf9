import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { exists, type PackageEntry, packageEntries, readManifest } from "../support/manifest.ts";
import { listFiles, parseSource, ROOT } from "../support/syntax.ts";
import { EXPECTED_EXPORTS } from "./expected-exports.ts";
import { isPlainBarrel, lookupInProject, publicNames } from "./public-names.ts";

const manifest = readManifest();
const entries = packageEntries(manifest);
const pending = JSON.parse(readFileSync(new URL("pending-exports.json", import.meta.url), "utf8")) as Readonly<
  Record<string, readonly string[]>
>;

function missingFrom(entry: string, expected: readonly string[]): string[] {
  const found = entries.find(({ name }) => name === entry);
  const names = found !== undefined && exists(found.source) ? publicNames(found.source, lookupInProject(entries)) : [];
  return expected.filter((each) => !names.some(({ name }) => name === each)).sort();
}

function isUnbuilt({ code, types }: PackageEntry): boolean {
  return !exists(posix.normalize(code)) || !exists(posix.normalize(types));
}

describe("exports", () => {
  it.each(Object.entries(EXPECTED_EXPORTS))(
    "%s gives every public name, but for those that pending-exports.json lists and no others",
    (entry, expected) => {
      expect(missingFrom(entry, expected)).toEqual([...(pending[entry] ?? [])].sort());
    },
  );

  it("are pending for known entries alone", () => {
    expect(Object.keys(pending).filter((entry) => !Object.hasOwn(EXPECTED_EXPORTS, entry))).toEqual([]);
  });

  it("have a barrel in the sources, for every entry of the manifest", () => {
    expect(entries.filter(({ source }) => !exists(source)).map(({ name }) => name)).toEqual([]);
  });

  it("are the paths by which the compiler finds the sources", () => {
    const { compilerOptions } = JSON.parse(readFileSync(`${ROOT}tsconfig.json`, "utf8")) as {
      readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly string[]>> };
    };
    const expected = Object.fromEntries(entries.map(({ name, source }) => [name, [`./${source}`]]));
    expect(compilerOptions.paths).toEqual(expected);
  });

  it.skipIf(!exists("dist"))("are all there after a build (skipped where nothing is built)", () => {
    expect(entries.filter(isUnbuilt).map(({ name }) => name)).toEqual([]);
  });

  it("are explicit and by name: a barrel holds no logic", () => {
    const barrels = entries.map(({ source }) => source).filter(exists);
    const files = barrels.map((path) => parseSource(path, readFileSync(ROOT + path, "utf8")));
    expect(files.filter((file) => !isPlainBarrel(file)).map(({ path }) => path)).toEqual([]);
  });

  it("have one barrel per entry and no others", () => {
    const known = new Set(entries.map(({ source }) => source));
    const barrels = listFiles(["src", "machines"], ".ts").filter((path) => path.endsWith("/index.ts"));
    expect(barrels.filter((path) => !known.has(path))).toEqual([]);
  });
});

describe("the barrel check", () => {
  it.each([
    ["a whole module", 'export * from "./a.ts";'],
    ["a declaration", "export const a = 1;"],
    ["an import", 'import { a } from "./a.ts"; export { a };'],
    ["a statement", 'export { a } from "./a.ts"; console.log(1);'],
  ])("finds %s", (_name, text) => {
    expect(isPlainBarrel(parseSource("src/index.ts", text))).toBe(false);
  });

  it("lets names and types pass", () => {
    const text = 'export { a, type B } from "./a.ts"; export type { C } from "toolkernel";';
    expect(isPlainBarrel(parseSource("src/index.ts", text))).toBe(true);
  });
});
