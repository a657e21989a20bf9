/**
 * A headless Chromium for the tests of pages.
 * Owns: where it is looked for, the browser of one test file. Every page is watched: a test fails for an error
 * on the console and for a request to anywhere but where its page came from.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";

/** A browser to use in place of those that are looked for. */
const GIVEN_VARIABLE = "TOOLKERNEL_TEST_CHROMIUM";
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Where a Chromium is; undefined where there is none. */
export const CHROMIUM: string | undefined = [process.env[GIVEN_VARIABLE] ?? "", ...PLACES].find(
  (path) => path !== "" && existsSync(path),
);

/** What a description says where nothing can be run. */
export const WHY_SKIPPED = CHROMIUM === undefined ? " (skipped: there is no Chromium on this machine)" : "";

/** How a page is opened. */
export interface PageOptions {
  readonly colorScheme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
}

/** The pages of one test file. */
export interface Pages {
  /** Opens a page by its URL, or by its markup from a file. */
  open(urlOrHtml: string, options?: PageOptions): Promise<Page>;
}

/** Starts a browser. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? "", args: FLAGS });
}

/** Starts a browser for all tests of a file, and closes and judges the pages of each. */
export function useChromium(): Pages {
  let browser: Browser | undefined;
  let folder = "";
  const faults: string[] = [];
  const pages: Page[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
    folder = await mkdtemp(join(tmpdir(), "toolkernel-page-"));
  }, 60_000);
  afterEach(async () => {
    await Promise.all(pages.splice(0).map((page) => page.context().close()));
    expect(faults.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    async open(urlOrHtml, { colorScheme = "light", width = 1_400, height = 900 } = {}) {
      if (browser === undefined) throw new Error("no browser runs");
      const url = urlOrHtml.startsWith("http") ? urlOrHtml : await writePage(join(folder, "page.html"), urlOrHtml);
      const context = await browser.newContext({ colorScheme, viewport: { width, height } });
      const page = await context.newPage();
      pages.push(page);
      await watch(page, new URL(url), faults);
      await page.goto(url);
      return page;
    },
  };
}

async function writePage(path: string, html: string): Promise<string> {
  await writeFile(path, html);
  return pathToFileURL(path).href;
}

async function watch(page: Page, own: URL, faults: string[]): Promise<void> {
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  await page.route("**/*", async (route) => {
    const url = new URL(route.request().url());
    const isOwn =
      url.protocol === "data:" || (own.protocol === "file:" ? url.href === own.href : url.origin === own.origin);
    if (isOwn) {
      await route.continue();
      return;
    }
    faults.push(`request: ${url.href}`);
    await route.abort();
  });
}
