import type { DraftResponse, GivenCall, StopReason } from "toolkernel";
import { describe, expect, it } from "vitest";
import {
  call,
  finish,
  outcomesOf,
  play,
  recordingTool,
  storyOf,
  testSession,
  textsOf,
  verdictsOf,
} from "../support/run-calls.ts";

const reads = (count: number): GivenCall[] =>
  Array.from({ length: count }, (_, index) => call("read", `{"n":${index}}`, `c${index}`));

/** JSON text of exactly so many characters. */
const textOfLength = (characters: number): string => `{"p":"${"x".repeat(characters - 8)}"}`;

describe("a response refused whole", () => {
  it.each<[string, GivenCall[], string]>([
    ["more than 32 calls", reads(33), "limits.maxToolCallsPerTurn (32)"],
    ["the same id twice", [call("read", '{"n":1}', "x"), call("read", '{"n":2}', "x")], "duplicate_ids"],
    [
      "the same id twice, for equal calls",
      [call("read", "{}", "x"), call("read", "{}", "y"), call("read", "{}", "x")],
      "duplicate_ids",
    ],
    [
      "arguments of 1,000,001 characters",
      [call("read", "{}", "a"), call("read", textOfLength(1_000_001), "b")],
      "limits.maxArgumentCharacters (1000000)",
    ],
    [
      "an object of 1,000,001 characters",
      [call("read", "{}", "a"), call("read", { p: "x".repeat(999_993) }, "b")],
      "limits.maxArgumentCharacters (1000000)",
    ],
  ])(
    "PREP-9: for %s: nothing is prepared or dispatched, every call has its error, the loop goes on",
    async (_what, calls, named) => {
      const steps: string[] = [];
      const note = (step: string) => () => void steps.push(step);
      const { tool, runs } = recordingTool({
        prepareArguments: note("prepareArguments"),
        validate: note("validate"),
        conflictKey: note("conflictKey"),
      });
      const hooks = {
        rewriteToolCall: note("rewrite"),
        authorizeToolCall: note("authorize"),
        afterToolCall: note("after"),
      };
      const { result, events } = await play({ tools: [tool], hooks }, calls);
      expect([steps, runs]).toEqual([[], []]);
      expect(verdictsOf(result)).toEqual(calls.map(() => "refused:invalidArguments"));
      expect(textsOf(result).every((text) => text.startsWith("not_executed: ") && text.includes(named))).toBe(true);
      expect(result.messages.map((message) => "callIndex" in message && [message.callIndex, message.callId])).toEqual(
        calls.map(({ id }, index) => [index, id]),
      );
      expect([result.closed, Object.hasOwn(result, "closedBy")]).toEqual([false, false]);
      expect(new Set(events.map(({ kind }) => kind))).toEqual(new Set(["toolRefused", "toolEnded"]));
    },
  );

  it.each<[string, GivenCall[]]>([
    ["32 calls", reads(32)],
    ["arguments of 1,000,000 characters", [call("read", textOfLength(1_000_000))]],
    ["an object of 1,000,000 characters", [call("read", { p: "x".repeat(999_992) })]],
    ["no calls", []],
  ])("PREP-9: not for %s", async (_what, calls) => {
    const { tool } = recordingTool();
    const { result } = await play({ tools: [tool] }, calls);
    expect(outcomesOf(result)).toEqual(calls.map(() => "succeeded"));
  });

  it("PREP-9: by limits of the host's own", async () => {
    const { tool } = recordingTool();
    const limits = { maxToolCallsPerTurn: 2, maxArgumentCharacters: 10 };
    const session = testSession({ tools: [tool], limits });
    const results = [
      await session.execute(reads(3)).result,
      await session.execute(reads(2)).result,
      await session.execute([call("read", textOfLength(11))]).result,
      await session.execute([call("read", textOfLength(10))]).result,
    ];
    expect(results.map((result) => outcomesOf(result)[0])).toEqual(["refused", "succeeded", "refused", "succeeded"]);
    expect(textsOf(results[0] ?? { messages: [], settled: [], closed: false })[0]).toContain(
      "limits.maxToolCallsPerTurn (2)",
    );
  });

  it("PREP-9: and one that would pass limits.maxToolCalls of the run, which also ends the loop", async () => {
    const { tool, runs } = recordingTool();
    const session = testSession({ tools: [tool], limits: { maxToolCalls: 3 } });
    await session.execute(reads(33)).result;
    const first = await session.execute(reads(2)).result;
    const second = await session.execute(reads(2)).result;
    const third = await session.execute(reads(1)).result;
    expect([first, second, third].map(outcomesOf)).toEqual([
      ["succeeded", "succeeded"],
      ["refused", "refused"],
      ["succeeded"],
    ]);
    expect([first.closed, second.closedBy, third.closed]).toEqual([false, "maxToolCalls", false]);
    expect(textsOf(second)[0]).toContain("limits.maxToolCalls (3)");
    expect(runs).toHaveLength(3);
  });

  it("PREP-9: does not keep the next response of the session from running", async () => {
    const { tool, runs } = recordingTool();
    const session = testSession({ tools: [tool] });
    await session.execute(reads(33)).result;
    expect(outcomesOf(await session.execute(reads(1)).result)).toEqual(["succeeded"]);
    expect(runs).toEqual([{ n: 0 }]);
  });
});

