import {
  type BatchResult,
  type GivenCall,
  type JsonObject,
  type SessionHooks,
  type ToolSessionOptions,
  type TraceRecord,
  toolResult,
} from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import {
  call,
  eventsOf,
  finish,
  outcomesOf,
  type Played,
  play,
  recordingTool,
  storyOf,
  testSession,
  textsOf,
  verdictsOf,
} from "../support/run-calls.ts";
import { trackedClock, trackedSignal } from "../support/tracked.ts";

const times = (count: number, draft: GivenCall["arguments"] = '{"p":"a"}', name = "read"): GivenCall[] =>
  Array.from({ length: count }, (_, index) => call(name, draft, `${name}${index}`));

/** Each repeat event as `id action count`. */
const repeatsOf = ({ events }: Played): string[] =>
  eventsOf(events, "toolRepeatDetected").map(({ callId, action, count }) => `${callId} ${action} ${count}`);

const policyTextsOf = (result: BatchResult): string[] =>
  result.messages.flatMap((message) => (message.role === "policy" ? [message.content] : []));

/** Runs responses one after another in one session; each call as `id action count` where it was a repeat. */
async function playTurns(options: Partial<ToolSessionOptions>, turns: readonly (readonly GivenCall[])[]) {
  const read = recordingTool();
  const session = testSession({ tools: [read.tool], ...options });
  const played: Played[] = [];
  for (const calls of turns) played.push(await finish(session.execute(calls)));
  await session.close();
  return { played, repeats: played.map(repeatsOf), read };
}

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

