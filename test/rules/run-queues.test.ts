import { KernelError, type KernelEvent, memoryRunStore, type Run, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { type AgentBenchOptions, ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { isAt, playSaying, steer } from "../support/run-steer-scene.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

describe.each(["steer", "followUp"] as const)("the queue of %s", (name) => {
  const put = (run: Run, text: string) => run[name](text);

  it("RUN-3: takes 64 messages, says that it is full at the 65th, and loses none", async () => {
    const bench = openAgentBench({ script: [say("one"), say("two")] });
    const { run, finish } = bench.start();
    const texts = Array.from({ length: 65 }, (_none, index) => `m${index}`);
    const answers = texts.map((text) => put(run, text));
    expect(answers.slice(0, 64)).toEqual(Array.from({ length: 64 }, () => ({ accepted: true })));
    expect(answers[64]).toEqual({ accepted: false, reason: "full" });
    const played = await finish();
    expect(linesOf(played.result.newMessages).filter((line) => line.startsWith("user m"))).toEqual(
      texts.slice(0, 64).map((text) => `user ${text}`),
    );
    expect(eventsOf(played.events, "messageQueued")).toHaveLength(64);
  });

  it("RUN-3: has a bound of its own that the host sets, and room again once it was delivered", async () => {
    const limits = { maxQueuedMessages: 1 };
    const bench = openAgentBench({ limits, script: [say(), say(), say()] });
    const { run, finish } = bench.start();
    const other = name === "steer" ? "followUp" : "steer";
    expect([put(run, "a"), put(run, "b"), run[other]("c")]).toEqual([
      { accepted: true },
      { accepted: false, reason: "full" },
      { accepted: true },
    ]);
    const again: unknown[] = [];
    run.subscribe((event) => {
      if (event.kind !== "messageEnded" || event.message.role !== "user" || event.message.content !== "a") return;
      again.push(put(run, "d"), put(run, "e"));
    });
    const played = await finish();
    expect(again).toEqual([{ accepted: true }, { accepted: false, reason: "full" }]);
    const users = linesOf(played.result.newMessages).filter((line) => line.startsWith("user"));
    expect(users.sort()).toEqual(["user a", "user c", "user d", "user go"]);
  });

  it("RUN-3: that a listener floods as it is told fills up, and the run goes on", async () => {
    const bench = openAgentBench({ script: [say("one"), say("two")], limits: { maxQueuedMessages: 10 } });
    const { run, finish } = bench.start();
    const answers: string[] = [];
    run.subscribe((event) => {
      if (event.kind !== "messageQueued") return;
      const answer = put(run, "more");
      answers.push(answer.accepted ? "accepted" : answer.reason);
    });
    put(run, "first");
    const played = await finish();
    expect(answers).toEqual([...Array.from({ length: 9 }, () => "accepted"), "full"]);
    expect(endOf(played)).toBe("completed by noCalls");
    expect(findTranscriptFaults(played.result.messages)).toEqual([]);
  });

  it("RUN-3: says that the run has ended, from its last event on", async () => {
    const bench = openAgentBench({ script: [say()] });
    const { run, finish } = bench.start();
    const atTheEnd: unknown[] = [];
    run.subscribe((event) => {
      if (event.kind === "runEnded") atTheEnd.push(put(run, "late"));
    });
    const played = await finish();
    expect([...atTheEnd, put(run, "later")]).toEqual([
      { accepted: false, reason: "ended" },
      { accepted: false, reason: "ended" },
    ]);
    expect([played.result.undelivered, linesOf(played.result.messages)]).toEqual([[], ["user go", "assistant done"]]);
  });

  it("RUN-3: of a run that never started has ended", async () => {
    const { run, finish } = openAgentBench().start([{ role: "robot" } as never]);
    expect(put(run, "hello")).toEqual({ accepted: false, reason: "ended" });
    expect((await finish()).result.undelivered).toEqual([]);
  });

  it("RUN-3: of a run whose store gives its result again has ended, and gives back what it took meanwhile", async () => {
    // The second run has nothing left to begin.
    leaveChartsOpen();
    const bench = openAgentBench({ script: [say()], runStore: memoryRunStore() });
    await bench.play();
    const again = bench.resume("run");
    expect(put(again.run, "early")).toEqual({ accepted: true });
    const { result } = await again.finish();
    expect([endOf({ result }), linesOf(result.undelivered)]).toEqual(["completed by noCalls", ["user early"]]);
    expect(put(again.run, "late")).toEqual({ accepted: false, reason: "ended" });
  });

  it.each([
    ["null", null],
    ["a number", 5],
    ["a list", ["x"]],
    ["a message of another role", { role: "assistant", content: [] }],
    ["a message without content", { role: "user" }],
    ["a part of an unknown type", { role: "user", content: [{ type: "video" }] }],
    ["a part that is null", { role: "user", content: [null] }],
  ])("RUN-3: throws for %s, and has then taken nothing", async (_what, message) => {
    const bench = openAgentBench({ script: [say()] });
    const { run, finish } = bench.start();
    expect(() => put(run, message as never)).toThrow(KernelError);
    expect(() => put(run, message as never)).toThrow(/^message /);
    const played = await finish();
    expect([played.result.undelivered, eventsOf(played.events, "messageQueued")]).toEqual([[], []]);
  });
});

describe("nothing accepted is lost", () => {
  const stop = { ...recordingTool({ name: "stop" }).tool, execute: () => toolResult({ value: "ok", terminate: true }) };
  const endings: readonly (readonly [string, AgentBenchOptions])[] = [
    ["completed by noCalls", { script: [say(), say(), say()] }],
    ["completed by allTerminate", { tools: [stop], script: [ask("stop"), ask("stop"), ask("stop")] }],
    ["stopped by shouldStop", { script: [say()], hooks: { shouldStopAfterTurn: () => true } }],
    ["limitExceeded by maxTurns", { script: [say(), say()], limits: { maxTurns: 2 } }],
    ["limitExceeded by maxToolCalls", { script: [ask("read", callPart("read", "b"))], limits: { maxToolCalls: 1 } }],
    [
      "limitExceeded by maxTotalTokens",
      { script: [say("x", { inputTokens: 1, outputTokens: 1, totalTokens: 2 })], limits: { maxTotalTokens: 2 } },
    ],
    ["providerError by modelError", { script: [] }],
    ["providerError by invalidResponse", { model: { generate: async () => ({}) as never } }],
    ["kernelError", { script: [say()], hooks: { prepareNextTurn: () => Promise.reject(new Error("no")) } }],
    ["kernelError", { script: [say()], hooks: { shouldStopAfterTurn: () => Promise.reject(new Error("no")) } }],
  ];

  it.each(endings)(
    "RUN-3: in a run that is %s every message was delivered or comes back, once",
    async (end, options) => {
      const bench = openAgentBench(options);
      const { run, finish } = bench.start();
      for (const text of ["s1", "s2"]) run.steer(text);
      for (const text of ["f1", "f2"]) run.followUp(text);
      const played = await finish();
      expect(endOf(played)).toBe(end);
      const { newMessages, undelivered } = played.result;
      const users = linesOf([...newMessages, ...undelivered]).filter((line) => line.startsWith("user"));
      expect(users.sort()).toEqual(["user f1", "user f2", "user go", "user s1", "user s2"]);
      const sent = new Set(bench.requests.flatMap(({ messages }) => linesOf(messages)));
      expect(linesOf(undelivered).filter((line) => sent.has(line))).toEqual([]);
    },
  );
});

describe("new evidence", () => {
  const counts = (events: readonly KernelEvent[]) =>
    eventsOf(events, "toolRepeatDetected").map(({ action, count, turn }) => `${action} ${count} in turn ${turn}`);
  const repeats = (count: number) => [...Array.from({ length: count }, () => ask("read")), say(), say()];

  it("REP-7: without it the sequence goes over turns", async () => {
    const played = await openAgentBench({ script: repeats(4) }).play();
    expect(counts(played.events)).toEqual(["advisory 3 in turn 3"]);
    expect(linesOf(played.result.messages).slice(5, 9)).toEqual([
      ...["assistant read#call_3_0", "result call_3_0 ok", "policy", "assistant read#call_4_0"],
    ]);
  });

  it("REP-7, C70: steering that reaches the model resets the sequence", async () => {
    const played = await playSaying(steer, isAt("toolEnded", 2), { script: repeats(4) });
    expect(counts(played.events)).toEqual([]);
    const again = await playSaying(steer, isAt("toolEnded", 2), { script: repeats(5) });
    expect(counts(again.events)).toEqual(["advisory 3 in turn 5"]);
  });

  it("REP-7: steering that is still queued resets nothing", async () => {
    const played = await playSaying(steer, isAt("toolStarted", 3), { script: repeats(3) });
    expect(counts(played.events)).toEqual(["advisory 3 in turn 3"]);
  });

  it("REP-7: a follow-up that reaches the model resets it too", async () => {
    const script = [ask("read"), ask("read"), say(), ask("read"), ask("read"), say()];
    const without = openAgentBench({
      script: script.filter((response) => response.stopReason === "toolUse").concat(say()),
    });
    expect(counts((await without.play()).events)).toEqual(["advisory 3 in turn 3"]);
    const played = await playSaying((run) => run.followUp("again"), isAt("turnEnded", 3), { script });
    expect(counts(played.events)).toEqual([]);
    expect(endOf(played)).toBe("completed by noCalls");
  });

  it("REP-7: the advisory itself resets nothing: the sequence goes on to its end", async () => {
    const played = await openAgentBench({ script: repeats(8) }).play();
    expect(counts(played.events)).toEqual(["advisory 3 in turn 3", "terminated 8 in turn 8"]);
    expect(endOf(played)).toBe("stopped by exactToolRepeat");
  });

  it("REP-7: another run begins a sequence of its own", async () => {
    const bench = openAgentBench({ script: [ask("read"), ask("read"), say(), ask("read"), say()] });
    const first = await bench.play();
    const second = await bench.play([...first.result.messages, { role: "user", content: "again" }], { runId: "other" });
    expect([counts(first.events), counts(second.events)]).toEqual([[], []]);
  });
});
