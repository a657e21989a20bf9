import { memoryRunStore, type RunFact } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { factsIn, leaveRun, leftFacts, storeOf } from "../support/left-run.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";

const queued = (text: string, queue: "steering" | "followUp" = "steering"): RunFact => ({
  kind: "queued",
  queue,
  message: { role: "user", content: text },
});

/** What of a run's facts is about messages that were said. */
function saidIn(facts: readonly RunFact[]): string[] {
  return facts.flatMap((fact) => {
    if (fact.kind === "queued") return [`${fact.queue} ${String(fact.message.content)}`];
    return fact.kind === "delivered" ? [`delivered ${fact.queue}`] : [];
  });
}

/** The facts of a run whose model has answered without calls, and that has not ended. */
const ANSWERED: readonly RunFact[] = [
  { kind: "begun", earlier: [] },
  { kind: "message", message: { role: "user", content: "go" } },
  {
    kind: "response",
    turn: 1,
    message: { role: "assistant", content: [{ type: "text", text: "first" }], stopReason: "stop" },
    calls: [],
    hasDuplicateIds: false,
    stopReason: "stop",
    totalTokens: 5,
  },
];
const PROMPTED = ANSWERED.slice(0, 2);

describe("what is said to a run", () => {
  it("RUN-3, RUN-6: is recorded behind its beginning, also where it was said before the store had answered", async () => {
    const runStore = memoryRunStore();
    const bench = openAgentBench({ script: [say("first"), say("second"), say("third")], runStore });
    const { run, finish } = bench.start();
    run.steer("s1");
    run.followUp("f1");
    const { result, events } = await finish();
    expect(linesOf(result.messages)).toEqual([
      ...["user go", "assistant first", "user s1", "assistant second", "user f1", "assistant third"],
    ]);
    expect(events.slice(0, 4).map(({ kind }) => kind)).toEqual([
      ...["runStarted", "messageQueued", "messageQueued", "messageEnded"],
    ]);
    const facts = await factsIn(runStore);
    expect(saidIn(facts)).toEqual(["steering s1", "followUp f1", "delivered steering", "delivered followUp"]);
    expect(facts[0]?.kind).toBe("begun");
    const again = await bench.resume("run").finish();
    leaveChartsOpen(); // nothing was left to begin
    expect(again.result.messages).toEqual(result.messages);
  });

  it("RUN-6: is there for the next process, in order, however small its queues are now", async () => {
    const runStore = await storeOf([...ANSWERED, queued("s1"), queued("s2"), queued("f1", "followUp")]);
    const bench = openAgentBench({ script: [say("second"), say("third")], runStore, limits: { maxQueuedMessages: 1 } });
    const { run, finish } = bench.resume("run");
    expect([run.steer("s3"), run.steer("s4")]).toEqual([{ accepted: true }, { accepted: false, reason: "full" }]);
    const { result } = await finish();
    expect(linesOf(result.messages)).toEqual([
      ...["user go", "assistant first", "user s1", "user s2", "user s3", "assistant second", "user f1"],
      "assistant third",
    ]);
    expect(saidIn(await factsIn(runStore)).slice(3)).toEqual([
      ...["steering s3", "delivered steering", "delivered followUp"],
    ]);
  });

  it("RUN-6: and has reached the transcript is answered, before anything else", async () => {
    const runStore = await storeOf([...ANSWERED, queued("s1"), { kind: "delivered", queue: "steering" }]);
    const bench = openAgentBench({ script: [say("second")], runStore });
    const { result } = await bench.resume("run").finish();
    expect(linesOf(result.messages)).toEqual(["user go", "assistant first", "user s1", "assistant second"]);
    expect(bench.requests.map(({ turn }) => turn)).toEqual([2]);
  });

  it("RUN-2, RUN-6: and was never delivered comes back when the run ends", async () => {
    const runStore = await storeOf([...ANSWERED, queued("s1"), queued("f1", "followUp")]);
    const bench = openAgentBench({ runStore, hooks: { shouldStopAfterTurn: () => true } });
    const { result } = await bench.resume("run").finish();
    expect([endOf({ result }), linesOf(result.undelivered)]).toEqual(["stopped by shouldStop", ["user s1", "user f1"]]);
  });
});