describe("a refused call", () => {
  const refusing: [string, () => { tool?: Parameters<typeof recordingTool>[0]; hooks?: SessionHooks }, GivenCall][] = [
    ["of an unknown tool", () => ({}), call("nope", '{"a":1}')],
    ["with arguments that are no JSON", () => ({}), call("read", '{"a":')],
    [
      "with arguments its schema refuses",
      () => ({ tool: { inputSchema: { type: "object", required: ["x"] } } }),
      call("read", '{"a":1}'),
    ],
    ["that policy blocks", () => ({ hooks: { rewriteToolCall: () => ({ block: "no" }) } }), call("read", '{"a":1}')],
    [
      "that authorization blocks",
      () => ({ hooks: { authorizeToolCall: () => ({ block: "no" }) } }),
      call("read", '{"a":1}'),
    ],
    ["whose key is bad", () => ({ tool: { conflictKey: () => "\u0000" } }), call("read", '{"a":1}')],
    [
      "whose arguments are an object that cannot be read",
      () => ({}),
      call("read", Object.assign(Object.create(null), { f: () => 1 })),
    ],
    [
      "whose arguments are an object with a cycle",
      () => ({}),
      call(
        "read",
        (() => {
          const cycle: Record<string, never> = {};
          Object.assign(cycle, { cycle });
          return cycle;
        })(),
      ),
    ],
    [
      "whose arguments throw when they are read",
      () => ({}),
      call(
        "read",
        Object.defineProperty({}, "x", {
          enumerable: true,
          get: () => {
            throw new Error("x");
          },
        }),
      ),
    ],
  ];

  it.each(refusing)("REP-3: %s counts like any other", async (_what, arm, refused) => {
    const { tool, hooks = {} } = arm();
    const armed = recordingTool(tool);
    const turns = Array.from({ length: 8 }, () => [refused]);
    const { played, repeats } = await playTurns({ tools: [armed.tool], hooks }, turns);
    expect(repeats).toEqual([[], [], [`${refused.id} advisory 3`], [], [], [], [], [`${refused.id} terminated 8`]]);
    expect(played.map(({ result }) => outcomesOf(result))).toEqual(Array(8).fill(["refused"]));
    expect(armed.runs).toEqual([]);
  });

  it("REP-3: counts by its canonical draft, and by its text where that cannot be parsed", async () => {
    const canonical = ['{"a":1,"b":2}', '{"b":2.0,"a":1}', '{ "a" : 1, "b" : 2 }'];
    const texts = ['{"a":', '{"a": ', '{"a":'];
    const { repeats } = await playTurns({ tools: [] }, [
      canonical.map((draft, index) => call("nope", draft, `c${index}`)),
      texts.map((draft, index) => call("nope", draft, `t${index}`)),
    ]);
    expect(repeats).toEqual([["c2 advisory 3"], []]);
  });

  it("REP-3: counts with the calls that were not refused, where the draft is what they ran with", async () => {
    const answers = [undefined, { block: "no" }, undefined];
    const hooks: SessionHooks = { authorizeToolCall: () => answers.shift() };
    const { repeats } = await playTurns({ hooks }, [times(3)]);
    expect(repeats).toEqual([["read2 advisory 3"]]);
  });

  it("REP-3: counts by the draft that came, though prepareArguments has changed the one it was given", async () => {
    const { tool } = recordingTool({
      prepareArguments: (draft) => {
        Object.assign(draft as object, { stamp: Math.PI * calls++ });
        return undefined;
      },
    });
    let calls = 1;
    const hooks: SessionHooks = { authorizeToolCall: () => ({ block: "no" }) };
    const { repeats } = await playTurns({ tools: [tool], hooks }, [times(3)]);
    expect(repeats).toEqual([["read2 advisory 3"]]);
  });

  it("REP-3: that a person blocked counts, by its draft", async () => {
    const { tool } = recordingTool();
    let stamp = 0;
    const hooks: SessionHooks = {
      rewriteToolCall: () => {
        stamp += 1;
        return { arguments: { stamp } };
      },
      authorizeToolCall: () => ({ ask: {} }),
    };
    const session = testSession({ tools: [tool], hooks });
    const detected: string[][] = [];
    for (let turn = 1; turn <= 3; turn += 1) {
      await session.execute(times(1), { turn }).result;
      detected.push(repeatsOf(await finish(session.execute(times(1), { turn, blockOthers: true }))));
    }
    expect(detected).toEqual([[], [], ["read0 advisory 3"]]);
  });

  it("REP-3: at the termination threshold keeps its refusal, made terminating, and closes the batch", async () => {
    const { played } = await playTurns({ hooks: { authorizeToolCall: () => ({ block: "Not allowed." }) } }, [times(9)]);
    const result = played[0]?.result;
    expect(
      result?.settled.map(
        ({ outcome, result: { failureCategory, terminate } }) => `${outcome} ${failureCategory} ${terminate}`,
      ),
    ).toEqual([...Array(7).fill("refused authorization false"), ...Array(2).fill("refused authorization true")]);
    expect(new Set(textsOf(result as BatchResult))).toEqual(new Set(["Not allowed."]));
    expect(result).toMatchObject({ closed: true, closedBy: "exactToolRepeat" });
    expect(repeatsOf(played[0] as Played)).toEqual(["read2 advisory 3", "read7 terminated 8", "read8 terminated 9"]);
  });
});

