import {
  type Approval,
  type BatchResult,
  type GivenCall,
  type JsonObject,
  KernelError,
  type SessionHooks,
  type StandardSchema,
  type Telemetry,
  type ToolSession,
  type TraceRecord,
} from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import {
  call,
  eventsOf,
  finish,
  outcomesOf,
  type RecordingTool,
  recordingTool,
  storyOf,
  testSession,
  textsOf,
  verdictsOf,
} from "../support/run-calls.ts";
import { trackedClock, trackedSignal } from "../support/tracked.ts";

/** Asks for every call of a write, about its arguments. */
const ASK_FOR_WRITES: SessionHooks = {
  authorizeToolCall: ({ tool, arguments: given }) => (tool.name === "write" ? { ask: { about: given } } : undefined),
};

const READ_WRITE_WRITE = [
  call("read", '{"n":0}', "a"),
  call("write", '{"n":1}', "b"),
  call("write", '{"n":2}', "c"),
] as const;

interface Waiting {
  readonly session: ToolSession;
  readonly asked: BatchResult;
  /** Approval ids by call id. */
  readonly ids: Readonly<Record<string, string>>;
  readonly read: RecordingTool;
  readonly write: RecordingTool;
}

/** Runs calls of `read` and `write` up to the questions about the writes. */
async function startWaiting(
  calls: readonly GivenCall[] = READ_WRITE_WRITE,
  hooks = ASK_FOR_WRITES,
  telemetry?: Telemetry,
): Promise<Waiting> {
  const read = recordingTool();
  const write = recordingTool({
    name: "write",
    risk: "nonIdempotentWrite",
    conflictKey: (({ n }: JsonObject) => `k${n}`) as never,
  });
  const session = testSession({ tools: [read.tool, write.tool], hooks, telemetry });
  const asked = await session.execute(calls).result;
  return { session, asked, ids: idsOf(asked), read, write };
}

function idsOf(result: BatchResult): Record<string, string> {
  return Object.fromEntries((result.approvals ?? []).map(({ callId, approvalId }) => [callId, approvalId]));
}

function idOf(ids: Readonly<Record<string, string>>, callId: string): string {
  const id = ids[callId];
  if (id === undefined) throw new Error(`no approval of ${callId}`);
  return id;
}

/** What a misuse throws, as code and subject. */
function misuseOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error instanceof KernelError ? `${error.code} ${error.subject}` : error;
  }
  return "nothing";
}

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

