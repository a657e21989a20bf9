import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

/** A text on a page, and how much it stands out from what is behind it; 4.5 is what a reader needs. */
export interface Contrast {
  readonly text: string;
  readonly ratio: number;
}

/** The contrast of every text on a page. */
export function contrasts(page: Page): Promise<readonly Contrast[]> {
  return page.evaluate(readFileSync(new URL("measure-contrast.js", import.meta.url), "utf8"));
}