describe("calls that do not count", () => {
  it("REP-3: those of a response refused whole do not, and do not reset either", async () => {
    const { tool } = recordingTool();
    const session = testSession({ tools: [tool] });
    const played = [
      await finish(session.execute(times(2))),
      await finish(session.execute(times(1, "{}"), { stopReason: "length" })),
      await finish(session.execute(times(1), { stopReason: "error" })),
      await finish(session.execute([...times(1), ...times(1)])),
      await finish(session.execute(times(33))),
      await finish(session.execute(times(1))),
    ];
    expect(played.map(repeatsOf)).toEqual([[], [], [], [], [], ["read0 advisory 3"]]);
  });

  it("REP-3: those cancelled while they were prepared do not", async () => {
    const { tool } = recordingTool();
    let signal = trackedSignal();
    const hooks: SessionHooks = { authorizeToolCall: () => signal.abort() as undefined };
    const session = testSession({ tools: [tool], hooks });
    for (let turn = 0; turn < 4; turn += 1) {
      signal = trackedSignal();
      await session.execute(times(1), { signal: signal.signal }).result;
    }
    const detected: string[][] = [];
    for (let turn = 0; turn < 3; turn += 1) detected.push(repeatsOf(await finish(session.execute(times(1)))));
    expect(detected).toEqual([[], [], ["read0 advisory 3"]]);
  });

  it("REP-3: neither do those refused in a batch that was cancelled before it came to be counted", async () => {
    const { tool } = recordingTool();
    let signal = trackedSignal();
    const hooks: SessionHooks = { authorizeToolCall: () => signal.abort() as undefined };
    const session = testSession({ tools: [tool], hooks });
    for (let turn = 0; turn < 4; turn += 1) {
      signal = trackedSignal();
      const calls = [call("nope", "{}", "a"), call("read", "{}", "b")];
      const { result } = await finish(session.execute(calls, { signal: signal.signal }));
      expect(outcomesOf(result)).toEqual(["refused", "cancelled"]);
    }
    expect(repeatsOf(await finish(session.execute(times(2, "{}", "nope"))))).toEqual([]);
  });

  it("REP-3: those cancelled after they were counted do not; those that ran to their end do", async () => {
    const simulated = trackedClock();
    const write = controllableTool({ name: "write" });
    const session = testSession({ tools: [write], clock: simulated.clock });
    const signal = trackedSignal();
    const cancelled = finish(session.execute(times(2, "{}", "write"), { signal: signal.signal }));
    await simulated.advance(0);
    signal.abort();
    write.pending[0]?.resolve();
    expect(outcomesOf((await cancelled).result)).toEqual(["succeeded", "cancelled"]);
    const detected: string[][] = [];
    for (let turn = 0; turn < 2; turn += 1) {
      const next = finish(session.execute(times(1, "{}", "write")));
      await simulated.advance(0);
      write.pending[0]?.resolve();
      detected.push(repeatsOf(await next));
    }
    expect(detected).toEqual([[], ["write0 advisory 3"]]);
  });

  it("REP-3: a cancelled call does not bring back what new evidence has reset", async () => {
    const simulated = trackedClock();
    const write = controllableTool({ name: "write" });
    const session = testSession({ tools: [write], clock: simulated.clock });
    const signal = trackedSignal();
    const cancelled = session.execute(times(2, "{}", "write"), { signal: signal.signal });
    await simulated.advance(0);
    session.noteNewEvidence();
    signal.abort();
    write.pending[0]?.resolve();
    await cancelled.result;
    const next = finish(session.execute(times(2, "{}", "write")));
    await simulated.advance(0);
    write.pending[0]?.resolve();
    await simulated.advance(0);
    write.pending[0]?.resolve();
    expect(repeatsOf(await next)).toEqual([]);
  });
});

describe("the advisory", () => {
  it("REP-4: comes at exactly 3: the call runs, and one message follows the batch's results", async () => {
    const { played, read } = await playTurns({}, [times(2), times(1), times(1)]);
    expect(read.runs).toHaveLength(4);
    expect(played.map(({ result }) => result.messages.map(({ role }) => role))).toEqual([
      ["toolResult", "toolResult"],
      ["toolResult", "policy"],
      ["toolResult"],
    ]);
    expect(played[1]?.result.messages[1]).toEqual({
      role: "policy",
      policy: "agent_policy",
      audience: "internal",
      content:
        'The tool "read" has been called 3 times in a row with equal arguments. Use the results above, or try something else.',
    });
    expect(played[1]?.result).toMatchObject({ closed: false });
  });

  it("REP-4: comes once per batch, about the first, whatever else repeats in it", async () => {
    const tools = [recordingTool().tool, recordingTool({ name: "other" }).tool];
    const { played } = await playTurns({ tools }, [[...times(3), ...times(3, "{}", "other")]]);
    expect(repeatsOf(played[0] as Played)).toEqual(["read2 advisory 3", "other2 advisory 3"]);
    expect(policyTextsOf((played[0] as Played).result)).toEqual([expect.stringContaining('"read"')]);
    expect(played[0]?.result.messages.at(-1)?.role).toBe("policy");
  });

  it("REP-4: is bounded, however long the name is", async () => {
    const name = `${"n".repeat(5_000)}\u0000\n`;
    const { played } = await playTurns({ tools: [] }, [times(3, "{}", name)]);
    const [text] = policyTextsOf((played[0] as Played).result);
    expect(text?.length).toBeLessThan(400);
    expect(text).toContain("3 times");
    expect(text).not.toMatch(/\p{Cc}/u);
  });

  it("REP-4: comes for a call that is refused as well", async () => {
    const { played } = await playTurns({ tools: [] }, [times(3, "{}", "nope")]);
    expect(policyTextsOf((played[0] as Played).result)).toHaveLength(1);
    expect(outcomesOf((played[0] as Played).result)).toEqual(["refused", "refused", "refused"]);
  });

  it("REP-4: comes at the host's own threshold", async () => {
    const limits = { exactToolRepeatAdvisoryThreshold: 1 };
    expect((await playTurns({ limits }, [times(2)])).repeats).toEqual([["read0 advisory 1"]]);
  });
});

