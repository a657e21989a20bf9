import { createToolSession, defineTool, type ToolContext } from "toolkernel";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const HOUR_MS = 3_600_000;
const TIMEOUT_MS = 1_000;
const JUMPS_MS = [HOUR_MS, -HOUR_MS];

beforeEach(() => {
  vi.useFakeTimers({ now: 10 * HOUR_MS, toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Sets the platform's clock to another time; the time that passes goes on as it did. */
function jump(byMs: number): void {
  vi.setSystemTime(Date.now() + byMs);
}

/** A session on the platform's clock with one write that ends when it is told to, and at no signal. */
function openSession() {
  const contexts: ToolContext[] = [];
  const ends: ((answer: string) => void)[] = [];
  const write = defineTool({
    name: "write",
    description: "Writes.",
    inputSchema: { type: "object" },
    conflictKey: () => "k",
    execute: (_args: object, context: ToolContext) => {
      contexts.push(context);
      return new Promise<string>((resolve) => ends.push(resolve));
    },
  });
  const limits = { toolTimeoutMs: TIMEOUT_MS, cancellationGraceMs: 100, abandonAfterMs: 10_000 };
  return { contexts, ends, session: createToolSession({ tools: [write], limits, toolExecution: "parallel" }) };
}

describe("a platform whose clock is set to another time", () => {
  it.each(JUMPS_MS)("CAN-3: by %i ms while a call runs still gives it its time, and no more", async (ms) => {
    const { session, contexts } = openSession();
    const batch = session.execute([{ id: "a", name: "write", arguments: "{}" }]);
    await vi.advanceTimersByTimeAsync(0);
    jump(ms);
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS - 1);
    expect(contexts[0]?.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(contexts[0]?.signal.reason).toMatchObject({ name: "TimeoutError" });
    await vi.advanceTimersByTimeAsync(100);
    const [settled] = (await batch.result).settled;
    expect(settled?.outcome).toBe("uncertain");
    await session.close();
  });

  it.each(JUMPS_MS)("EPOCH-8: by %i ms neither ends nor prolongs what an abandoned write keeps back", async (ms) => {
    const { session, contexts } = openSession();
    const first = session.execute([{ id: "a", name: "write", arguments: "{}" }]);
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS + 100);
    await first.result;
    jump(ms);
    const second = session.execute([{ id: "b", name: "write", arguments: "{}" }]);
    await vi.advanceTimersByTimeAsync(9_899);
    expect(contexts.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(contexts.length).toBe(2);
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS + 100);
    await second.result;
    await session.close();
  });

  it.each(JUMPS_MS)("OBS-1: by %i ms tells of waits as long as they were", async (ms) => {
    const { session, ends } = openSession();
    const batch = session.execute(["a", "b"].map((id) => ({ id, name: "write", arguments: "{}" })));
    const waits: number[] = [];
    batch.subscribe((event) => {
      if (event.kind === "toolDispatched") waits.push(event.waitedMs);
    });
    await vi.advanceTimersByTimeAsync(0);
    jump(ms);
    await vi.advanceTimersByTimeAsync(500);
    for (const end of ends) end("done");
    await vi.advanceTimersByTimeAsync(0);
    for (const end of ends) end("done");
    await batch.result;
    expect(waits).toEqual([0, 500]);
    await session.close();
  });
});
