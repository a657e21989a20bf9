import { readRecording, timelineReport } from "toolkernel/inspect";
import { describe, expect, it } from "vitest";
import { manyCalls, type PlannedCall, playBatches } from "../inspect/play-batches.ts";
import { CHROMIUM, useChromium, WHY_SKIPPED } from "./chromium.ts";
import { contrasts } from "./contrast.ts";

const PLAYED: readonly (readonly PlannedCall[])[] = [
  [
    { tool: "read", ms: 20 },
    { tool: "edit", keys: ["a"], ms: 30, ends: "fails" },
    { tool: "edit", keys: ["b"], ends: "loses" },
    { tool: "edit", keys: ["b"] },
    { tool: "unknown" },
  ],
];

describe.skipIf(CHROMIUM === undefined)(`the timeline report${WHY_SKIPPED}`, () => {
  const pages = useChromium();

  it("shows what is known of a call on click, its arguments and result where they were recorded", async () => {
    const recording = readRecording(await playBatches(PLAYED, { arguments: true, results: true }));
    const page = await pages.open(timelineReport(recording));
    await page.locator('[data-call$="/1/2"]').click();
    const panel = page.locator("#panel");
    expect(await panel.locator("h2").textContent()).toBe("?#2 edit");
    expect(await panel.locator("dl").textContent()).toContain("outcomeuncertain");
    const [given, result] = await panel.locator("pre").allTextContents();
    expect(JSON.parse(given ?? "")).toEqual({ keys: ["b"], ms: 10, ends: "loses" });
    expect(JSON.parse(result ?? "")).toMatchObject({ outcomeUncertain: true });
    await panel.locator(".close").click();
    expect(await panel.isVisible()).toBe(false);
  });

  it("is driven by keys: one stop for tab, arrows between calls, enter for details, escape back", async () => {
    const page = await pages.open(timelineReport(readRecording(await playBatches(PLAYED))));
    expect(await page.locator(".tl-scroll [tabindex='0']").count()).toBe(1);
    await page.locator(".tl-scroll [tabindex='0']").focus();
    for (const key of ["Home", "ArrowRight", "ArrowDown", "ArrowLeft", "Enter"]) await page.keyboard.press(key);
    expect(await page.locator("#panel h2").textContent()).toBe("✕#1 edit");
    await page.keyboard.press("Escape");
    expect(await page.locator("#panel").isVisible()).toBe(false);
    expect(await page.evaluate("document.activeElement?.dataset.call")).toBe("demo/1/1");
  });

  it("finds calls by tool, id, lane and outcome, and says how many", async () => {
    const page = await pages.open(timelineReport(readRecording(await playBatches(PLAYED))));
    for (const [search, count] of [
      ["edit", 3],
      ["c4", 1],
      ["blocked", 1],
      ["lane 1", 2],
      ["", 5],
    ] as const) {
      await page.locator("#search").fill(search);
      expect(await page.locator("[data-call]:not(.tl-dim)").count()).toBe(count);
      expect(await page.locator("#found").textContent()).toBe(search === "" ? "" : `${count} found`);
    }
  });

  it("brings what is found into view, and leads through it by keys", async () => {
    const page = await pages.open(timelineReport(readRecording(await playBatches(manyCalls(500)))));
    const left = (): Promise<unknown> => page.evaluate("document.querySelector('.tl-scroll').scrollLeft");
    const focused = (): Promise<unknown> => page.evaluate("document.activeElement?.dataset.call");
    expect(await left()).toBe(0);
    await page.locator("#search").fill("c38");
    expect(await page.locator("[data-call]:not(.tl-dim)").count()).toBe(10);
    const keys = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((turn) => `demo/${turn}/38`);
    await page.keyboard.press("Enter");
    expect(await focused()).toBe(keys[0]);
    for (const key of keys.slice(1)) {
      await page.keyboard.press("ArrowRight");
      expect(await focused()).toBe(key);
    }
    expect(await left()).toBeGreaterThan(1_000);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Home");
    expect(await focused()).toBe(keys[0]);
  });

  it("shows 500 calls within reach, and the waiting parts when asked", async () => {
    const page = await pages.open(timelineReport(readRecording(await playBatches(manyCalls(500)))));
    expect(await page.locator("[data-call]").count()).toBe(500);
    expect(await page.locator(".tl-wait-key").count()).toBe(0);
    await page.locator("#waiting").check();
    expect(await page.locator(".tl-wait-key").count()).toBeGreaterThan(50);
    const before = (await page.locator(".tl-body").boundingBox())?.width ?? 0;
    await page.locator("#wider").click();
    expect((await page.locator(".tl-body").boundingBox())?.width).toBeGreaterThan(before);
    await page.locator("[data-call]").last().focus();
    await expect.poll(() => page.locator("[data-call]").last().isVisible()).toBe(true);
  });

  it.each(["light", "dark"] as const)("can be read in %s surroundings", async (colorScheme) => {
    const page = await pages.open(timelineReport(readRecording(await playBatches(PLAYED))), { colorScheme });
    await page.locator('[data-call$="/1/2"]').click();
    const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(ground).toBe(colorScheme === "light" ? "rgb(245, 246, 249)" : "rgb(12, 17, 26)");
    const weak = (await contrasts(page)).filter(({ ratio }) => ratio < 4.5);
    expect(weak).toEqual([]);
  });
});
