import {
  createToolSession,
  GameActionDispatcher,
  type GameActionIntent,
  GameActionReceipt,
  GameActionTool,
  memoryJournal,
} from "toolkernel";
import { readRecording, recordRun, writeInspectorPage } from "toolkernel/inspect";
import { describe, expect, it } from "vitest";
import { type PlannedCall, playBatches } from "../inspect/play-batches.ts";
import { CHROMIUM, useChromium, WHY_SKIPPED } from "./chromium.ts";

const PLAYED: readonly (readonly PlannedCall[])[] = [
  [
    { tool: "read", ms: 20 },
    { tool: "edit", keys: ["a"], ms: 30 },
    { tool: "edit", keys: ["a"] },
  ],
];

/** Two durable actions, of which the second is lost, and found out about afterwards. */
async function recordActions(): Promise<string> {
  const lines: string[] = [];
  const journal = memoryJournal();
  const build = GameActionTool.create({
    name: "build",
    description: "Builds.",
    inputSchema: { type: "object" },
    input: { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "main", tick: 1 } },
    dispatcher: new GameActionDispatcher({
      journal,
      handler: {
        execute: async (intent: GameActionIntent) => {
          if (intent.arguments.plot === 2) throw new Error("the line broke");
          return GameActionReceipt.committed(intent, "built");
        },
      },
    }),
  });
  const { telemetry, inspect } = recordRun((line) => lines.push(line));
  const session = createToolSession({ tools: [build], runId: "demo", telemetry, inspect });
  const calls = [1, 2].map((plot) => ({ id: `c${plot}`, name: "build", arguments: { plot } }));
  await session.execute(calls).result;
  await session.resolveUncertain("c2", { status: "committed", details: { seenBy: "somebody" } });
  await session.close();
  await journal.close();
  return lines.join("");
}

describe.skipIf(CHROMIUM === undefined)(`the views of the inspector page${WHY_SKIPPED}`, () => {
  const pages = useChromium();

  it("show the chart of a call's durable action, in the state of its receipt, as of the chosen moment", async () => {
    const page = await pages.open(writeInspectorPage(readRecording(await recordActions())));
    const active = page.locator(".is-active");
    await page.locator('[data-key$="/call:1:0"]').click();
    await page.locator("#action").click();
    await expect.poll(() => active.getAttribute("data-state")).toBe("action.committed");
    expect(await page.locator("#chart-words").textContent()).toBe("durable action: committed, executed");
    await page.locator('[data-key$="/call:1:1"]').click();
    await expect.poll(() => page.locator(".is-taken").getAttribute("data-from")).toBe("action.uncertain");
    expect(await active.getAttribute("data-state")).toBe("action.committed");
    expect(await page.locator("#chart-words").textContent()).toContain("committed, executed, resolved later");
    await page.locator("#search").fill("1.1 toolended");
    await page.locator(".line").first().click();
    await expect.poll(() => active.getAttribute("data-state")).toBe("action.uncertain");
    expect(await page.locator(".is-taken").getAttribute("data-from")).toBe("action.dispatched");
    await page.locator("#action").click();
    await expect.poll(() => active.getAttribute("data-state")).toMatch(/^toolCall\./);
  });

  it("show the timeline nearer and farther, with its waiting parts or without, the chosen call marked", async () => {
    const page = await pages.open(writeInspectorPage(readRecording(await playBatches(PLAYED))));
    await page.locator('[data-key$="/call:1:2"]').click();
    await page.locator("#tab-timeline").click();
    const width = async (): Promise<number> => (await page.locator(".tl-body").boundingBox())?.width ?? 0;
    const before = await width();
    expect(
      await page.locator(".tl-open").evaluateAll((bars) => bars.map((bar) => bar.getAttribute("data-call"))),
    ).toEqual(["demo/1/2"]);
    await page.locator("#wider").click();
    await page.locator("#wider").click();
    expect(await width()).toBeGreaterThan(before * 1.8);
    await page.locator("#narrower").click();
    await page.locator("#narrower").click();
    expect(await width()).toBeCloseTo(before, 0);
    expect(await page.locator("#waiting").isChecked()).toBe(true);
    expect(await page.locator(".tl-wait-key").count()).toBe(1);
    await page.locator("#waiting").uncheck();
    expect(await page.locator(".tl-wait-key").count()).toBe(0);
  });
});