describe("ids", () => {
  it("PREP-9: need to be unique within a response only", async () => {
    const { tool } = recordingTool();
    const session = testSession({ tools: [tool] });
    const results = [await session.execute(reads(2)).result, await session.execute(reads(2)).result];
    expect(results.map(outcomesOf)).toEqual([
      ["succeeded", "succeeded"],
      ["succeeded", "succeeded"],
    ]);
  });

  it("PREP-9: that are missing or empty are given, distinct from all others; the host's come back unchanged", async () => {
    const { tool } = recordingTool();
    const given: GivenCall[] = [
      { name: "read", arguments: '{"n":0}' },
      { id: "", name: "read", arguments: '{"n":1}' },
      { id: null, name: "read", arguments: '{"n":2}' },
      { id: undefined, name: "read", arguments: '{"n":3}' },
      { id: "call_1_0", name: "read", arguments: '{"n":4}' },
      { id: " padded ", name: "read", arguments: '{"n":5}' },
      { id: "__proto__", name: "read", arguments: '{"n":6}' },
    ];
    const { result, events } = await play({ tools: [tool] }, given);
    const ids = result.messages.map((message) => "callId" in message && message.callId);
    expect(outcomesOf(result)).toEqual(given.map(() => "succeeded"));
    expect(new Set(ids).size).toBe(7);
    expect(ids.slice(4)).toEqual(["call_1_0", " padded ", "__proto__"]);
    expect(ids.every((id) => typeof id === "string" && id.trim() !== "")).toBe(true);
    expect(result.settled.map(({ call: { id } }) => id)).toEqual(ids);
    expect(result.messages.map((message) => "callIndex" in message && message.callIndex)).toEqual([
      0, 1, 2, 3, 4, 5, 6,
    ]);
    expect(new Set(events.flatMap((event) => ("callId" in event ? [event.callId] : [])))).toEqual(new Set(ids));
  });

  it("PREP-9: that are given are the same when the same response is executed again", async () => {
    const given: GivenCall[] = [{ name: "read" }, { name: "read", arguments: '{"n":1}' }];
    const [one, other] = [await play({ tools: [] }, given), await play({ tools: [] }, given)];
    expect(one.result.messages).toEqual(other.result.messages);
  });

  it("PREP-9: the provider's own data comes back untouched with the result", async () => {
    const { tool } = recordingTool();
    const providerData = { signature: "abc", nested: { list: [1] } };
    const { result } = await play({ tools: [tool] }, [{ id: "a", name: "read", providerData }]);
    expect(result.messages).toMatchObject([{ callId: "a", providerData }]);
    expect(
      Object.hasOwn((await play({ tools: [tool] }, [call("read")])).result.messages[0] ?? {}, "providerData"),
    ).toBe(false);
  });
});

describe("a response that did not end normally", () => {
  it.each<[StopReason, string, string, boolean]>([
    ["length", "response_truncated", "refused:invalidArguments", false],
    ["error", "response_failed", "refused:internal", true],
    ["aborted", "response_aborted", "refused:cancelled", true],
  ])(
    "PREP-10: with stop reason %s runs no call, and each is told why",
    async (stopReason, named, verdict, isClosed) => {
      const { tool, runs } = recordingTool();
      const { result, events } = await play({ tools: [tool] }, reads(2), { stopReason });
      expect(runs).toEqual([]);
      expect(verdictsOf(result)).toEqual([verdict, verdict]);
      expect(textsOf(result).every((text) => text.startsWith("not_executed: ") && text.includes(named))).toBe(true);
      expect(result.messages).toHaveLength(2);
      expect([result.closed, result.closedBy]).toEqual([isClosed, isClosed ? "stopReason" : undefined]);
      expect(storyOf(events)).toEqual(["toolRefused c0", "toolRefused c1", "toolEnded c0", "toolEnded c1"]);
    },
  );

  it.each<[StopReason | undefined, boolean]>([
    ["stop", true],
    ["toolUse", true],
    [undefined, true],
    ["length", false],
    ["error", false],
    ["aborted", false],
  ])("PREP-10: a response as callsFrom gives it carries its own stop reason (%s)", async (stopReason, runs) => {
    const { tool } = recordingTool();
    const session = testSession({ tools: [tool] });
    const response = { calls: reads(1), ...(stopReason !== undefined && { stopReason }) } as DraftResponse;
    expect(outcomesOf(await session.execute(response).result)).toEqual([runs ? "succeeded" : "refused"]);
  });

  it("PREP-10: the option says more than the response's own", async () => {
    const { tool } = recordingTool();
    const session = testSession({ tools: [tool] });
    const response = { calls: reads(1), stopReason: "toolUse" } as DraftResponse;
    expect(outcomesOf(await session.execute(response, { stopReason: "length" }).result)).toEqual(["refused"]);
  });

  it.each<[StopReason, boolean]>([
    ["length", false],
    ["error", true],
    ["aborted", true],
  ])(
    "PREP-10: without calls and with stop reason %s there is nothing to run, and the loop goes on or ends as well",
    async (stopReason, isClosed) => {
      const { result, events } = await finish(testSession({ tools: [] }).execute([], { stopReason }));
      expect([result.messages, result.settled, result.closed, events]).toEqual([[], [], isClosed, []]);
    },
  );
});
