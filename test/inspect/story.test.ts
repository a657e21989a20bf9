import { createToolSession, defineTool, type KernelEvent } from "toolkernel";
import { readRecording } from "toolkernel/inspect";
import { describe, expect, it } from "vitest";
import { Story } from "../../src/inspect/story/run-story.ts";
import { manyCalls, type PlannedCall, type PlayOptions, playBatches } from "./play-batches.ts";

async function storyOf(batches: readonly (readonly PlannedCall[])[], options: PlayOptions = {}): Promise<Story> {
  return Story.of(readRecording(await playBatches(batches, options)).entries);
}

describe("the story of a run", () => {
  it("EPOCH-2: has every call in its epoch, with what it waited for and how it ended", async () => {
    const story = await storyOf([
      [
        { tool: "edit", keys: ["a"], ms: 20 },
        { tool: "edit", keys: ["a"], ms: 10, ends: "fails" },
        { tool: "shell", keys: ["b"], ms: 30 },
        { tool: "unknown" },
      ],
    ]);
    const [batch] = story.runs[0]?.batches ?? [];
    const facts = batch?.calls.map(({ toolName, epoch, lanes, waits, durationMs, outcome }) => ({
      toolName,
      epoch,
      lanes,
      waits,
      durationMs,
      outcome,
    }));
    expect(facts).toEqual([
      { toolName: "edit", epoch: 0, lanes: [0], waits: waited(0, 0, 0), durationMs: 20, outcome: "succeeded" },
      { toolName: "edit", epoch: 0, lanes: [0], waits: waited(0, 20, 0), durationMs: 10, outcome: "failed" },
      { toolName: "shell", epoch: 1, lanes: [1], waits: waited(30, 0, 0), durationMs: 30, outcome: "succeeded" },
      { toolName: "unknown", epoch: undefined, lanes: [], waits: undefined, durationMs: undefined, outcome: "refused" },
    ]);
    expect(batch?.epochs.map(({ epoch, startedAtMs, settledAtMs = 0 }) => [epoch, settledAtMs - startedAtMs])).toEqual([
      [0, 30],
      [1, 30],
    ]);
  });

  it("UNC-2: names the uncertain write that held a call back", async () => {
    const story = await storyOf([
      [
        { tool: "edit", keys: ["a"], ends: "loses" },
        { tool: "edit", keys: ["a"] },
      ],
    ]);
    const calls = story.runs[0]?.batches[0]?.calls.map(({ outcome, blockedBy }) => [outcome, blockedBy]);
    expect(calls).toEqual([
      ["uncertain", undefined],
      ["blocked", "c0"],
    ]);
  });

  it("has every chart where it is, and where it came from", async () => {
    const story = await storyOf([[{ tool: "read" }]]);
    const actors = [...(story.runs[0]?.actors.values() ?? [])];
    expect(actors.map(({ id, from, last }) => [id, from, last?.event, last?.state])).toEqual([
      ["batch:1", "runningEpoch", "EPOCH_SETTLED", "settled"],
      ["call:1:0", "finishing.succeeded", "FINISHED", "succeeded"],
      ["epoch:1:0", "running", "CALL_SETTLED", "settled"],
    ]);
  });

  it("is the same whether it is told at once or entry by entry", async () => {
    const { entries } = readRecording(await playBatches(manyCalls(60), { arguments: true, results: true }));
    const grown = new Story();
    for (const entry of entries) grown.add(entry);
    expect(grown.runs).toEqual(Story.of(entries).runs);
    expect(grown.runs[0]?.batches.map(({ calls }) => calls.length)).toEqual([50, 10]);
    expect(grown.runs[0]?.batches[0]?.calls[0]?.arguments?.text).toBe('{"keys":["file-0"],"ms":5}');
  });

  it("keeps runs apart that are told at the same time", async () => {
    const one = readRecording(await playBatches([[{ tool: "read" }]], { runId: "one" })).entries;
    const two = readRecording(await playBatches([[{ tool: "edit" }]], { runId: "two" })).entries;
    const mixed = one.flatMap((entry, index) => [entry, ...two.slice(index, index + 1)]);
    const tools = Story.of([...mixed, ...two.slice(one.length)]).runs.map(({ runId, batches }) => [
      runId,
      batches.flatMap(({ calls }) => calls.map(({ toolName }) => toolName)),
    ]);
    expect(tools).toEqual([
      ["one", ["read"]],
      ["two", ["edit"]],
    ]);
  });

  it("OBS-3: of live events numbers the keys itself, and does not keep them", async () => {
    const tool = defineTool({
      name: "edit",
      description: "Edits.",
      inputSchema: { type: "object" },
      conflictKey: () => ["left", "right"],
      execute: () => 1,
    });
    const session = createToolSession({ tools: [tool] });
    const events: KernelEvent[] = [];
    for await (const event of session.execute([{ name: "edit" }])) events.push(event);
    await session.close();
    const story = new Story();
    for (const event of events) story.addEvent(event);
    const [call] = story.runs[0]?.batches[0]?.calls ?? [];
    expect([call?.lanes, call?.conflictKeys]).toEqual([[0, 1], undefined]);
  });

  it("has keys where the recording has them", async () => {
    const story = await storyOf([[{ tool: "edit", keys: ["left"] }]], { conflictKeys: true });
    const [call] = story.runs[0]?.batches[0]?.calls ?? [];
    expect([call?.lanes, call?.conflictKeys]).toEqual([[0], ["left"]]);
  });
});

function waited(barrierMs: number, keyMs: number, queueMs: number): object {
  return { barrierMs, keyMs, queueMs };
}
