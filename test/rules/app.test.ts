import type { Approval } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ASK_FOR_WRITES, idOf, idsOf, READ_WRITE_WRITE, startWaiting } from "../support/app-scene.ts";
import { call, eventsOf, finish, outcomesOf, recordingTool, storyOf, testSession } from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

describe("a call that asks", () => {
  it("APP-1: keeps the whole batch from being dispatched, settled and shown until it is decided", async () => {
    const { session, asked, read, write } = await startWaiting([...READ_WRITE_WRITE, call("nope", "{}", "d")]);
    expect({ ...asked, approvals: asked.approvals?.map(({ callId }) => callId) }).toEqual({
      messages: [],
      settled: [],
      closed: false,
      approvals: ["b", "c"],
    });
    expect([read.runs, write.runs]).toEqual([[], []]);
    await session.close();
  });

  it("APP-1: is asked about in an event, once all calls are prepared, and nothing follows it", async () => {
    const { tool } = recordingTool();
    const { tool: write } = recordingTool({ name: "write", risk: "nonIdempotentWrite" });
    const session = testSession({ tools: [tool, write], hooks: ASK_FOR_WRITES });
    const { events, result } = await finish(session.execute([call("write", '{"n":1}', "a"), call("read", "{}", "b")]));
    expect(storyOf(events)).toEqual([
      ...["toolStarted a", "toolPrepared a", "toolStarted b", "toolPrepared b", "approvalRequested a"],
    ]);
    expect(eventsOf(events, "approvalRequested")).toMatchObject([
      { approvalId: result.approvals?.[0]?.approvalId, ask: { about: { n: 1 } }, callId: "a", callIndex: 0 },
    ]);
    await session.close();
  });

  it("APP-1: is described to the host with everything a person needs", async () => {
    const { session, asked } = await startWaiting();
    expect(asked.approvals?.[0]).toEqual({
      approvalId: expect.any(String),
      operationId: expect.stringMatching(/^[0-9a-f]{64}$/),
      callId: "b",
      callIndex: 1,
      toolName: "write",
      arguments: { n: 1 },
      conflictKeys: ["k1"],
      ask: { about: { n: 1 } },
    } satisfies Approval);
    await session.close();
  });

  it("APP-1: waits in memory for as long as it takes, without a timer", async () => {
    const simulated = trackedClock();
    const { tool, runs } = recordingTool({ name: "write" });
    const session = testSession({ tools: [tool], hooks: ASK_FOR_WRITES, clock: simulated.clock });
    const asked = await session.execute([call("write")]).result;
    await simulated.advance(1_000_000_000);
    expect([simulated.pendingTimers(), runs.length]).toEqual([0, 0]);
    const approvals = { [idOf(idsOf(asked), "write")]: true as const };
    expect(outcomesOf(await session.execute([call("write")], { turn: 1, approvals }).result)).toEqual(["succeeded"]);
  });

  it("APP-1: waits for every answer; the ones given so far start nothing", async () => {
    const { session, ids, read, write } = await startWaiting();
    const partly = await session.execute(READ_WRITE_WRITE, { turn: 1, approvals: { [idOf(ids, "c")]: true } }).result;
    expect({ ...partly, approvals: partly.approvals?.map(({ callId }) => callId) }).toEqual({
      messages: [],
      settled: [],
      closed: false,
      approvals: ["b"],
    });
    expect([read.runs, write.runs]).toEqual([[], []]);
    const done = await session.execute(READ_WRITE_WRITE, { turn: 1, approvals: { [idOf(ids, "b")]: true } }).result;
    expect(outcomesOf(done)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });

  it("APP-1: a batch in which nobody asks has no approvals", async () => {
    const { asked } = await startWaiting([call("read")]);
    expect(Object.hasOwn(asked, "approvals")).toBe(false);
  });

  it("APP-1: a tool that needs approval by itself asks though the host allows, and not where the host blocks", async () => {
    const { tool, runs } = recordingTool({ name: "foreign", needsApproval: (() => ({ from: "tool" })) as never });
    const answers: (true | { block: string })[] = [true, { block: "no" }];
    const session = testSession({ tools: [tool], hooks: { authorizeToolCall: () => answers.shift() } });
    const asked = await session.execute([call("foreign", "{}", "a"), call("foreign", "{}", "b")]).result;
    expect(asked.approvals?.map(({ callId, ask }) => [callId, ask])).toEqual([["a", { from: "tool" }]]);
    expect(runs).toEqual([]);
    await session.close();
  });
});