describe("the termination", () => {
  it("REP-5: comes at 8 and beyond: an error without dispatch, and the batch closes the loop", async () => {
    const { played, read } = await playTurns({}, [times(9)]);
    const result = (played[0] as Played).result;
    expect(read.runs).toHaveLength(7);
    expect(outcomesOf(result)).toEqual([...Array(7).fill("succeeded"), "repeatTerminated", "repeatTerminated"]);
    expect(result.settled[7]).toEqual({
      call: call("read", '{"p":"a"}', "read7"),
      index: 7,
      operationId: expect.any(String),
      conflictKeys: [],
      outcome: "repeatTerminated",
      endedAtMs: expect.any(Number),
      result: {
        content: [
          {
            type: "text",
            text: 'not_executed: "read" was called 8 times in a row with equal arguments. Nothing was executed.',
          },
        ],
        isError: true,
        failureCategory: "conflict",
        outcomeUncertain: false,
        terminate: true,
      },
    });
    expect(repeatsOf(played[0] as Played)).toEqual(["read2 advisory 3", "read7 terminated 8", "read8 terminated 9"]);
    expect([result.closed, result.closedBy]).toEqual([true, "exactToolRepeat"]);
  });

  it("REP-5: lets the other prepared calls of the batch run, writes included", async () => {
    const write = recordingTool({ name: "write", risk: "nonIdempotentWrite" });
    const { read } = await playTurns({}, [times(7)]);
    expect(read.runs).toHaveLength(7);
    const reads = recordingTool();
    const { played } = await playTurns({ tools: [reads.tool, write.tool] }, [
      times(7),
      [call("read", '{"p":"a"}', "x"), call("write", "{}", "y"), call("read", '{"p":"b"}', "z")],
    ]);
    expect(outcomesOf((played[1] as Played).result)).toEqual(["repeatTerminated", "succeeded", "succeeded"]);
    expect(eventsOf(played[1]?.events ?? [], "epochStarted").map(({ callIds }) => callIds)).toEqual([["y"], ["z"]]);
    expect(played[1]?.result).toMatchObject({ closed: true, closedBy: "exactToolRepeat" });
    expect(write.runs).toHaveLength(1);
  });

  it("REP-5: goes on in later batches until something else is called", async () => {
    const { played } = await playTurns({}, [times(8), times(1), times(1, "{}"), times(1)]);
    expect(played.map(({ result }) => [outcomesOf(result).at(-1), result.closed])).toEqual([
      ["repeatTerminated", true],
      ["repeatTerminated", true],
      ["succeeded", false],
      ["succeeded", false],
    ]);
  });

  it("REP-5: names itself before a batch whose results all ask for the end", async () => {
    const limits = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 2 };
    const ending = { ...recordingTool().tool, execute: () => toolResult({ terminate: true }) };
    const { result } = await play({ tools: [ending], limits }, times(2));
    expect(result.settled.every(({ result: { terminate } }) => terminate)).toBe(true);
    expect(result.closedBy).toBe("exactToolRepeat");
  });

  it("REP-5: of a call that asks comes after the answer, and its approval does not save it", async () => {
    const limits = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 1 };
    const { tool, runs } = recordingTool();
    const session = testSession({ tools: [tool], limits, hooks: { authorizeToolCall: () => ({ ask: {} }) } });
    const asked = await session.execute(times(1)).result;
    const approvals = { [String(asked.approvals?.[0]?.approvalId)]: true as const };
    const { result } = await finish(session.execute(times(1), { approvals, turn: 1 }));
    expect(verdictsOf(result)).toEqual(["repeatTerminated:conflict"]);
    expect(runs).toEqual([]);
  });
});

