import { createToolSession, defineTool, memoryRunStore, type RunStore } from "toolkernel";
import { readRecording, recordRun, timelineReport } from "toolkernel/inspect";
import { assertOrder } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { Story } from "../../src/inspect/story/run-story.ts";
import { trackedClock } from "../support/tracked.ts";

const CALLS = ["one", "two", "one"].map((item, index) => ({ id: `c${index}`, name: "take", arguments: { item } }));

/** A process that records what it does with the run: it asks for every call, or goes on with the answers. */
function openProcess(runStore: RunStore) {
  const lines: string[] = [];
  const { clock } = trackedClock();
  const recorder = recordRun((line) => lines.push(line), { conflictKeys: true, clock });
  const take = defineTool({
    name: "take",
    description: "Takes.",
    inputSchema: { type: "object", properties: { item: { type: "string" } } },
    executionMode: "parallel",
    conflictKey: ({ item }) => String(item),
    execute: () => "taken",
  });
  const session = createToolSession({
    tools: [take],
    runId: "run",
    runStore,
    clock,
    telemetry: recorder.telemetry,
    inspect: recorder.inspect,
    hooks: { authorizeToolCall: () => ({ ask: { about: "taking" } }) },
  });
  return { session, text: () => lines.join("") };
}

describe("the recording of a process that goes on with a run", () => {
  it("RUN-6, OBS-3: has the lanes and keys of the calls that another process has prepared", async () => {
    const runStore = memoryRunStore();
    const first = openProcess(runStore);
    const { approvals = [] } = await first.session.execute(CALLS).result;
    await first.session.close();
    const second = openProcess(runStore);
    const granted = Object.fromEntries(approvals.map(({ approvalId }) => [approvalId, true] as const));
    const { settled } = await second.session.execute(CALLS, { turn: 1, approvals: granted }).result;
    await second.session.close();

    expect(settled.map(({ outcome }) => outcome)).toEqual(["succeeded", "succeeded", "succeeded"]);
    const recording = readRecording(second.text());
    const calls = Story.of(recording.entries).runs.flatMap(({ batches }) => batches.flatMap(({ calls }) => calls));
    expect(calls.map(({ lanes, conflictKeys }) => [lanes, conflictKeys])).toEqual([
      [[0], ["one"]],
      [[1], ["two"]],
      [[0], ["one"]],
    ]);
    expect(timelineReport(recording)).toMatch(/lane 0/);
    const events = recording.entries.flatMap((entry) => (entry.type === "event" ? [entry.event] : []));
    expect(events.map(({ kind }) => kind)).not.toContain("toolStarted");
    assertOrder(events);
  });
});
