import { type AnyTool, type JsonValue, KernelError, memoryRunStore, type RunFact, toolResult } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { openBench } from "../support/execution-bench.ts";
import { draftsOf, factsIn, type LeftCall, leaveRun, leftFacts, storeOf } from "../support/left-run.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { call, eventsOf, finish, outcomesOf, recordingTool, testSession, textsOf } from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

/** Code and subject of a refusal. */
async function misuseOf(doing: Promise<unknown>): Promise<string> {
  try {
    await doing;
    return "no misuse";
  } catch (error) {
    return error instanceof KernelError ? `${error.code} ${error.subject}` : String(error);
  }
}

const READ = [call("read", { path: "a" }, "r1"), call("read", { path: "b" }, "r2")];

describe("a session over a store", () => {
  it("RUN-6: claims its run with the first response, and records what happened in order", async () => {
    const runStore = memoryRunStore();
    const session = testSession({ tools: [recordingTool().tool], runStore });
    expect((await runStore.listOpen({ limit: 9 })).runs).toEqual([]);
    await session.execute(READ).result;
    expect((await runStore.listOpen({ limit: 9 })).runs).toMatchObject([{ runId: "run", turn: 1, claimed: true }]);
    await session.close();
    expect((await factsIn(runStore)).map(({ kind }) => kind)).toEqual([
      ...["begun", "response", "prepared", "planned", "dispatched", "dispatched", "settled", "settled", "batchEnded"],
      "ended",
    ]);
    expect((await runStore.listOpen({ limit: 9 })).runs).toEqual([]);
  });

  it("RUN-6: a response is durable before preparation, a dispatch before its executor, an end before its event", async () => {
    const store = new MortalStore();
    const seen: string[] = [];
    const see = (what: string) => seen.push(`${what}: ${store.facts.map(({ kind }) => kind).join(" ")}`);
    const prepareArguments = (draft: JsonValue) => {
      see("prepare");
      return draft;
    };
    const { tool } = recordingTool({ prepareArguments });
    const execute = (): string => {
      see("execute");
      return "ok";
    };
    const session = testSession({ tools: [{ ...tool, execute }], runStore: store });
    const batch = session.execute([call("read")]);
    batch.subscribe(({ kind }) => {
      if (kind === "toolEnded") see("ended");
    });
    await batch.result;
    await session.close();
    expect(seen).toEqual([
      "prepare: begun response",
      "execute: begun response prepared planned dispatched",
      "ended: begun response prepared planned dispatched settled",
    ]);
  });

  it("RUN-6: gives the result of a turn that has ended again, to a host that tells its story from the start", async () => {
    const read = recordingTool();
    const runStore = memoryRunStore();
    const first = testSession({ tools: [read.tool], runStore });
    const results = [await first.execute(READ).result, await first.execute([call("read", "{}", "r3")]).result];
    await first.close();
    const second = testSession({ tools: [read.tool], runStore });
    const again = [
      await second.execute(READ, { turn: 1 }).result,
      await second.execute([call("read", "{}", "r3")]).result,
    ];
    expect(again).toEqual(results);
    expect(read.runs).toHaveLength(3);
    // What comes then is new.
    expect(outcomesOf(await second.execute([call("read", "{}", "r4")]).result)).toEqual(["succeeded"]);
    expect((await factsIn2(second, runStore)).filter(({ kind }) => kind === "response")).toHaveLength(3);
  });

  it("RUN-6: a result that is given again has everything that the first had: repairs, keys, times", async () => {
    const tool = recordingTool({
      conflictKey: () => "k" as never,
      prepareArguments: (draft) => draft,
      inputSchema: { type: "object", properties: { n: { type: "integer" } } },
    }).tool;
    const { compat } = await import("toolkernel");
    const runStore = memoryRunStore();
    const calls = [call("read", '{"n":"1"}', "r1"), call("read", '{"n":"x"}', "r2"), call("nope")];
    const first = testSession({ tools: [tool], runStore, compat: compat.all });
    const result = await first.execute(calls).result;
    expect(result.settled[0]?.repairs).toHaveLength(1);
    await first.close();
    const second = testSession({ tools: [tool], runStore, compat: compat.all });
    expect(await second.execute(calls, { turn: 1 }).result).toEqual(result);
    await second.close();
  });

  it("RUN-6: a host that goes on with the next turn had the result of a batch whose every call has settled", async () => {
    const calls: LeftCall[] = [{ name: "read", state: "succeeded" }];
    const read = recordingTool();
    const runStore = await leaveRun(calls);
    const session = testSession({ tools: [read.tool], runStore });
    expect(await misuseOf(session.execute([call("read")]).result)).toBe("INVALID_OPTIONS response");
    expect(outcomesOf(await session.execute([call("read")], { turn: 2 }).result)).toEqual(["succeeded"]);
    await session.close();
    const again = testSession({ tools: [read.tool], runStore });
    expect(textsOf(await again.execute(draftsOf(calls), { turn: 1 }).result)).toEqual(["stored"]);
    await again.close();
    expect(read.runs).toHaveLength(1);
  });

  it("RUN-6: goes on with the turn that was left by default, and then counts on", async () => {
    const calls: LeftCall[] = [{ name: "read", state: "succeeded" }, { name: "read" }];
    const read = recordingTool();
    const { session } = openBench({ tools: [read.tool], runStore: await leaveRun(calls) });
    const { result } = await finish(session.execute(draftsOf(calls)));
    expect([textsOf(result), read.runs.length, result.settled[0]?.operationId]).toEqual([
      ["stored", "ok"],
      1,
      "operation 0",
    ]);
    const next = await finish(session.execute([call("read")]));
    expect(next.events[0]?.turn).toBe(2);
    await session.close();
  });

  it.each([
    ["other arguments", [call("read", { other: 1 }, "c0")]],
    ["another tool", [call("other", {}, "c0")]],
    ["another id", [call("read", {}, "c9")]],
    ["more calls", [call("read", {}, "c0"), call("read", {}, "c1")]],
  ])("RUN-6: refuses %s while a response is left, and leaves the run as it was", async (_what, calls) => {
    const runStore = await leaveRun([{ name: "read" }]);
    const session = testSession({ tools: [recordingTool().tool], runStore });
    expect(await misuseOf(session.execute(calls).result)).toBe("INVALID_OPTIONS response");
    await session.close();
    // Nothing has ended: the run is still there to go on with.
    expect((await runStore.listOpen({ limit: 9 })).runs).toMatchObject([{ runId: "run", claimed: false }]);
    const second = testSession({ tools: [recordingTool().tool], runStore });
    expect(outcomesOf(await second.execute(draftsOf([{ name: "read" }])).result)).toEqual(["succeeded"]);
    await second.close();
  });

  it("PREP-10, RUN-6: what was recorded of a response stands: one that was cut off still runs nothing", async () => {
    const facts = leftFacts([{ name: "read" }], { epochs: null }).slice(0, 2);
    const cut = facts.map((fact) => (fact.kind === "response" ? { ...fact, stopReason: "length" as const } : fact));
    const read = recordingTool();
    const session = testSession({ tools: [read.tool], runStore: await storeOf(cut) });
    const { result } = await finish(session.execute(draftsOf([{ name: "read" }])));
    expect([outcomesOf(result), read.runs]).toEqual([["refused"], []]);
    await session.close();
  });

  it("RUN-6: refuses the run of an Agent, which has its own loop, and leaves it as it was", async () => {
    const runStore = await leaveRun([{ name: "read" }], { isAgents: true });
    const before = await factsIn(runStore);
    const session = testSession({ tools: [recordingTool().tool], runStore });
    expect(await misuseOf(session.execute(draftsOf([{ name: "read" }])).result)).toBe("INVALID_OPTIONS runId");
    await session.close();
    expect(await factsIn(runStore)).toEqual(before);
  });

  it("C28: a second session of the same run is refused while the first lives, and can go on when it is closed", async () => {
    const runStore = memoryRunStore();
    const [one, two] = [1, 2].map(() => testSession({ tools: [recordingTool().tool], runStore }));
    const [first, second] = [one?.execute(READ), two?.execute(READ)];
    await first?.result;
    expect(await misuseOf(second?.result ?? Promise.resolve())).toBe("RUN_CLAIMED runId");
    await one?.close();
    expect(outcomesOf((await two?.execute(READ, { turn: 1 }).result) ?? never())).toEqual(["succeeded", "succeeded"]);
    await two?.close();
  });

  it("REP-2, REP-7, RUN-6: the sequence of repeats goes on, and new evidence ends it, also before the run is claimed", async () => {
    const limits = { exactToolRepeatAdvisoryThreshold: 3, exactToolRepeatTerminationThreshold: 0 };
    const counts = async (store: MortalStore, isNews: boolean, turn: number) => {
      const session = testSession({ tools: [recordingTool().tool], runStore: store, limits });
      if (isNews) session.noteNewEvidence();
      const { events } = await finish(session.execute([call("read", { path: "a" }, `r${turn}`)], { turn }));
      store.isDead = true; // as if the process were gone
      return eventsOf(events, "toolRepeatDetected").map(({ count }) => count);
    };
    const first = new MortalStore();
    expect(await counts(first, false, 1)).toEqual([]);
    const second = first.successor();
    expect(await counts(second, false, 2)).toEqual([]);
    const [third, other] = [second.successor(), second.successor()];
    expect(await counts(third, false, 3)).toEqual([3]);
    expect(await counts(other, true, 3)).toEqual([]);
    // The evidence is recorded too.
    expect(await counts(other.successor(), false, 4)).toEqual([]);
  });

  it("UNC-6, RUN-6: what an earlier process left uncertain can be resolved, and blocks by its key until it is", async () => {
    const write = recordingTool({ name: "write", risk: "nonIdempotentWrite" });
    const calls: LeftCall[] = [{ name: "write", keys: ["k"], state: "dispatched" }];
    const keyed = { ...write.tool, conflictKey: () => "k" } as unknown as AnyTool;
    const runStore = await leaveRun(calls);
    const options = { tools: [keyed], uncertainWriteScope: "run", runStore } as const;
    const first = testSession(options);
    expect(outcomesOf(await first.execute(draftsOf(calls)).result)).toEqual(["uncertain"]);
    expect(outcomesOf(await first.execute([call("write")]).result)).toEqual(["blocked"]);
    await first.close();
    const second = testSession(options);
    expect(outcomesOf(await second.execute([call("write", "{}", "w3")]).result)).toEqual(["blocked"]);
    await second.close();
    const third = testSession(options);
    // Before anything was executed: the run is claimed for it.
    await third.resolveUncertain("c0", { status: "committed" });
    expect(outcomesOf(await third.execute([call("write", "{}", "w4")]).result)).toEqual(["succeeded"]);
    await third.close();
    const fourth = testSession(options);
    expect(outcomesOf(await fourth.execute([call("write", "{}", "w5")]).result)).toEqual(["succeeded"]);
    expect(await misuseOf(fourth.resolveUncertain("c0", { status: "failed" }))).toBe("OPERATION_UNKNOWN undefined");
    await fourth.close();
  });

  it("RUN-1, RUN-6: limits of the run count on, those of calls that were cancelled in preparation too", async () => {
    const limits = { maxToolCalls: 3 };
    const abort = new AbortController();
    const hooks = {
      rewriteToolCall: ({ turn }: { readonly turn: number }) => {
        if (turn === 1) abort.abort();
        return undefined;
      },
    };
    const store = new MortalStore();
    const first = testSession({ tools: [recordingTool().tool], runStore: store, limits, hooks });
    expect(outcomesOf(await first.execute(READ, { signal: abort.signal }).result)).toEqual(["cancelled", "cancelled"]);
    store.isDead = true;
    const second = testSession({ tools: [recordingTool().tool], runStore: store.successor(), limits });
    expect(outcomesOf(await second.execute([call("read")], { turn: 2 }).result)).toEqual(["succeeded"]);
    expect(await second.execute([call("read", "{}", "r4")]).result).toMatchObject({ closedBy: "maxToolCalls" });
    await second.close();
  });

  it("RUN-6: calls that were cancelled while they were prepared keep their results", async () => {
    const cancelled = (index: number): RunFact => ({
      kind: "settled",
      turn: 1,
      index,
      operationId: `operation ${index}`,
      outcome: "cancelled",
      result: { content: [], isError: true, outcomeUncertain: false, terminate: false, failureCategory: "cancelled" },
      endedAtMs: 5,
    });
    const calls: LeftCall[] = [{ name: "read" }, { name: "read" }];
    const facts = [...leftFacts(calls, { epochs: null }).slice(0, 2), cancelled(0), cancelled(1)];
    const read = recordingTool();
    const runStore = await storeOf(facts);
    const session = testSession({ tools: [read.tool], runStore });
    const { result, events } = await finish(session.execute(draftsOf(calls)));
    expect([outcomesOf(result), result.settled[1]?.endedAtMs, read.runs, events]).toEqual([
      ["cancelled", "cancelled"],
      5,
      [],
      [],
    ]);
    await session.close();
    expect((await factsIn(runStore)).map(({ kind }) => kind).slice(4)).toEqual(["batchEnded", "ended"]);
  });
});

