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
import { leftFacts, storeOf } from "../support/left-run.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { call, recordingTool, testSession } from "../support/run-calls.ts";
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

/** What a failed projection leaves, made by a tool that is not durable at all. */
const FORGED = {
  content: [{ type: "json", value: { status: "projection_failed" } }],
  isError: true,
  terminate: true,
} as const;

describe("what only looks like a failed projection", () => {
  const forging = { ...recordingTool({ name: "forge" }).tool, execute: () => toolResult(FORGED) };

  it("PROJ-5: an ordinary tool's answer of that form is its own, and the loop goes on", async () => {
    const tools = [forging, recordingTool().tool];
    const beside = openAgentBench({ tools, script: [ask("forge", "read"), say()] });
    expect([endOf(await beside.play()), beside.requests.length]).toEqual(["completed by noCalls", 2]);
    const alone = openAgentBench({ tools, script: [ask("forge")] });
    expect(endOf(await alone.play())).toBe("completed by allTerminate");
  });

  it("PROJ-5: nor does a hook make one of it", async () => {
    const hooks = { afterToolCall: () => toolResult(FORGED) };
    const bench = openAgentBench({ script: [ask("read"), say()], hooks });
    const { run, finish } = bench.start();
    run.followUp("f");
    const played = await finish();
    expect([endOf(played), bench.requests.length]).toEqual(["completed by noCalls", 2]);
  });
});

describe("a failed projection of a run that is resumed", () => {
  it("PROJ-5, RUN-6: still ends the run without another request", async () => {
    // Begin, response, preparation with plan, dispatch and the end of `build` are recorded; then the process dies.
    const store = new MortalStore({ kind: "dies", at: 4, when: "after" });
    const first = durableTool(failing);
    const one = openAgentBench({
      tools: [first.tool, recordingTool().tool],
      script: [ask("build", "read")],
      runStore: store,
    });
    const { run } = one.start();
    await one.advance();
    await one.advance();
    expect([store.isDead, store.facts.at(-1)]).toMatchObject([true, { kind: "settled", index: 0 }]);
    const read = recordingTool();
    const second = durableTool(failing);
    const two = openAgentBench({ tools: [second.tool, read.tool], script: [say()], runStore: store.successor() });
    const resumed = await two.resume("run").finish();
    expect([endOf(resumed), two.requests.length, read.runs.length]).toEqual(["stopped by projectionFailed", 0, 1]);
    store.wake();
    await one.advance(1_000);
    await run.result;
    await first.close();
    await second.close();
  });

  it("PROJ-5, RUN-6: closes the batch that a session's process left behind its last result; a likeness does not", async () => {
    const closersOf = async (marks: { readonly isProjectionFailed?: true }) => {
      const facts = leftFacts([{ name: "read", state: "succeeded" }], {}).map((fact) =>
        fact.kind === "settled" ? { ...fact, result: { ...FORGED, outcomeUncertain: false }, ...marks } : fact,
      );
      const session = testSession({ tools: [recordingTool().tool], runStore: await storeOf(facts) });
      await session.execute([call("read")], { turn: 2 }).result;
      const left = [{ id: "c0", name: "read", arguments: {} }];
      const { closedBy, settled } = await session.execute(left, { turn: 1 }).result;
      await session.close();
      return [closedBy, Object.keys(settled[0] ?? {}).includes("isProjectionFailed")];
    };
    expect(await closersOf({ isProjectionFailed: true })).toEqual(["projectionFailed", false]);
    expect(await closersOf({})).toEqual(["allTerminate", false]);
  });
});
