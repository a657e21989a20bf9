import { createToolSession } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { trackedClock, trackedSignal } from "../support/tracked.ts";

describe("a session under a test's control", () => {
  it("CAN-2, CAN-3: runs by the simulated clock, and an abandoned call can still be ended late", async () => {
    const { clock, advance } = trackedClock();
    const tool = controllableTool({ name: "send", timeoutMs: 100 });
    const session = createToolSession({ tools: [tool], clock, limits: { cancellationGraceMs: 10 } });
    const kinds: string[] = [];
    const batch = session.execute([{ id: "a", name: "send", arguments: "{}" }], { signal: trackedSignal().signal });
    batch.subscribe((event) => kinds.push(event.kind));
    await advance(99);
    expect(tool.pending.map(({ signal }) => signal.aborted)).toEqual([false]);
    await advance(1);
    expect(tool.pending.map(({ signal }) => signal.aborted)).toEqual([true]);
    await advance(10);
    const { settled } = await batch.result;
    expect(settled.map(({ outcome, result }) => [outcome, result.failureCategory])).toEqual([["uncertain", "timeout"]]);
    tool.pending[0]?.resolve("late");
    await session.close();
    expect(kinds).toEqual([
      "toolStarted",
      "toolPrepared",
      "epochStarted",
      "toolDispatched",
      "toolEnded",
      "epochSettled",
    ]);
  });
});
