import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { listFiles, ROOT } from "./syntax.ts";

/**
 * A fenced block of a page; `marker` is the comment right above it: `source: FILE` shows a file,
 * `changes: BEFORE AFTER` the lines in which two files differ, `output: FILE` what an example prints.
 */
export interface FencedBlock {
  readonly page: string;
  readonly language: string;
  readonly marker: string | undefined;
  readonly text: string;
}

const BLOCK = /(?:<!-- (?<marker>[^>]+?) -->\n)?^```(?<language>\w*)\n(?<text>[\s\S]*?)^```$/gm;

/** All pages that people read: README, CONTRIBUTING, CHANGELOG and docs. */
export function readPages(): { readonly page: string; readonly text: string }[] {
  const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...listFiles(["docs"], ".md")];
  return pages.map((page) => ({ page, text: readFileSync(ROOT + page, "utf8") }));
}

/** Every fenced block of a page, in order. */
export function fencedBlocks(page: string, text: string): FencedBlock[] {
  return [...text.matchAll(BLOCK)].map(({ groups }) => ({
    page,
    language: groups?.language ?? "",
    marker: groups?.marker,
    text: groups?.text ?? "",
  }));
}

/** What a block with this marker has to show now; undefined when it names no file that there is. */
export function shownText(marker: string): string | undefined {
  const [kind, ...files] = marker.split(/:? /);
  const [first, second] = files.map((file) => ROOT + file);
  if (first === undefined || !files.every((file) => existsSync(ROOT + file))) {
    return undefined;
  }
  if (kind === "source") {
    return readFileSync(first, "utf8");
  }
  return kind === "changes" && second !== undefined ? changedLines(first, second) : undefined;
}

// As git sees them, each hunk behind a bare `@@`: line numbers would change with every line above.
function changedLines(before: string, after: string): string {
  const words = ["diff", "--no-index", "--no-color", "--no-ext-diff", "--unified=2", before, after];
  const { stdout } = spawnSync("git", words, { encoding: "utf8" });
  const lines = stdout.split("\n");
  const hunks = lines.slice(lines.findIndex((line) => line.startsWith("@@")));
  return hunks.map((line) => (line.startsWith("@@") ? "@@" : line)).join("\n");
}

/** Every link of a page to another file of the project, without its anchor. */
export function localLinks(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)].map(([, target]) => String(target));
}
