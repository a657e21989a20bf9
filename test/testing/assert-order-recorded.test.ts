import { createToolSession, type KernelEvent, readJsonLines, recordJsonLines } from "toolkernel";
import { assertOrder, controllableTool, simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { ask, callPart, openAgentBench, say } from "../support/agent-bench.ts";

describe("assertOrder", () => {
  it("takes the events of a real run, and the same from a recording, by the numbers of lanes", async () => {
    const lines: string[] = [];
    const bench = openAgentBench({
      script: [ask(callPart("read", "a"), callPart("read", "b")), say()],
      telemetry: recordJsonLines((line) => {
        lines.push(line);
      }),
    });
    const { events } = await bench.play();
    expect(() => assertOrder(events)).not.toThrow();
    const recorded = readJsonLines(lines);
    expect(recorded.length).toBe(events.length);
    expect(() => assertOrder(recorded)).not.toThrow();
    const late = recorded.findIndex(({ kind }) => kind === "toolDispatched");
    const tampered = [...recorded.slice(0, late), ...recorded.slice(late + 1)];
    expect(() => assertOrder(tampered)).toThrow("CAN-4: call 0 (a) has succeeded and was never dispatched");
  });

  it("finds by the numbers of lanes what it finds by keys", async () => {
    const lines: string[] = [];
    const { clock, advance } = simulatedClock();
    const tool = controllableTool({ name: "write", executionMode: "parallel", conflictKey: () => "k" });
    const telemetry = recordJsonLines((line) => {
      lines.push(line);
    });
    const session = createToolSession({ tools: [tool], runId: "run", clock, telemetry });
    const events: KernelEvent[] = [];
    const batch = session.execute([
      { id: "a", name: "write" },
      { id: "b", name: "write" },
    ]);
    batch.subscribe((event) => {
      events.push(event);
    });
    for (let turn = 0; turn < 2; turn += 1) {
      await advance(0);
      tool.pending[0]?.resolve("done");
    }
    await batch.result;
    await session.close();
    const recorded = readJsonLines(lines);
    const withoutEnd = recorded.filter((event) => !(event.kind === "toolEnded" && event.callIndex === 0));
    expect(() => assertOrder(recorded)).not.toThrow();
    expect(() => assertOrder(withoutEnd)).toThrow(
      "EPOCH-4: call 1 (b) was dispatched before call 0 (a), which shares a key, had settled",
    );
  });
});
