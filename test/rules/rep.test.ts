import type { JsonObject, SessionHooks, TraceRecord } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { playTurns, repeatsOf, times } from "../support/rep-scene.ts";
import { call, eventsOf, finish, recordingTool, storyOf, testSession } from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

describe("equal calls", () => {
  it("REP-1: are equal by tool and deep-canonical arguments: order, number spelling and escapes do not matter", async () => {
    const spellings = [
      '{"a":1,"b":{"c":[0,"x"],"d":2}}',
      '{"b":{"d":2e0,"c":[-0,"\\u0078"]},"a":1.0}',
      '{ "a":1, "b":{"d":2,"c":[0.0,"x"]} }',
    ];
    const { repeats } = await playTurns({}, [spellings.map((draft, index) => call("read", draft, `c${index}`))]);
    expect(repeats).toEqual([["c2 advisory 3"]]);
  });

  it("REP-1: are not equal where a type, a letter or the tool is another", async () => {
    const other = recordingTool({ name: "other" }).tool;
    const drafts = [
      '{"a":1}',
      '{"a":"1"}',
      '{"a":1}',
      '{"a":[1]}',
      '{"a":1}',
      '{"A":1}',
      '{"a":1}',
      '{"a":null}',
      "{}",
    ];
    const calls = drafts.map((draft, index) => call("read", draft, `c${index}`));
    const { repeats } = await playTurns(
      { tools: [recordingTool().tool, other], limits: { exactToolRepeatAdvisoryThreshold: 2 } },
      [[...calls, call("other", "{}", "o")]],
    );
    expect(repeats).toEqual([[]]);
  });

  it("REP-1: nothing derived from arguments is in any event, trace or message about the repeat", async () => {
    const traces: TraceRecord[] = [];
    const telemetry = { record: (record: TraceRecord) => void traces.push(record) };
    const { played } = await playTurns({ telemetry }, [times(8, '{"secret":"hunter2"}')]);
    const [first] = played;
    expect(eventsOf(first?.events ?? [], "toolRepeatDetected")[0]).toEqual({
      kind: "toolRepeatDetected",
      seq: expect.any(Number),
      timeMs: expect.any(Number),
      runId: "run",
      turn: 1,
      audience: "internal",
      callId: "read2",
      callIndex: 2,
      toolName: "read",
      operationId: expect.stringMatching(/^[0-9a-f]{64}$/),
      action: "advisory",
      count: 3,
    });
    const other = await playTurns({}, [times(8, '{"secret":"another"}')]);
    // Not even a digest: all is the same whatever the arguments are.
    expect(first?.events.map((event) => ({ ...event }))).toEqual(
      other.played[0]?.events.map((event) => ({ ...event })),
    );
    expect(JSON.stringify(traces)).not.toContain("hunter2");
    expect(JSON.stringify(first?.result.messages)).not.toContain("hunter2");
    expect(traces.filter(({ name }) => name === "kernel.toolrepeatdetected")).toHaveLength(2);
  });
});

describe("the sequence", () => {
  it("REP-2: is one per run, over the calls of all batches and turns", async () => {
    const { repeats } = await playTurns({}, [times(1), times(1), times(1), times(2)]);
    expect(repeats).toEqual([[], [], ["read0 advisory 3"], []]);
  });

  it("REP-2: goes by source order, not by time or epoch", async () => {
    const simulated = trackedClock();
    const read = controllableTool({ name: "read", risk: "readOnly" });
    const write = controllableTool({ name: "write" });
    const session = testSession({ tools: [read, write], clock: simulated.clock });
    const batch = session.execute([
      call("read", "{}", "a"),
      call("read", "{}", "b"),
      call("write"),
      call("read", "{}", "c"),
    ]);
    const played = finish(batch);
    await simulated.advance(0);
    read.pending[1]?.resolve();
    read.pending[0]?.resolve();
    await simulated.advance(0);
    write.pending[0]?.resolve();
    await simulated.advance(0);
    read.pending[0]?.resolve();
    expect(repeatsOf(await played)).toEqual([]);
    const next = finish(session.execute([call("read", "{}", "d"), call("read", "{}", "e")]));
    await simulated.advance(0);
    for (const each of [...read.pending]) each.resolve();
    expect(repeatsOf(await next)).toEqual(["e advisory 3"]);
  });

  it("REP-2: an equal call adds one, another tracked call starts at one", async () => {
    const { repeats } = await playTurns({}, [
      [...times(2), ...times(1, "{}"), ...times(2)].map((each, index) => ({ ...each, id: `c${index}` })),
      times(1),
    ]);
    expect(repeats).toEqual([[], ["read0 advisory 3"]]);
  });

  it("REP-2: counts calls after preparation: by the arguments that policy and the tool made of them", async () => {
    const drafts = ['{"n":"1"}', '{"n":1}', '{"n":2}'];
    const { tool } = recordingTool({ prepareArguments: (draft) => ({ n: Number((draft as JsonObject).n) }) });
    const hooks: SessionHooks = {
      rewriteToolCall: ({ arguments: { n } }) => (n === 2 ? { arguments: { n: 1 } } : undefined),
    };
    const { repeats } = await playTurns({ tools: [tool], hooks }, [
      drafts.map((draft, index) => call("read", draft, `c${index}`)),
    ]);
    expect(repeats).toEqual([["c2 advisory 3"]]);
  });

  it("REP-2: counts before anything is dispatched", async () => {
    const { played } = await playTurns({}, [times(3)]);
    const story = storyOf(played[0]?.events ?? []);
    expect(story.indexOf("toolRepeatDetected read2")).toBeGreaterThan(story.indexOf("toolPrepared read2"));
    expect(story.indexOf("toolRepeatDetected read2")).toBeLessThan(story.indexOf("epochStarted"));
  });

  it("REP-2: belongs to its session alone", async () => {
    await playTurns({}, [times(2)]);
    expect((await playTurns({}, [times(2)])).repeats).toEqual([[]]);
  });
});
