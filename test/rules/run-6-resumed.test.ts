import { defineTool, type RunFact } from "toolkernel";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { factsIn, type LeftCall, leaveRun, leftFacts, storeOf } from "../support/left-run.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

describe("a run that is resumed", () => {
  it("C33, PREP-1: runs with the arguments that were stored: no schema, tool or hook is asked again", async () => {
    const asked: string[] = [];
    const note = <Answer>(what: string, answer: Answer): Answer => {
      asked.push(what);
      return answer;
    };
    const tool = defineTool({
      name: "read",
      description: "Reads.",
      risk: "readOnly",
      inputSchema: z.object({ n: z.string().transform((text) => note("transform", Number(text))) }),
      validate: () => note("validate", undefined),
      conflictKey: () => note("key", undefined),
      prepareArguments: (draft) => note("prepare", draft),
      execute: ({ n }) => note(`run ${typeof n} ${n}`, "ok"),
    });
    const hooks = {
      rewriteToolCall: () => note("rewrite", undefined),
      authorizeToolCall: () => note("authorize", undefined),
    };
    // It dies when the plan and the dispatch are to be recorded.
    const store = new MortalStore({ kind: "dies", at: 2, when: "after" });
    const first = openAgentBench({
      tools: [tool],
      hooks,
      script: [ask(callPart("read", "a", { n: "3" }))],
      runStore: store,
    });
    const { run } = first.start();
    await first.advance();
    expect([store.isDead, asked]).toEqual([true, ["prepare", "rewrite", "transform", "validate", "key", "authorize"]]);
    asked.length = 0;
    const second = openAgentBench({ tools: [tool], hooks, script: [say()], runStore: store.successor() });
    const { result } = await second.resume("run").finish();
    expect([endOf({ result }), asked]).toEqual(["completed by noCalls", ["run number 3"]]);
    store.wake();
    await first.advance(1_000);
    await run.result;
  });

  it("RUN-1, RUN-6: counts turns, calls and tokens on from where they were", async () => {
    const usage = { inputTokens: 1, outputTokens: 4, totalTokens: 5 };
    const facts = leftFacts([{ name: "read" }], { isAgents: true }).map(
      (fact): RunFact => (fact.kind === "response" ? { ...fact, totalTokens: 95 } : fact),
    );
    const bench = openAgentBench({
      script: [{ ...ask(callPart("read", "x")), usage }],
      runStore: await storeOf(facts),
      limits: { maxTotalTokens: 100 },
    });
    const { result } = await bench.resume("run").finish();
    expect([endOf({ result }), result.turns, result.toolCalls]).toEqual(["limitExceeded by maxTotalTokens", 2, 2]);
  });

  it("PREP-9, RUN-5: ids of calls stay distinct over what an earlier process had", async () => {
    const bench = openAgentBench({
      script: [ask(callPart("read", "c0")), say()],
      runStore: await leaveRun([{ name: "read" }], { isAgents: true }),
    });
    const { result } = await bench.resume("run").finish();
    expect(findTranscriptFaults(result.messages)).toEqual([]);
    expect(linesOf(result.messages)[3]).toBe("assistant read#call_2_0");
  });

  it("RUN-1, RUN-6: whose last response ended in an error ends so, with the provider's word", async () => {
    const facts: RunFact[] = [
      { kind: "begun", earlier: [] },
      { kind: "message", message: { role: "user", content: "go" } },
      {
        kind: "response",
        turn: 1,
        message: { role: "assistant", content: [{ type: "text", text: "half" }], stopReason: "error" },
        calls: [],
        hasDuplicateIds: false,
        stopReason: "error",
        totalTokens: 0,
        errorMessage: "overloaded",
      },
    ];
    const bench = openAgentBench({ runStore: await storeOf(facts) });
    const { result } = await bench.resume("run").finish();
    expect([endOf({ result }), result.error?.message]).toEqual(["providerError by modelError", "overloaded"]);
  });

  it("UNC-6, RUN-6: can be told at once what became of a write that was left uncertain", async () => {
    const write = recordingTool({ name: "write", risk: "nonIdempotentWrite", conflictKey: () => "k" as never });
    const calls: LeftCall[] = [
      { name: "write", keys: ["k"], state: "uncertain" },
      { name: "write", keys: ["k"], arguments: { second: true } },
    ];
    const runStore = await leaveRun(calls, { isAgents: true });
    const bench = openAgentBench({
      tools: [write.tool],
      script: [ask(callPart("write", "d")), say()],
      runStore,
      uncertainWriteScope: "run",
    });
    const { run, finish } = bench.resume("run");
    const resolved = run.resolveUncertain("c0", { status: "committed" });
    const { result } = await finish();
    await resolved;
    // What is judged when it is taken up is blocked; what comes then is not.
    expect(linesOf(result.messages).slice(2)).toEqual([
      ...["error c0 unknown", "error c1 not_executed: the", "assistant write#d", "result d ok", "assistant done"],
    ]);
    expect((await factsIn(runStore)).filter(({ kind }) => kind === "resolved")).toEqual([
      { kind: "resolved", operationId: "operation 0" },
    ]);
  });

  it("OBS-4: counts only what this process did", async () => {
    const calls: LeftCall[] = [
      { name: "write", keys: ["a"], state: "succeeded" },
      { name: "write", keys: ["b"], state: "dispatched" },
      { name: "write", keys: ["c"] },
    ];
    const write = recordingTool({ name: "write", risk: "nonIdempotentWrite" });
    const runStore = await leaveRun(calls, { isAgents: true });
    const bench = openAgentBench({ tools: [write.tool], script: [say()], runStore });
    const { result, events } = await bench.resume("run").finish();
    const { toolCalls, worldWrites, uncertainWrites, times } = result.performance;
    expect({ toolCalls, worldWrites, uncertainWrites, queueMs: times.queueMs, barrierMs: times.barrierMs }).toEqual({
      toolCalls: 2,
      worldWrites: 1,
      uncertainWrites: 1,
      queueMs: 0,
      barrierMs: 0,
    });
    expect(eventsOf(events, "toolEnded").map(({ callId }) => callId)).toEqual(["c1", "c2"]);
  });
});
