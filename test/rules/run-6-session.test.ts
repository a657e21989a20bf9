import { type JsonValue, memoryRunStore } from "toolkernel";
import { describe, expect, it } from "vitest";
import { openBench } from "../support/execution-bench.ts";
import { draftsOf, factsIn, type LeftCall, leaveRun } from "../support/left-run.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { misuseOf, READ } from "../support/run-6-session-scene.ts";
import { call, finish, outcomesOf, recordingTool, testSession, textsOf } from "../support/run-calls.ts";

/** Closes a session, and tells what its store has. */
async function factsIn2(session: { close(): Promise<void> }, store: Parameters<typeof factsIn>[0]) {
  await session.close();
  return factsIn(store);
}

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

  it("RUN-6: gives it again in the session that ran it too, and what comes then has a turn of its own", async () => {
    const write = recordingTool({ name: "write" });
    const session = testSession({ tools: [write.tool], runStore: memoryRunStore() });
    const [one, two] = [[call("write", '{"n":1}', "a")], [call("write", '{"n":2}', "b")]];
    const results = [await session.execute(one).result, await session.execute(two).result];
    expect([await session.execute(one, { turn: 1 }).result, await session.execute(two).result]).toEqual(results);
    expect(await session.execute(one, { turn: 1 }).result).toEqual(results[0]);
    expect(write.runs).toEqual([{ n: 1 }, { n: 2 }]);
    const { settled } = await session.execute([call("write", '{"n":3}', "c")]).result;
    const ids = [...results.flatMap((result) => result.settled), ...settled].map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(3);
    await session.close();
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
});
