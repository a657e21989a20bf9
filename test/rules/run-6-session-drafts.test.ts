import { type AnyTool, memoryRunStore, type RunFact } from "toolkernel";
import { describe, expect, it } from "vitest";
import { draftsOf, factsIn, type LeftCall, leaveRun, leftFacts, storeOf } from "../support/left-run.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { misuseOf, READ } from "../support/run-6-session-scene.ts";
import { call, eventsOf, finish, outcomesOf, recordingTool, testSession } from "../support/run-calls.ts";

function never(): never {
  throw new Error("there is no result");
}

describe("a session over a store", () => {
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
        store.wake();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  );

  it("RUN-6: opaque data of a provider that is not JSON is left out of message and store, and the call runs", async () => {
    const store = new MortalStore();
    const session = testSession({ tools: [recordingTool().tool], runStore: store });
    const given = { ...call("read"), providerData: { n: 1n as never } };
    const { settled, messages } = await session.execute([given]).result;
    expect([settled[0]?.outcome, messages[0]?.role === "toolResult" && messages[0].providerData]).toEqual([
      "succeeded",
      undefined,
    ]);
    expect(store.facts.find(({ kind }) => kind === "response")).toMatchObject({
      calls: [{ id: "read", name: "read", arguments: "{}" }],
    });
    await session.close();
  });
});