describe("drafts that no store could keep", () => {
  const cycle: Record<string, unknown> = { n: 1 };
  cycle.self = cycle;
  it.each([
    ["a cycle", cycle],
    ["a big integer", { n: 1n }],
    [
      "a getter that throws",
      Object.defineProperty({}, "n", {
        enumerable: true,
        get: () => {
          throw new Error("no");
        },
      }),
    ],
    ["a function", { n: () => 1 }],
    ["a date", { n: new Date(0) }],
  ])(
    "PREP-11, RUN-6: %s is refused as ever, costs nobody the store, and is refused again by the next process",
    async (_what, draft) => {
      const tool = recordingTool({ prepareArguments: () => ({}) });
      const calls = [call("read", draft as never, "bad"), call("read", "{}", "good")];
      for (const when of [1, 2]) {
        const store = new MortalStore({ kind: "dies", at: when, when: "before" });
        leaveChartsOpen();
        const first = testSession({ tools: [tool.tool], runStore: store });
        void first.execute(calls).result.catch(() => undefined);
        for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
        expect(store.isDead).toBe(true);
        const second = testSession({ tools: [tool.tool], runStore: store.successor() });
        const { result } = await finish(second.execute(calls, { turn: 1 }));
        expect([when, outcomesOf(result)]).toEqual([when, ["refused", "succeeded"]]);
        await second.close();
      }
    },
  );

  it("RUN-6: opaque data of a provider that is no JSON is left out of the store, and the call runs", async () => {
    const store = new MortalStore();
    const session = testSession({ tools: [recordingTool().tool], runStore: store });
    const given = { ...call("read"), providerData: { n: 1n as never } };
    const { settled, messages } = await session.execute([given]).result;
    expect([settled[0]?.outcome, messages[0]?.role === "toolResult" && messages[0].providerData]).toEqual([
      "succeeded",
      { n: 1n },
    ]);
    expect(store.facts.find(({ kind }) => kind === "response")).toMatchObject({
      calls: [{ id: "read", name: "read", arguments: "{}" }],
    });
    await session.close();
  });
});

