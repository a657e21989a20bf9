import type { JsonObject, StandardSchema, TraceRecord } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { ASK_FOR_WRITES, idOf, idsOf, misuseOf, READ_WRITE_WRITE, startWaiting } from "../support/app-scene.ts";
import {
  call,
  eventsOf,
  finish,
  outcomesOf,
  recordingTool,
  storyOf,
  testSession,
  textsOf,
  verdictsOf,
} from "../support/run-calls.ts";
import { trackedClock, trackedSignal } from "../support/tracked.ts";

describe("going on", () => {
  it("APP-3: granted calls run with the stored arguments and are not prepared again", async () => {
    const steps: string[] = [];
    const seen: JsonObject[] = [];
    const note =
      <Answer>(step: string, answer: Answer) =>
      (): Answer => {
        steps.push(step);
        return answer;
      };
    const schema: StandardSchema<JsonObject, JsonObject> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) => {
          steps.push("standard");
          return { value: { ...(value as JsonObject), stamp: steps.length } };
        },
      },
    };
    const { tool, runs } = recordingTool({
      name: "write",
      inputSchema: schema,
      inputJsonSchema: { type: "object" },
      prepareArguments: note("prepareArguments", undefined),
      validate: note("validate", undefined),
      conflictKey: note("conflictKey", "k"),
    });
    const draft = { n: 1 };
    const session = testSession({
      tools: [tool],
      hooks: {
        rewriteToolCall: note("rewrite", undefined),
        authorizeToolCall: ({ arguments: given }) => {
          steps.push("authorize");
          seen.push(given);
          return { ask: {} };
        },
      },
    });
    const asked = await session.execute([call("write", draft)]).result;
    const before = [...steps];
    session.setTools([]);
    const approvals = { [idOf(idsOf(asked), "write")]: true as const };
    const done = await session.execute([call("write", draft)], { turn: 1, approvals }).result;
    expect(before).toEqual(["prepareArguments", "rewrite", "standard", "validate", "conflictKey", "authorize"]);
    expect(steps).toEqual(before);
    expect(runs).toEqual([{ n: 1, stamp: 3 }]);
    expect(runs[0]).toBe(seen[0]);
    expect(asked.approvals?.[0]?.arguments).toBe(seen[0]);
    expect(done.settled[0]?.operationId).toBe(asked.approvals?.[0]?.operationId);
  });

  it("APP-3: blocked calls settle refused with the reason given; siblings go on, in source order", async () => {
    const { session, ids, write } = await startWaiting();
    const approvals = { [idOf(ids, "b")]: { block: "Not that one." }, [idOf(ids, "c")]: true as const };
    const { result, events } = await finish(session.execute(READ_WRITE_WRITE, { turn: 1, approvals }));
    expect(result.messages).toMatchObject([
      { callId: "a", isError: false, content: [{ type: "text", text: "ok" }] },
      {
        callId: "b",
        isError: true,
        failureCategory: "authorization",
        outcomeUncertain: false,
        terminate: false,
        content: [{ type: "text", text: "Not that one." }],
      },
      { callId: "c", isError: false },
    ]);
    expect(outcomesOf(result)).toEqual(["succeeded", "refused", "succeeded"]);
    expect(write.runs).toEqual([{ n: 2 }]);
    expect(eventsOf(events, "toolRefused")).toMatchObject([
      { callId: "b", failureCategory: "authorization", reason: "Not that one." },
    ]);
    expect(result.settled[1]).not.toHaveProperty("startedAtMs");
  });

  it("APP-3: a block without words still tells the model why", async () => {
    const { session, ids } = await startWaiting([call("write", "{}", "b")]);
    const approvals = { [idOf(ids, "b")]: { block: "" } };
    const done = await session.execute([call("write", "{}", "b")], { turn: 1, approvals }).result;
    expect(textsOf(done)).toEqual(["not_executed: no approval was given for this call."]);
  });

  it.each([
    ["granted", true as const, [["a"], ["b"], ["c", "d"]]],
    ["blocked", { block: "no" }, [["a", "c", "d"]]],
  ])("APP-3: epochs are those of the whole batch, a write being %s", async (_what, decision, epochs) => {
    const calls = ["a", "b", "c", "d"].map((id) => call(id === "b" ? "write" : "read", `{"n":"${id}"}`, id));
    const { session, ids } = await startWaiting(calls);
    const approvals = { [idOf(ids, "b")]: decision };
    const { events } = await finish(session.execute(calls, { turn: 1, approvals }));
    expect(eventsOf(events, "epochStarted").map(({ callIds }) => callIds)).toEqual(epochs);
  });

  it("APP-3: the second batch has the events from the answer on, numbered on from the first", async () => {
    const read = recordingTool();
    const write = recordingTool({ name: "write" });
    const session = testSession({ tools: [read.tool, write.tool], hooks: ASK_FOR_WRITES });
    const first = await finish(session.execute([call("write")]));
    const approvals = { [idOf(idsOf(first.result), "write")]: true as const };
    const second = await finish(session.execute([call("write")], { turn: 1, approvals }));
    expect(storyOf(second.events)).toEqual(["epochStarted", "toolDispatched write", "toolEnded write", "epochSettled"]);
    expect([...first.events, ...second.events].map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(new Set(second.events.map(({ turn }) => turn))).toEqual(new Set([1]));
  });

  it("APP-3: the same response is known by its calls, where ids are left out and objects are ordered otherwise", async () => {
    const calls = [{ name: "write", arguments: { n: 1, m: 2 } }];
    const { session, asked } = await startWaiting(calls);
    const approvals = { [String(asked.approvals?.[0]?.approvalId)]: true as const };
    const again = [{ name: "write", arguments: { m: 2, n: 1 } }];
    expect(outcomesOf(await session.execute(again, { approvals, turn: 1 }).result)).toEqual(["succeeded"]);
  });

  it("APP-3: without a turn the response is that of the batch that waits, and the next one is the next turn", async () => {
    const { session, ids } = await startWaiting([call("write", "{}", "b")]);
    const approvals = { [idOf(ids, "b")]: true as const };
    await session.execute([call("write", "{}", "b")], { approvals }).result;
    const { events } = await finish(session.execute([call("read")]));
    expect(new Set(events.map(({ turn }) => turn))).toEqual(new Set([2]));
  });

  it("APP-3: a batch whose answers come with a signal that has fired settles as cancelled, and runs nothing", async () => {
    const { session, ids, read, write } = await startWaiting();
    const signal = trackedSignal();
    signal.abort("too late");
    const approvals = { [idOf(ids, "b")]: true as const, [idOf(ids, "c")]: { block: "no" } };
    const done = await finish(session.execute(READ_WRITE_WRITE, { turn: 1, approvals, signal: signal.signal }));
    expect(verdictsOf(done.result)).toEqual(["cancelled:cancelled", "cancelled:cancelled", "cancelled:cancelled"]);
    expect(storyOf(done.events)).toEqual(["toolEnded a", "toolEnded b", "toolEnded c"]);
    expect([read.runs, write.runs]).toEqual([[], []]);
    expect(outcomesOf(await session.execute([call("read")]).result)).toEqual(["succeeded"]);
  });

  it("APP-3: the signal given with the answers cancels what they started", async () => {
    const simulated = trackedClock();
    const write = controllableTool({ name: "write" });
    const session = testSession({ tools: [write], hooks: ASK_FOR_WRITES, clock: simulated.clock });
    const first = trackedSignal("first");
    const second = trackedSignal("second");
    const asked = await session.execute([call("write")], { signal: first.signal }).result;
    const approvals = { [idOf(idsOf(asked), "write")]: true as const };
    const batch = session.execute([call("write")], { turn: 1, approvals, signal: second.signal });
    await simulated.advance(0);
    first.abort();
    await simulated.advance(0);
    expect(write.pending[0]?.signal.aborted).toBe(false);
    second.abort();
    expect(write.pending[0]?.signal.aborted).toBe(true);
    write.pending[0]?.resolve("done");
    expect(outcomesOf(await batch.result)).toEqual(["succeeded"]);
  });
});

