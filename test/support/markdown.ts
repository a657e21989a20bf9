import { readFileSync } from "node:fs";
import { listFiles, ROOT } from "./syntax.ts";

/** A fenced block of a page; `marker` is the comment right above it, such as `source: examples/embed.ts`. */
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

/** Every link of a page to another file of the project, without its anchor. */
export function localLinks(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)].map(([, target]) => String(target));
}