describe("a store that is asked anew", () => {
  it("RUN-6: after a claim that failed, the next response tries again", async () => {
    const runStore = memoryRunStore();
    const holder = await runStore.claim("run", { create: true });
    const session = testSession({ tools: [recordingTool().tool], runStore });
    expect(await misuseOf(session.execute([call("read")]).result)).toBe("RUN_CLAIMED runId");
    await holder.release();
    expect(outcomesOf(await session.execute([call("read")]).result)).toEqual(["succeeded"]);
    await session.close();
  });

  it("RUN-6: setTools between a restart and the response that was left: a tool that is gone refuses its calls", async () => {
    const calls: LeftCall[] = [{ name: "gone" }, { name: "read" }, { name: "gone", state: "succeeded" }];
    const session = testSession({ tools: [recordingTool().tool], runStore: await leaveRun(calls) });
    const { result } = await finish(session.execute(draftsOf(calls)));
    expect(result.settled.map(({ outcome, result: { failureCategory } }) => [outcome, failureCategory])).toEqual([
      ["refused", "invalidArguments"],
      ["succeeded", undefined],
      ["succeeded", undefined],
    ]);
    expect(textsOf(result)[0]).toContain("no longer there");
    await session.close();
  });

  it("EPOCH-2, RUN-6: the plan stands, even if the marks of tools and the mode are others now", async () => {
    const calls: LeftCall[] = [{ name: "slow" }, { name: "slow" }, { name: "slow" }];
    // Planned as two that may overlap and one behind them; marked sequential now.
    const slow = controllableTool({ name: "slow", risk: "nonIdempotentWrite", executionMode: "sequential" });
    const runStore = await leaveRun(calls, { epochs: [[0, 2], [1]] });
    const { session, start, advance } = openBench({ tools: [slow], runStore, toolExecution: "sequential" });
    const { result } = await start(draftsOf(calls));
    expect(slow.pending.map(({ callIndex }) => callIndex)).toEqual([0, 2]);
    for (const { resolve } of [...slow.pending]) resolve(toolResult({ value: "ok" }));
    await advance();
    expect(slow.pending.map(({ callIndex }) => callIndex)).toEqual([1]);
    slow.pending[0]?.resolve("ok");
    expect(outcomesOf(await result)).toEqual(["succeeded", "succeeded", "succeeded"]);
    await session.close();
    expect((await factsIn(runStore)).filter(({ kind }) => kind === "planned")).toHaveLength(1);
  });

  it("PREP-9, RUN-6: what was prepared is not refused by limits that are smaller now", async () => {
    const calls: LeftCall[] = [
      { name: "read", state: "succeeded" },
      { name: "read", arguments: { long: "x".repeat(50) } },
    ];
    const limits = { maxToolCallsPerTurn: 1, maxToolCalls: 1, maxArgumentCharacters: 10 };
    const session = testSession({ tools: [recordingTool().tool], runStore: await leaveRun(calls), limits });
    expect(outcomesOf(await session.execute(draftsOf(calls)).result)).toEqual(["succeeded", "succeeded"]);
    await session.close();
  });
});