describe("a message that comes with resume", () => {
  it.each([
    ["its prompt", PROMPTED, ["user go", "user wait", "assistant next"]],
    ["its last answer", ANSWERED, ["user go", "assistant first", "user wait", "assistant next"]],
    [
      "a message before",
      [...PROMPTED, queued("s1")],
      // Both are for the request that is about to be made.
      ["user go", "user s1", "user wait", "assistant next"],
    ],
  ])(
    "RUN-3, RUN-6: goes to the model with the next request of a run that was left behind %s",
    async (_place, facts, lines) => {
      const runStore = await storeOf(facts);
      const bench = openAgentBench({ script: [say("next")], runStore });
      const { result } = await bench.resume("run", { message: "wait" }).finish();
      expect(linesOf(result.messages)).toEqual(lines);
      expect(saidIn(await factsIn(runStore)).slice(-2)).toEqual(["steering wait", "delivered steering"]);
    },
  );

  it("RUN-3, RUN-6: comes behind the results of a batch that was left, and cancels nothing of it", async () => {
    const { tool, runs } = recordingTool();
    const runStore = await leaveRun([{ name: "read" }], { isAgents: true });
    const bench = openAgentBench({ tools: [tool], script: [say("next")], runStore });
    const { result } = await bench.resume("run", { message: "wait" }).finish();
    expect(linesOf(result.messages)).toEqual([
      "user go",
      "assistant read#c0",
      "result c0 ok",
      "user wait",
      "assistant next",
    ]);
    expect(runs).toEqual([{}]);
  });

  it("APP-4, RUN-6: blocks what is undecided, before itself, and survives the next death", async () => {
    const { tool, runs } = recordingTool();
    const facts = leftFacts([{ name: "read", state: "asks" }, { name: "read" }], { isAgents: true, epochs: null });
    // It dies when the batch has ended.
    const store = new MortalStore({ kind: "dies", at: 3, when: "before" }, [{ facts, progress: undefined }]);
    const first = openAgentBench({ tools: [tool], script: [], runStore: store });
    const { run } = first.resume("run", { message: "no, wait" });
    await first.advance();
    expect([store.isDead, runs.length, saidIn(store.facts)]).toEqual([true, 1, ["steering no, wait"]]);

    const second = openAgentBench({ tools: [tool], script: [say("next")], runStore: store.successor() });
    const { result } = await second.resume("run").finish();
    expect(linesOf(result.messages)).toEqual([
      ...[
        "user go",
        "assistant read#c0, read#c1",
        "error c0 not_executed: no",
        "result c1 ok",
        "user no, wait",
        "assistant next",
      ],
    ]);
    expect(runs).toHaveLength(1);
    store.wake();
    await first.advance(1_000);
    expect((await run.result).status).toBe("kernelError");
  });

  it("RUN-3: to a run that has ended comes back undelivered, with the stored result", async () => {
    const runStore = memoryRunStore();
    const bench = openAgentBench({ script: [say()], runStore });
    const { result } = await bench.play();
    const again = await bench.resume("run", { message: "too late" }).finish();
    leaveChartsOpen(); // nothing was left to begin
    expect([endOf(again), linesOf(again.result.undelivered)]).toEqual(["completed by noCalls", ["user too late"]]);
    expect(again.result.messages).toEqual(result.messages);
    expect(saidIn(await factsIn(runStore))).toEqual([]);
  });
});

describe("steering", () => {
  it("APP-4, RUN-6: that was queued when approvals are asked is their answer in the next process too", async () => {
    const { tool, runs } = recordingTool();
    const facts = leftFacts([{ name: "read", state: "asks" }], { isAgents: true, epochs: null, more: [queued("no")] });
    const bench = openAgentBench({ tools: [tool], script: [say("next")], runStore: await storeOf(facts) });
    const { result } = await bench.resume("run").finish();
    expect(linesOf(result.messages)).toEqual([
      ...["user go", "assistant read#c0", "error c0 not_executed: no", "user no", "assistant next"],
    ]);
    expect(runs).toEqual([]);
  });

  it("REP-7, RUN-6: resets the sequence of repeats also where it was delivered by an earlier process", async () => {
    const limits = { exactToolRepeatAdvisoryThreshold: 2, exactToolRepeatTerminationThreshold: 0 };
    const ended: RunFact = {
      kind: "batchEnded",
      turn: 1,
      messages: [
        {
          role: "toolResult",
          callId: "c0",
          toolName: "read",
          callIndex: 0,
          content: [],
          isError: false,
          outcomeUncertain: false,
          terminate: false,
        },
      ],
    };
    const before = leftFacts([{ name: "read", state: "succeeded" }], { isAgents: true, more: [ended] });
    const script = [ask(callPart("read", "again")), say()];
    const without = openAgentBench({ script, limits, runStore: await storeOf(before) });
    const repeated = await without.resume("run").finish();
    expect(eventsOf(repeated.events, "toolRepeatDetected").map(({ count }) => count)).toEqual([2]);
    const said: RunFact[] = [queued("s1"), { kind: "delivered", queue: "steering" }];
    const bench = openAgentBench({ script, limits, runStore: await storeOf([...before, ...said]) });
    const { events, result } = await bench.resume("run").finish();
    expect([endOf({ result }), eventsOf(events, "toolRepeatDetected")]).toEqual(["completed by noCalls", []]);
  });

  it("RUN-3: is accepted by a running tool as ever and lost by nobody", async () => {
    const slow = controllableTool({ name: "slow", risk: "readOnly" });
    const runStore = memoryRunStore();
    const bench = openAgentBench({ tools: [slow], script: [ask("slow"), say("next")], runStore });
    const { run } = bench.start();
    await bench.advance();
    run.steer("s1");
    slow.pending[0]?.resolve("ok");
    await bench.advance();
    expect(linesOf((await run.result).messages).slice(-2)).toEqual(["user s1", "assistant next"]);
  });
});
