import { createToolSession } from "toolkernel";
import { type InspectorServer, serveInspector } from "toolkernel/inspect";
import { controllableTool } from "toolkernel/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { manyCalls, playBatches } from "../inspect/play-batches.ts";
import { CHROMIUM, useChromium, WHY_SKIPPED } from "./chromium.ts";

let server: InspectorServer | undefined;

function served(): InspectorServer {
  if (server === undefined) throw new Error("nothing is served");
  return server;
}

beforeEach(async () => {
  server = await serveInspector({ title: "a run" });
});

afterEach(async () => {
  await server?.close();
});

describe.skipIf(CHROMIUM === undefined)(`the inspector page of a run that goes on${WHY_SKIPPED}`, () => {
  const pages = useChromium();

  it("shows each state as it is reached, and the end", async () => {
    const tool = controllableTool({ name: "edit" });
    const { telemetry, inspect } = served().record();
    const session = createToolSession({ tools: [tool], runId: "live", telemetry, inspect });
    const page = await pages.open(served().url);
    await expect.poll(() => page.locator("#source").textContent()).toBe("● live");
    const batch = session.execute([{ name: "edit" }, { name: "edit" }]);
    const states = (): Promise<string[]> => page.locator('[data-key*="/call:1:"] .state').allTextContents();
    await expect.poll(states).toEqual(["running", "barrierWaiting"]);
    await page.locator('[data-key$="/call:1:1"]').click();
    await expect.poll(() => page.locator(".is-active").getAttribute("data-state")).toBe("toolCall.barrierWaiting");
    tool.pending[0]?.resolve(1);
    await expect.poll(states).toEqual(["succeeded", "running"]);
    await expect.poll(() => page.locator(".is-active").getAttribute("data-state")).toBe("toolCall.running");
    await expect.poll(() => tool.pending.length).toBe(1);
    tool.pending[0]?.resolve(1);
    await batch.result;
    await expect.poll(() => page.locator(".is-active").getAttribute("data-state")).toBe("toolCall.succeeded");
    await session.close();
    await server?.close();
    await expect.poll(() => page.locator("#source").textContent()).toBe("ended");
  });

  it("stays at a chosen moment while more comes, and shows to who comes late all that was", async () => {
    await playBatches([[{ tool: "read" }]], { runId: "first", recorder: served().record() });
    const page = await pages.open(served().url);
    const words = (): Promise<string | null> => page.locator("#moment-words").textContent();
    await expect.poll(words).toMatch(/^entry (\d+) of \1 /);
    await page.locator("#log").focus();
    await page.keyboard.press("Home");
    await expect.poll(words).toMatch(/^entry 1 of /);
    const before = await words();
    await playBatches([[{ tool: "read" }]], { runId: "second", recorder: served().record() });
    await expect.poll(words).not.toBe(before);
    expect(await words()).toMatch(/^entry 1 of /);
    await page.locator("#latest").click();
    await expect
      .poll(() => page.locator('[aria-level="1"] .label').allTextContents())
      .toEqual(["run first", "run second"]);
  });

  it("keeps up with 500 calls", async () => {
    const page = await pages.open(served().url);
    await expect.poll(() => page.locator("#source").textContent()).toBe("● live");
    await playBatches(manyCalls(500), { recorder: served().record() });
    await expect.poll(() => page.locator('[data-key*="/call:"]').count(), { timeout: 15_000 }).toBe(500);
  });
});
