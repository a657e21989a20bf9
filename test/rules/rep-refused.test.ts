import type { BatchResult, GivenCall, SessionHooks } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { playTurns, repeatsOf, times } from "../support/rep-scene.ts";
import { call, finish, outcomesOf, type Played, recordingTool, testSession, textsOf } from "../support/run-calls.ts";
import { trackedClock, trackedSignal } from "../support/tracked.ts";

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
