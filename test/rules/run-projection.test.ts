import {
  type AnyTool,
  GameActionDispatcher,
  GameActionReceipt,
  GameActionTool,
  memoryJournal,
  toolResult,
} from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { recordingTool } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

/** A durable action `build` whose receipts a projector shows; what it answers to which plot is the test's. */
function durableTool(project: (plot: unknown) => unknown): { tool: AnyTool; close(): Promise<void> } {
  const journal = memoryJournal();
  const dispatcher = new GameActionDispatcher({
    journal,
    handler: { execute: async (intent) => GameActionReceipt.committed(intent, { built: true }) },
  });
  const tool = GameActionTool.create({
    input: { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "main", tick: 1 } },
    name: "build",
    description: "Builds.",
    inputSchema: { type: "object" },
    dispatcher,
    modelReceiptProjector: ({ intent }) => project(intent.arguments.plot) as never,
  });
  return { tool: tool as unknown as AnyTool, close: () => journal.close() };
}

const failing = (): never => {
  throw new Error("hunter2");
};

describe("a failed projection of a write", () => {
  it("PROJ-5, RUN-2: ends the run without another request, whatever is queued, which comes back", async () => {
    const { tool, close } = durableTool(failing);
    const bench = openAgentBench({ tools: [tool], script: [ask("build"), say()] });
    const { run, finish } = bench.start();
    run.steer("s");
    run.followUp("f");
    const played = await finish();
    expect([endOf(played), bench.requests.length]).toEqual(["stopped by projectionFailed", 1]);
    expect(linesOf(played.result.undelivered)).toEqual(["user s", "user f"]);
    expect(played.result.messages.at(-1)).toMatchObject({
      callId: "build",
      content: [{ type: "json", value: { status: "projection_failed" } }],
      isError: true,
      terminate: true,
      details: { status: "committed" },
    });
    expect(findTranscriptFaults(played.result.messages)).toEqual([]);
    expect(JSON.stringify(played.result.messages)).not.toContain("hunter2");
    await close();
  });

  it("PROJ-5: whatever its siblings returned, who run on", async () => {
    const { tool, close } = durableTool((plot) => (plot === 1 ? failing() : { plot: Number(plot) }));
    const read = recordingTool();
    const stop = { ...recordingTool({ name: "stop" }).tool, execute: () => toolResult({ terminate: true }) };
    const bench = openAgentBench({
      tools: [tool, read.tool, stop],
      script: [
        ask(
          callPart("read", "a"),
          callPart("build", "b", { plot: 1 }),
          callPart("build", "c", { plot: 2 }),
          callPart("stop", "d"),
        ),
        say(),
      ],
    });
    const played = await bench.play();
    expect([endOf(played), bench.requests.length, read.runs.length]).toEqual(["stopped by projectionFailed", 1, 1]);
    expect(
      played.result.messages
        .slice(2)
        .map((message) => message.role === "toolResult" && [message.callId, message.isError]),
    ).toEqual([
      ...[
        ["a", false],
        ["b", true],
        ["c", false],
        ["d", false],
      ],
    ]);
    await close();
  });

  it("PROJ-5: comes before an exact repeat, and is none where the projection holds", async () => {
    const limits = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 2 };
    const repeated = ask(callPart("build", "b"), callPart("build", "c"));
    const failed = durableTool(failing);
    expect(endOf(await openAgentBench({ tools: [failed.tool], script: [repeated], limits }).play())).toBe(
      "stopped by projectionFailed",
    );
    const shown = durableTool(() => ({ done: true }));
    expect(endOf(await openAgentBench({ tools: [shown.tool], script: [repeated], limits }).play())).toBe(
      "stopped by exactToolRepeat",
    );
    await failed.close();
    await shown.close();
  });
});