describe("a message instead of an answer", () => {
  it("APP-4: blocks all that is undecided, so that every call has its result before it", async () => {
    const { session, read, write } = await startWaiting();
    const done = await session.execute(READ_WRITE_WRITE, { turn: 1, blockOthers: true }).result;
    expect(verdictsOf(done)).toEqual(["succeeded", "refused:authorization", "refused:authorization"]);
    expect(done.messages.map((message) => "callId" in message && message.callId)).toEqual(["a", "b", "c"]);
    expect(textsOf(done).slice(1)).toEqual([
      "not_executed: no approval was given for this call.",
      "not_executed: no approval was given for this call.",
    ]);
    expect([read.runs, write.runs]).toEqual([[{ n: 0 }], []]);
    expect(outcomesOf(await session.execute([call("read")]).result)).toEqual(["succeeded"]);
  });

  it("APP-4: the end of the session is no answer either: every call ends as cancelled, and nothing runs", async () => {
    const ends: unknown[] = [];
    const telemetry = {
      record: ({ name, attributes }: TraceRecord) =>
        name === "kernel.toolended" && ends.push([attributes.callId, attributes.outcome]),
    };
    const { session, ids, read, write } = await startWaiting(READ_WRITE_WRITE, ASK_FOR_WRITES, telemetry);
    await session.close();
    expect(ends).toEqual(["a", "b", "c"].map((id) => [id, "cancelled"]));
    expect([read.runs, write.runs]).toEqual([[], []]);
    const approvals = { [idOf(ids, "b")]: true as const };
    expect(misuseOf(() => session.execute(READ_WRITE_WRITE, { turn: 1, approvals }))).toBe("INVALID_OPTIONS execute");
  });

  it("APP-4: an answer that the end of the session overtakes runs nothing, and every call has its result", async () => {
    const { session, ids, read, write } = await startWaiting();
    const approvals = { [idOf(ids, "b")]: true as const, [idOf(ids, "c")]: true as const };
    const batch = session.execute(READ_WRITE_WRITE, { turn: 1, approvals });
    await session.close();
    expect(outcomesOf(await batch.result)).toEqual(["cancelled", "cancelled", "cancelled"]);
    expect([read.runs, write.runs]).toEqual([[], []]);
  });
});
