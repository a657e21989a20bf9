import { describe, expect, it } from "vitest";
import { exists, packageEntries } from "../support/manifest.ts";
import { parseSource } from "../support/syntax.ts";
import { lookupInProject, publicNames } from "./public-names.ts";

const entries = packageEntries();

function namesIn(sources: Readonly<Record<string, string>>): ReturnType<typeof publicNames> {
  return publicNames("src/index.ts", { entries, read: (path) => parseSource(path, sources[path] ?? "") });
}

describe("docstrings", () => {
  it("stand on everything that hosts can import", () => {
    const bare = entries
      .filter(({ source }) => exists(source))
      .flatMap(({ name: entry, source }) =>
        publicNames(source, lookupInProject(entries)).map((each) => ({ entry, ...each })),
      )
      .filter(({ hasDocstring }) => !hasDocstring)
      .map(({ entry, name, declaredIn }) => `${name} of ${entry}, declared in ${declaredIn}`);
    expect(bare).toEqual([]);
  });
});

describe("the docstring check", () => {
  it("follows re-exports to the declaration", () => {
    const names = namesIn({
      "src/index.ts": 'export { work } from "./work.ts"; export type { Work as Job } from "./work.ts";',
      "src/work.ts": "/** Works. */\nexport function work() {}\nexport interface Work {}",
    });
    expect(names).toEqual([
      { name: "work", declaredIn: "src/work.ts", hasDocstring: true },
      { name: "Job", declaredIn: "src/work.ts", hasDocstring: false },
    ]);
  });

  it("follows an imported name, a renamed one and a whole module", () => {
    const names = namesIn({
      "src/index.ts": 'import { a as b } from "./a.ts"; export { b as c }; export * from "./d.ts";',
      "src/a.ts": "/** A. */\nexport const a = 1;",
      "src/d.ts": "const d = 1;\nexport { d };",
    });
    expect(names).toEqual([
      { name: "c", declaredIn: "src/a.ts", hasDocstring: true },
      { name: "d", declaredIn: "src/d.ts", hasDocstring: false },
    ]);
  });

  it("takes neither a plain comment nor one that belongs to something else for a docstring", () => {
    const names = namesIn({
      "src/index.ts":
        "/** Of a. */\nconst a = 1;\nexport const b = a;\n/* Not one. */\nexport const c = 1;\n// Nor this.\nexport const d = 1;",
    });
    expect(names.map(({ name, hasDocstring }) => [name, hasDocstring])).toEqual([
      ["b", false],
      ["c", false],
      ["d", false],
    ]);
  });
});
