import type { KernelEvent } from "toolkernel";
import { describe, expect, it } from "vitest";
import { call, recordingTool, testSession } from "../support/run-calls.ts";

/** Tries to change an event and everything in it; answers how often it was let. */
function spoil(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let spoiled = 0;
  for (const [name, inner] of Object.entries(value)) {
    spoiled += spoil(inner);
    spoiled += Reflect.set(value, name, "spoiled") ? 1 : 0;
  }
  return spoiled + (Reflect.set(value, "more", 1) ? 1 : 0);
}

describe("OBS-1: events", () => {
  it("come to every listener and reader as they were emitted, whatever another does with them", async () => {
    const { tool } = recordingTool({ conflictKey: () => "k" });
    const session = testSession({ tools: [tool] });
    const batch = session.execute([call("read", "{}", "a"), call("read", "{}", "b")]);
    let spoiled = 0;
    batch.subscribe((event) => {
      spoiled += spoil(event);
    });
    const told: string[] = [];
    batch.subscribe((event) => {
      told.push(JSON.stringify(event));
    });
    await batch.result;
    const read: KernelEvent[] = [];
    for await (const event of batch) read.push(event);
    expect(spoiled).toBe(0);
    expect(read.length).toBeGreaterThan(5);
    expect(read.map((event) => JSON.stringify(event))).toEqual(told);
    await session.close();
  });
});
