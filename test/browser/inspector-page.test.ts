import { type Recording, readRecording, type TransitionEntry, writeInspectorPage } from "toolkernel/inspect";
import { describe, expect, it } from "vitest";
import { manyCalls, type PlannedCall, playBatches } from "../inspect/play-batches.ts";
import { CHROMIUM, useChromium, WHY_SKIPPED } from "./chromium.ts";
import { contrasts } from "./contrast.ts";

const PLAYED: readonly (readonly PlannedCall[])[] = [
  [
    { tool: "read", ms: 20 },
    { tool: "edit", keys: ["a"], ms: 30 },
    { tool: "edit", keys: ["a"], ends: "loses" },
    { tool: "edit", keys: ["a"] },
    { tool: "shell", keys: ["b"] },
  ],
  [{ tool: "read" }],
];

function transitionsOf(recording: Recording, id: string): readonly TransitionEntry[] {
  const actor = recording.entries.find((entry) => entry.type === "actor" && entry.id === id);
  return recording.entries.filter(
    (entry): entry is TransitionEntry =>
      entry.type === "transition" && actor?.type === "actor" && entry.actor === actor.actor,
  );
}

describe.skipIf(CHROMIUM === undefined)(`the inspector page of a recording${WHY_SKIPPED}`, () => {
  const pages = useChromium();

  it("shows where the chart is after each of its events", async () => {
    const recording = readRecording(await playBatches(PLAYED));
    const page = await pages.open(writeInspectorPage(recording));
    await page.locator("#show-events").uncheck();
    await page.locator("#search").fill("1.2");
    const steps = transitionsOf(recording, "call:1:2");
    expect(steps.length).toBeGreaterThan(10);
    await page.locator("#log").focus();
    await page.keyboard.press("Home");
    for (const { state, event } of steps) {
      await page.keyboard.press("ArrowDown");
      await expect.poll(() => page.locator(".is-active").getAttribute("data-state")).toBe(`toolCall.${state}`);
      const words = page.locator("#chart-words");
      const expected = event === "xstate.init" ? `${state}, where it begins` : new RegExp(`${state} by ${event}$`);
      await expect.poll(() => words.textContent()).toMatch(expected);
    }
    expect(await page.locator("#chart-title").textContent()).toBe("call #2 edit");
  });

  it("marks the way that the chart has taken", async () => {
    const page = await pages.open(writeInspectorPage(readRecording(await playBatches(PLAYED))));
    await page.locator("#search").fill("1.0 admitted");
    await page.locator(".line").first().click();
    const taken = page.locator(".is-taken");
    await expect.poll(() => taken.count()).toBe(1);
    const ends = await taken.evaluate((edge) => [edge.getAttribute("data-from"), edge.getAttribute("data-to")]);
    expect(ends).toEqual(["toolCall.laneWaiting", "toolCall.running"]);
  });

  it("shows the whole tree as of the chosen moment, and the newest again on demand", async () => {
    const page = await pages.open(writeInspectorPage(readRecording(await playBatches(PLAYED))));
    const states = (): Promise<string[]> => page.locator('[data-key*="/call:1:"] .state').allTextContents();
    expect(await states()).toEqual(["succeeded", "succeeded", "uncertain", "blocked", "succeeded"]);
    await page.locator("#search").fill("1.0 admitted");
    await page.locator(".line").first().click();
    await expect.poll(states).toEqual(["running", "laneWaiting", "laneWaiting", "laneWaiting", "barrierWaiting"]);
    await page.locator("#latest").click();
    await expect.poll(states).toEqual(["succeeded", "succeeded", "uncertain", "blocked", "succeeded"]);
  });

  it("finds entries by any of their words, and says how many", async () => {
    const recording = readRecording(await playBatches(PLAYED));
    const page = await pages.open(writeInspectorPage(recording));
    await page.locator("#search").fill("ended uncertain");
    await expect.poll(() => page.locator("#found").textContent()).toBe(`1 of ${recording.entries.length} entries`);
    expect(await page.locator(".line").allTextContents()).toEqual([
      expect.stringContaining("#2 edit uncertain (internal)"),
    ]);
    await page.locator("#search").fill("no such thing");
    await expect.poll(() => page.locator("#found").textContent()).toBe(`0 of ${recording.entries.length} entries`);
    expect(await page.locator(".line").count()).toBe(0);
  });

  it("is driven by keys alone: tree, tabs, timeline, details", async () => {
    const page = await pages.open(writeInspectorPage(readRecording(await playBatches(PLAYED))));
    await page.locator("#tree [tabindex='0']").focus();
    for (const key of ["Home", "ArrowDown", "ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await expect.poll(() => page.locator("#chart-title").textContent()).toBe("call #0 read");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => page.locator('[data-key$="/epoch:1:0"]').getAttribute("aria-expanded")).toBe("false");
    expect(await page.locator('[data-key*="/call:1:0"]').count()).toBe(0);
    await page.locator("#tab-chart").focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => page.locator("#timeline [data-call]").count()).toBe(6);
    await page.locator("#timeline [data-call][tabindex='0']").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("#panel h2").textContent()).toBe("✓#1 edit");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator("#panel").isVisible()).toBe(false);
  });

  it("shows 500 calls: in the tree, in the timeline, in the log", async () => {
    const recording = readRecording(await playBatches(manyCalls(500)));
    const page = await pages.open(writeInspectorPage(recording));
    expect(await page.locator('[data-key*="/call:"]').count()).toBe(500);
    await page.locator("#tab-timeline").click();
    await expect.poll(() => page.locator("#timeline [data-call]").count()).toBe(500);
    await page.locator("#log").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("End");
    await expect.poll(() => page.locator(`#line-${recording.entries.length - 1}`).isVisible()).toBe(true);
    expect(await page.locator(".line").count()).toBeLessThan(100);
  });

  it("says what is missing where only events were recorded", async () => {
    const text = await playBatches([[{ tool: "read" }]]);
    const events = text.split("\n").filter((line) => !line.includes('"inspect.'));
    const page = await pages.open(writeInspectorPage(readRecording(events.join("\n"))));
    expect(await page.locator('[data-key*="/call:1:0"] .state').textContent()).toBe("succeeded");
    expect(await page.locator("#chart").textContent()).toContain("No chart is recorded for this.");
  });

  it.each(["light", "dark"] as const)("can be read in %s surroundings", async (colorScheme) => {
    const page = await pages.open(writeInspectorPage(readRecording(await playBatches(PLAYED))), { colorScheme });
    await page.locator('[data-key$="/call:1:2"]').click();
    await page.locator("#details").click();
    expect((await contrasts(page)).filter(({ ratio }) => ratio < 4.5)).toEqual([]);
    await page.locator("#tab-timeline").click();
    await expect.poll(() => page.locator("#timeline [data-call]").count()).toBe(6);
    expect((await contrasts(page)).filter(({ ratio }) => ratio < 4.5)).toEqual([]);
  });

  it("runs nothing that stands in a recording", async () => {
    const name = "</script><img src=x onerror=document.title='hit'>";
    const text = (await playBatches([[{ tool: "read" }]])).replaceAll('"read"', JSON.stringify(name));
    const page = await pages.open(writeInspectorPage(readRecording(text), { title: name }));
    await page.locator("#tab-timeline").click();
    await page.locator("#timeline [data-call]").first().click();
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.locator("#panel h2").textContent()).toBe(`✓#0 ${name}`);
  });
});
