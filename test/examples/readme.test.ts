import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { packageEntries } from "../support/manifest.ts";
import { fencedBlocks, localLinks, readPages, shownText } from "../support/markdown.ts";
import { listFiles, ROOT } from "../support/syntax.ts";

const pages = readPages();
const blocks = pages.flatMap(({ page, text }) => fencedBlocks(page, text));
const CODE = new Set(["ts", "js", "typescript", "javascript", "diff"]);
const outputs = blocks.filter(({ marker }) => marker?.startsWith("output: "));

function fileOf(marker: string | undefined): string {
  return String(marker).replace(/^\w+: /, "");
}

async function runExample(path: string): Promise<string> {
  if (readFileSync(ROOT + path, "utf8").includes('from "node:test"')) return runTests(path);
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((...words: unknown[]) => {
    lines.push(words.map(String).join(" "));
  });
  await import(/* @vite-ignore */ `${ROOT}${path}`);
  return lines.map((line) => `${line}\n`).join("");
}

/** The anchors that headings of a page get where it is shown. */
function anchorsOf(page: string): string[] {
  const headings = readFileSync(ROOT + page, "utf8")
    .replace(/^```[\s\S]*?^```$/gm, "")
    .matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** What the test runner of Node counts. */
function runTests(path: string): string {
  const words = ["--import", "tsx", "--test", "--test-reporter=tap", path];
  const { stdout } = spawnSync(process.execPath, words, { cwd: ROOT, encoding: "utf8", maxBuffer: 50_000_000 });
  return (
    stdout
      .match(/^# (?:tests|pass|fail) \d+\n/gm)
      ?.join("")
      .replaceAll("# ", "") ?? stdout
  );
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the pages", () => {
  it("show only code that is a file of the project, or the lines in which two of them differ", () => {
    const code = blocks.filter(({ language }) => CODE.has(language));
    const faults = code.filter(({ marker, text }) => marker === undefined || shownText(marker) !== text);
    expect(code.map(({ marker }) => marker)).toEqual(
      expect.arrayContaining(["source: examples/embed.ts", "changes: examples/mcp/before.ts examples/mcp/after.ts"]),
    );
    expect(faults.map(({ page, marker }) => `${page}: ${marker ?? "code without a source"}`)).toEqual([]);
  });

  it("show the changes of two files as their lines alone", () => {
    const lines = shownText("changes: examples/mcp/before.ts examples/mcp/after.ts")?.split("\n") ?? [];
    expect(lines[0]).toBe("@@");
    expect(lines).toContain('+import { fromMcp } from "toolkernel/mcp";');
    expect(lines.filter((line) => /^(diff|index|---|\+\+\+)/.test(line))).toEqual([]);
  });

  it("know no text for what names no file", () => {
    const markers = [
      "source: examples/absent.ts",
      "changes: examples/embed.ts",
      "output: examples/embed.ts",
      "source:",
    ];
    expect(markers.map(shownText)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("show the output of every example that they show", () => {
    const shown = blocks.filter(({ marker }) => marker?.startsWith("source: ")).map(({ marker }) => fileOf(marker));
    expect(outputs.map(({ marker }) => fileOf(marker)).sort()).toEqual(shown.sort());
  });

  it("link only to files that there are", () => {
    const dead = pages.flatMap(({ page, text }) =>
      localLinks(text)
        .filter((target) => !existsSync(ROOT + posix.join(posix.dirname(page), target)))
        .map((target) => `${page} -> ${target}`),
    );
    expect(dead).toEqual([]);
  });

  it("link only to headings that there are", () => {
    const dead = pages.flatMap(({ page, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
        .map(([, target = "", anchor = ""]) => ({ file: posix.join(posix.dirname(page), target), target, anchor }))
        .filter(({ file, target, anchor }) => !anchorsOf(target === "" ? page : file).includes(anchor))
        .map(({ target, anchor }) => `${page} -> ${target}#${anchor}`),
    );
    expect(dead).toEqual([]);
  });
});

describe("the README", () => {
  it("names every entry of the package, and no entry that there is not", () => {
    const readme = pages.find(({ page }) => page === "README.md")?.text ?? "";
    const named = new Set(readme.match(/(?<=`)toolkernel(?:\/[a-z-]+)?(?=`)/g));
    expect([...named].sort()).toEqual(
      packageEntries()
        .map(({ name }) => name)
        .sort(),
    );
  });

  it("leads to every page", () => {
    const links = new Set(localLinks(pages.find(({ page }) => page === "README.md")?.text ?? ""));
    const hidden = pages.map(({ page }) => page).filter((page) => page !== "README.md" && !links.has(page));
    expect(hidden).toEqual([]);
  });
});

describe("the page about tests", () => {
  it("names every folder of tests", () => {
    const folders = new Set(listFiles(["test"], ".test.ts").map((path) => path.replace(/^(test\/[^/]+).*/, "$1")));
    const text = readFileSync(`${ROOT}docs/testing.md`, "utf8");
    expect([...folders].filter((folder) => !text.includes(`\`${folder}\``))).toEqual([]);
  });
});

describe("the examples on the pages", () => {
  it.each(outputs.map(({ page, marker, text }) => [fileOf(marker), page, text] as const))(
    "%s prints what %s says",
    async (path, _page, text) => {
      expect(await runExample(path)).toBe(text);
    },
  );
});