describe("the thresholds", () => {
  it.each([
    [0, 2, ["read1 terminated 2", "read2 terminated 3"]],
    [2, 0, ["read1 advisory 2"]],
    [0, 0, []],
    [2, 3, ["read1 advisory 2", "read2 terminated 3"]],
    [10_000, 0, []],
    [0, 10_000, []],
    [9_999, 10_000, []],
  ])("REP-6: advisory %i and termination %i", async (advisory, termination, expected) => {
    const limits = { exactToolRepeatAdvisoryThreshold: advisory, exactToolRepeatTerminationThreshold: termination };
    const { repeats } = await playTurns({ limits }, [times(3)]);
    expect(repeats).toEqual([expected]);
  });

  it("REP-6: both 0 observe nothing, however often a call comes", async () => {
    const limits = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 0 };
    const { played, read } = await playTurns({ limits }, [times(32), times(32)]);
    expect(read.runs).toHaveLength(64);
    expect(played.flatMap(({ result }) => result.messages.map(({ role }) => role))).toEqual(
      Array(64).fill("toolResult"),
    );
  });

  it.each([
    [3, 3],
    [8, 3],
    [9_999, 1],
    [8, undefined],
    [undefined, 3],
  ])("REP-6: advisory %s needs a larger termination than %s", (advisory, termination) => {
    const limits = { exactToolRepeatAdvisoryThreshold: advisory, exactToolRepeatTerminationThreshold: termination };
    expect(() => testSession({ tools: [], limits })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTIONS", subject: "limits.exactToolRepeatTerminationThreshold" }),
    );
  });

  it.each([-1, 10_001, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "3"])("REP-6: %s is out of range", (threshold) => {
    for (const name of ["exactToolRepeatAdvisoryThreshold", "exactToolRepeatTerminationThreshold"]) {
      const limits = {
        exactToolRepeatAdvisoryThreshold: 0,
        exactToolRepeatTerminationThreshold: 0,
        [name]: threshold as number,
      };
      expect(() => testSession({ tools: [], limits })).toThrow(
        expect.objectContaining({ code: "INVALID_OPTIONS", subject: `limits.${name}` }),
      );
    }
  });
});

describe("new evidence", () => {
  it("REP-7: resets the sequence, the advisory does not", async () => {
    const { tool } = recordingTool();
    const session = testSession({ tools: [tool] });
    const detected = [repeatsOf(await finish(session.execute(times(2))))];
    session.noteNewEvidence();
    detected.push(repeatsOf(await finish(session.execute(times(2)))));
    detected.push(repeatsOf(await finish(session.execute(times(6)))));
    expect(detected).toEqual([[], [], ["read0 advisory 3", "read5 terminated 8"]]);
  });
});

describe("a call that is not tracked", () => {
  const poll = (): Parameters<typeof recordingTool>[0] => ({ name: "poll", trackExactRepeats: false });

  it("REP-8: neither advances nor resets a sequence", async () => {
    const tools = [recordingTool().tool, recordingTool(poll()).tool];
    const mixed = ["read", "poll", "read", "poll", "poll", "read", "poll"].map((name, index) =>
      call(name, "{}", `c${index}`),
    );
    expect((await playTurns({ tools }, [mixed])).repeats).toEqual([["c5 advisory 3"]]);
    expect((await playTurns({ tools }, [times(20, "{}", "poll")])).repeats).toEqual([[]]);
  });

  it("REP-8: does so also where it is refused", async () => {
    const tools = [recordingTool(poll()).tool];
    const hooks: SessionHooks = { authorizeToolCall: () => ({ block: "no" }) };
    expect((await playTurns({ tools, hooks }, [times(9, "{}", "poll")])).repeats).toEqual([[]]);
    expect((await playTurns({ tools }, [times(9, "{", "poll")])).repeats).toEqual([[]]);
  });

  it("REP-8: is still under every other limit", async () => {
    const tools = [recordingTool(poll()).tool];
    const { result } = await play({ tools }, times(33, "{}", "poll"));
    expect(new Set(outcomesOf(result))).toEqual(new Set(["refused"]));
  });
});