function never(): never {
  throw new Error("there is no result");
}

/** Closes a session, and tells what its store has. */
async function factsIn2(session: { close(): Promise<void> }, store: Parameters<typeof factsIn>[0]) {
  await session.close();
  return factsIn(store);
}

describe("what a process that lives leaves behind", () => {
  const LIMITS = { toolTimeoutMs: 100, cancellationGraceMs: 10, abandonAfterMs: 5_000 };

  it.each([
    ["its key", "k"],
    ["every later write, where it has no key", undefined],
  ])(
    "EPOCH-8, RUN-6: an abandoned write keeps %s in the next session too, until its time is over",
    async (_what, key) => {
      const stuck = controllableTool({ name: "stuck", risk: "nonIdempotentWrite", conflictKey: () => key });
      const runStore = memoryRunStore();
      const simulated = trackedClock();
      const first = openBench({ tools: [stuck], runStore, limits: LIMITS, simulated });
      const { result } = await first.start([call("stuck")]);
      await first.advance(110);
      expect(outcomesOf(await result)).toEqual(["uncertain"]);
      await first.session.close();

      const later = recordingTool({ name: "later", risk: "nonIdempotentWrite", conflictKey: (() => "k") as never });
      const other = recordingTool({ name: "other", risk: "nonIdempotentWrite", conflictKey: (() => "other") as never });
      const second = openBench({ tools: [later.tool, other.tool], runStore, limits: LIMITS, simulated });
      const batch = await second.start([call("other"), call("later")]);
      expect([other.runs.length, later.runs.length]).toEqual([key === undefined ? 0 : 1, 0]);
      // The signal fired at 100, the hold lasts for 5,000 more.
      await second.advance(4_989);
      expect(later.runs).toHaveLength(0);
      await second.advance(1);
      expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded"]);
      await second.session.close();
      expect((await factsIn(runStore)).find(({ kind }) => kind === "settled")).toMatchObject({
        heldUntilMs: 1_767_225_600_000 + 100 + 5_000,
      });
      stuck.pending[0]?.resolve("late");
      await second.advance();
    },
  );

  it("EPOCH-8, RUN-6: a write that ended in time, and one of a process that died, keep nothing", async () => {
    const write = recordingTool({ name: "write", risk: "nonIdempotentWrite", conflictKey: (() => "k") as never });
    const runStore = await leaveRun([{ name: "write", keys: ["k"], state: "dispatched" }]);
    const { session, start } = openBench({ tools: [write.tool], runStore });
    await start(draftsOf([{ name: "write" }]));
    const next = await start([call("write")]);
    expect(outcomesOf(await next.result)).toEqual(["succeeded"]);
    await session.close();
  });

  it.each([
    ["before its calls were counted: they count", "prepared", [2]],
    ["when they had been counted: it is over with them", "planned", []],
  ] as const)("REP-7, RUN-6: new evidence %s", async (_when, behind, counts) => {
    const limits = { exactToolRepeatAdvisoryThreshold: 2, exactToolRepeatTerminationThreshold: 0 };
    const calls: LeftCall[] = [{ name: "read" }];
    const facts = leftFacts(calls, {}).flatMap((fact): RunFact[] =>
      fact.kind === behind ? [fact, { kind: "evidence" }] : [fact],
    );
    const session = testSession({ tools: [recordingTool().tool], runStore: await storeOf(facts), limits });
    await session.execute(draftsOf(calls)).result;
    const { events } = await finish(session.execute([call("read", {}, "again")]));
    expect(eventsOf(events, "toolRepeatDetected").map(({ count }) => count)).toEqual(counts);
    await session.close();
  });
});