describe("an answer", () => {
  it.each(["nobody", "__proto__", "constructor", "toString", ""])(
    "APP-2: for the unknown id %j is a misuse, and the batch still waits",
    async (unknown) => {
      const { session, ids, write } = await startWaiting();
      const approvals = Object.fromEntries([[unknown, true as const]]);
      expect(misuseOf(() => session.execute(READ_WRITE_WRITE, { turn: 1, approvals }))).toBe(
        `INVALID_OPTIONS approvals.${unknown}`,
      );
      const good = { [idOf(ids, "b")]: true as const, [idOf(ids, "c")]: true as const };
      expect(outcomesOf(await session.execute(READ_WRITE_WRITE, { turn: 1, approvals: good }).result)).toEqual([
        ...["succeeded", "succeeded", "succeeded"],
      ]);
      expect(write.runs).toEqual([{ n: 1 }, { n: 2 }]);
    },
  );

  it("APP-2: with an unknown id among good ones decides nothing", async () => {
    const { session, ids } = await startWaiting();
    const approvals = { [idOf(ids, "b")]: true as const, nobody: true as const };
    expect(misuseOf(() => session.execute(READ_WRITE_WRITE, { turn: 1, approvals }))).toBe(
      "INVALID_OPTIONS approvals.nobody",
    );
    const again = await session.execute(READ_WRITE_WRITE, { turn: 1, approvals: {} }).result;
    expect(again.approvals?.map(({ callId }) => callId)).toEqual(["b", "c"]);
    await session.close();
  });

  it("APP-2: is bound to its run: another run's id for the same call is unknown", async () => {
    const [one, other] = [await startWaiting(), await startWaiting()];
    const approvals = { [idOf(one.ids, "b")]: true as const };
    expect(misuseOf(() => other.session.execute(READ_WRITE_WRITE, { turn: 1, approvals }))).toMatch(
      /^INVALID_OPTIONS approvals\./,
    );
    await one.session.close();
    await other.session.close();
  });

  it("APP-2: is bound to its call: equal calls have ids of their own, and so have equal calls of another turn", async () => {
    const calls = [call("write", '{"n":1}', "a"), call("write", '{"n":1}', "b")];
    const { session, ids, write } = await startWaiting(calls);
    expect(new Set(Object.values(ids)).size).toBe(2);
    const approvals = { [idOf(ids, "a")]: true as const, [idOf(ids, "b")]: { block: "no" } };
    const first = await session.execute(calls, { turn: 1, approvals }).result;
    expect(outcomesOf(first)).toEqual(["succeeded", "refused"]);
    const second = await session.execute(calls).result;
    expect(Object.values(idsOf(second)).some((id) => Object.values(ids).includes(id))).toBe(false);
    expect(write.runs).toEqual([{ n: 1 }]);
    expect(misuseOf(() => session.execute(calls, { turn: 2, approvals }))).toMatch(/^INVALID_OPTIONS approvals\./);
    await session.close();
  });

  it("APP-2: that was given is final; the id is unknown afterwards", async () => {
    const { session, ids } = await startWaiting();
    const approvals = { [idOf(ids, "b")]: { block: "no" } };
    await session.execute(READ_WRITE_WRITE, { turn: 1, approvals }).result;
    const change = { [idOf(ids, "b")]: true as const };
    expect(misuseOf(() => session.execute(READ_WRITE_WRITE, { turn: 1, approvals: change }))).toMatch(
      /^INVALID_OPTIONS approvals\./,
    );
    await session.close();
  });

  it("APP-2: without an open question is a misuse", async () => {
    const { session } = await startWaiting([call("read")]);
    expect(misuseOf(() => session.execute([call("read")], { approvals: { x: true } }))).toBe(
      "INVALID_OPTIONS approvals.x",
    );
  });

  it.each([[false], [null], ["yes"], [{}], [{ block: 1 }], [{ allow: true }]])(
    "APP-2: is true or a block; %j is a misuse",
    async (decision) => {
      const { session, ids } = await startWaiting();
      const approvals = { [idOf(ids, "b")]: decision as never };
      expect(misuseOf(() => session.execute(READ_WRITE_WRITE, { turn: 1, approvals }))).toBe(
        `INVALID_OPTIONS approvals.${idOf(ids, "b")}`,
      );
      await session.close();
    },
  );

  it("APP-2: that is not given leaves the question open, under its id, and the authorizer is not asked again", async () => {
    let asked = 0;
    const { session, ids } = await startWaiting(READ_WRITE_WRITE, {
      authorizeToolCall: ({ tool }) => {
        asked += 1;
        return tool.name === "write" ? { ask: {} } : undefined;
      },
    });
    const again = await session.execute(READ_WRITE_WRITE, { turn: 1 }).result;
    expect(idsOf(again)).toEqual(ids);
    expect(asked).toBe(3);
    await session.close();
  });

  it("APP-2: blockOthers refuses all that is still undecided", async () => {
    const { session, ids, read, write } = await startWaiting();
    const approvals = { [idOf(ids, "c")]: true as const };
    const done = await session.execute(READ_WRITE_WRITE, { turn: 1, approvals, blockOthers: true }).result;
    expect(verdictsOf(done)).toEqual(["succeeded", "refused:authorization", "succeeded"]);
    expect([read.runs, write.runs]).toEqual([[{ n: 0 }], [{ n: 2 }]]);
  });

  it("APP-2: a grant given earlier survives later partial answers and blockOthers", async () => {
    const calls = [call("write", '{"n":1}', "a"), call("write", '{"n":2}', "b"), call("write", '{"n":3}', "c")];
    const { session, ids } = await startWaiting(calls);
    await session.execute(calls, { turn: 1, approvals: { [idOf(ids, "a")]: true } }).result;
    await session.execute(calls, { turn: 1, approvals: { [idOf(ids, "b")]: { block: "no" } } }).result;
    const done = await session.execute(calls, { turn: 1, blockOthers: true }).result;
    expect(verdictsOf(done)).toEqual(["succeeded", "refused:authorization", "refused:authorization"]);
  });

  it.each<[string, readonly GivenCall[], number?]>([
    ["other arguments", [READ_WRITE_WRITE[0], call("write", '{"n":9}', "b"), READ_WRITE_WRITE[2]]],
    ["another name", [READ_WRITE_WRITE[0], call("read", '{"n":1}', "b"), READ_WRITE_WRITE[2]]],
    ["another id", [READ_WRITE_WRITE[0], call("write", '{"n":1}', "z"), READ_WRITE_WRITE[2]]],
    ["another order", [READ_WRITE_WRITE[1], READ_WRITE_WRITE[0], READ_WRITE_WRITE[2]]],
    ["a call less", READ_WRITE_WRITE.slice(0, 2)],
    ["a call more", [...READ_WRITE_WRITE, call("read", "{}", "d")]],
    ["no calls", []],
    ["another turn", READ_WRITE_WRITE, 2],
  ])("APP-2: may not come with another response (%s) while questions are open", async (_what, other, turn = 1) => {
    const { session, ids, write } = await startWaiting();
    const approvals = { [idOf(ids, "b")]: true as const, [idOf(ids, "c")]: true as const };
    expect(misuseOf(() => session.execute(other, { turn, approvals }))).toBe("INVALID_OPTIONS response");
    expect(misuseOf(() => session.execute(other, { turn, blockOthers: true }))).toBe("INVALID_OPTIONS response");
    expect(write.runs).toEqual([]);
    await session.close();
  });

  it("APP-2: a queued misuse is told by its own result, and the batch still waits", async () => {
    const { session, ids } = await startWaiting();
    const approvals = { [idOf(ids, "b")]: true as const };
    const good = session.execute(READ_WRITE_WRITE, { turn: 1, approvals });
    const again = session.execute(READ_WRITE_WRITE, { turn: 1, approvals });
    expect(idsOf(await good.result)).toEqual({ c: ids.c });
    await expect(again.result).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
    await session.close();
  });
});

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
