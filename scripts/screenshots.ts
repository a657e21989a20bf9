/**
 * `npm run screenshots`: takes the pictures of the pages that the README shows, with a Chromium of this
 * machine. The run in them is played on simulated time, so that the pictures change only when the pages do.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { readRecording, timelineReport, writeInspectorPage } from "toolkernel/inspect";
import { launchChromium } from "../test/browser/chromium.ts";
import { type PlannedCall, playBatches } from "../test/inspect/play-batches.ts";
import { ROOT } from "../test/support/syntax.ts";

const FOLDER = "visualizations/screenshots";
const CANCEL_AFTER_MS = 400;
const PLAYED: readonly (readonly PlannedCall[])[] = [
  [
    { tool: "read", keys: ["file:app.ts"], ms: 40 },
    { tool: "read", ms: 60 },
    { tool: "edit", keys: ["file:app.ts"], ms: 35 },
    { tool: "edit", keys: ["file:app.ts"], ms: 30 },
    { tool: "edit", keys: ["file:app.ts", "file:ui.ts"], ms: 25 },
    { tool: "edit", keys: ["file:style.css"], ms: 45, ends: "fails" },
    { tool: "shell", ms: 120 },
    { tool: "read", keys: ["file:ui.ts"], ms: 30 },
    { tool: "read", ms: 45 },
    { tool: "unknown" },
  ],
  [
    { tool: "edit", keys: ["order:17"], ms: 50, ends: "loses" },
    { tool: "edit", keys: ["order:17"], ms: 30 },
    { tool: "edit", keys: ["order:18"], ms: 60 },
    { tool: "shell", ms: 40 },
    { tool: "read", ms: 50 },
  ],
  [
    { tool: "read", ms: 35 },
    { tool: "shell", keys: ["deploy"], ms: 900 },
    { tool: "shell", keys: ["mail"], ms: 30 },
  ],
];

const recording = readRecording(
  await playBatches(PLAYED, { conflictKeys: true, results: true, arguments: true, cancelAfterMs: CANCEL_AFTER_MS }),
);
mkdirSync(ROOT + FOLDER, { recursive: true });
const browser = await launchChromium();
for (const scheme of ["light", "dark"] as const) {
  await shoot(browser, `timeline-${scheme}`, timelineReport(recording, { title: "Three responses" }), showWhole);
  await shoot(browser, `inspector-${scheme}`, writeInspectorPage(recording, { title: "Three responses" }), showMoment);
}
await browser.close();

async function shoot(
  shooting: Browser,
  name: string,
  html: string,
  prepare: (page: Page) => Promise<void>,
): Promise<void> {
  const colorScheme = name.endsWith("dark") ? "dark" : "light";
  const viewport = { width: 1_280, height: name.startsWith("timeline") ? 700 : 760 };
  const context = await shooting.newContext({ colorScheme, viewport, deviceScaleFactor: 1.5 });
  const page = await context.newPage();
  await page.setContent(html);
  await prepare(page);
  writeFileSync(`${ROOT}${FOLDER}/${name}.png`, await page.screenshot());
  await context.close();
}

async function showWhole(page: Page): Promise<void> {
  await page.waitForFunction("document.querySelector('.scripted') !== null");
}

async function showMoment(page: Page): Promise<void> {
  await page.locator("#search").fill("1.3 admitted");
  await page.locator(".line").first().click();
  await page.locator("#search").fill("");
  await page.locator("#search").blur();
  await page.waitForFunction("document.querySelector('.is-active') !== null");
}
