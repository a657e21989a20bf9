import {
  type AgentHooks,
  KernelError,
  type KernelEvent,
  type Message,
  memoryRunStore,
  type Run,
  toolResult,
} from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import {
  type AgentBenchOptions,
  ask,
  callPart,
  endOf,
  linesOf,
  loopStory,
  openAgentBench,
  say,
} from "../support/agent-bench.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

const READ_ONCE = [ask("read"), say("one"), say("two")];

/** Plays a run in which something is said at one place: when a listener hears of an event, or a hook is asked. */
async function playSaying(
  say_: (run: Run) => void,
  place: (event: KernelEvent) => boolean,
  options: AgentBenchOptions = {},
) {
  const bench = openAgentBench({ script: READ_ONCE, ...options });
  const { run, finish } = bench.start();
  let isSaid = false;
  run.subscribe((event) => {
    if (isSaid || !place(event)) return;
    isSaid = true;
    say_(run);
  });
  const played = await finish();
  expect(isSaid).toBe(true);
  return { ...played, requests: bench.requests };
}

const steer = (run: Run): void => {
  expect(run.steer("look here")).toEqual({ accepted: true });
};
const isAt = (kind: KernelEvent["kind"], turn: number) => (event: KernelEvent) =>
  event.kind === kind && event.turn === turn;

const AFTER_RESULTS = [...["user go", "assistant read#read", "result read ok", "user look here", "assistant one"]];

describe("steering", () => {
  it.each([
    ["before the first request", isAt("runStarted", 0)],
    ["while the turn is prepared", isAt("turnStarted", 1)],
    ["during a model request", isAt("modelRequestStarted", 1)],
    ["when the response has come", (event: KernelEvent) => event.kind === "messageEnded" && event.turn === 1],
    ["during the preparation of calls", isAt("toolStarted", 1)],
    ["between preparation and dispatch", isAt("toolPrepared", 1)],
    ["during an epoch", isAt("toolDispatched", 1)],
    ["when a call ends", isAt("toolEnded", 1)],
    ["when the epoch is over", isAt("epochSettled", 1)],
    ["at the turn boundary", isAt("turnEnded", 1)],
  ])("RUN-3: %s is delivered after the running batch's results", async (_what, place) => {
    const played = await playSaying(steer, place);
    expect(linesOf(played.result.messages)).toEqual(AFTER_RESULTS);
    expect([endOf(played), played.result.undelivered]).toEqual(["completed by noCalls", []]);
  });

  it("RUN-3: during prepareNextTurn waits for the next boundary, and an answer without calls ends nothing then", async () => {
    let run: Run | undefined;
    const hooks: AgentHooks = {
      prepareNextTurn: async ({ turn }) => {
        if (turn === 1) run?.steer("look here");
        return undefined;
      },
    };
    const bench = openAgentBench({ hooks, script: [say("one"), say("two")] });
    const followed = bench.start();
    run = followed.run;
    const played = await followed.finish();
    expect(linesOf(played.result.messages)).toEqual(["user go", "assistant one", "user look here", "assistant two"]);
  });

  it("RUN-3: during a model request that hangs waits for its answer", async () => {
    let answer: (response: ReturnType<typeof say>) => void = () => undefined;
    const asked: (readonly string[])[] = [];
    const model = {
      generate: ({ messages }: { messages: readonly Message[] }) => {
        asked.push(linesOf(messages));
        return new Promise<ReturnType<typeof say>>((resolve) => {
          answer = resolve;
        });
      },
    };
    const bench = openAgentBench({ model });
    const { run, finish } = bench.start();
    await bench.advance(1_000);
    expect(run.steer("look here")).toEqual({ accepted: true });
    await bench.advance(1_000);
    answer(ask("read"));
    await bench.advance();
    answer(say("done"));
    const played = await finish();
    expect(asked).toEqual([["user go"], AFTER_RESULTS.slice(0, 4)]);
    expect(endOf(played)).toBe("completed by noCalls");
  });

  it("RUN-3: during an epoch stops none of its calls and no later epoch", async () => {
    const write = controllableTool({ name: "write" });
    const bench = openAgentBench({
      tools: [write],
      script: [ask(callPart("write", "a"), callPart("write", "b")), say()],
    });
    const { run, events, finish } = bench.start();
    await bench.advance();
    run.steer("look here");
    await bench.advance();
    write.pending[0]?.resolve("a");
    await bench.advance();
    expect(eventsOf(events, "messageEnded").map(({ message }) => message.role)).toEqual(["user", "assistant"]);
    write.pending[0]?.resolve("b");
    const played = await finish();
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant write#a, write#b", "result a a", "result b b", "user look here", "assistant done"],
    ]);
  });

  it.each([
    ["when the last turn ends", isAt("turnEnded", 2)],
    ["when the last answer has come", (event: KernelEvent) => event.kind === "messageEnded" && event.turn === 2],
    ["while the last answer is streamed", isAt("messageUpdated", 2)],
  ])("RUN-3: after the last turn (%s) continues the run", async (_what, place) => {
    const played = await playSaying(steer, place);
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant read#read", "result read ok", "assistant one", "user look here", "assistant two"],
    ]);
  });

  it("RUN-3: while shouldStopAfterTurn is asked continues the run that it lets go on", async () => {
    let run: Run | undefined;
    const hooks: AgentHooks = {
      shouldStopAfterTurn: async ({ turn }) => {
        if (turn === 1) run?.steer("look here");
        return false;
      },
    };
    const bench = openAgentBench({ hooks, script: [say("one"), say("two")] });
    const followed = bench.start();
    run = followed.run;
    expect(linesOf((await followed.finish()).result.messages)).toEqual([
      ...["user go", "assistant one", "user look here", "assistant two"],
    ]);
  });

  it("RUN-3: by a tool itself is delivered after its own result", async () => {
    let run: Run | undefined;
    const tool = { ...recordingTool().tool, execute: () => JSON.stringify(run?.steer("look here")) };
    const bench = openAgentBench({ tools: [tool], script: READ_ONCE });
    const followed = bench.start();
    run = followed.run;
    expect(linesOf((await followed.finish()).result.messages)).toEqual([
      ...["user go", "assistant read#read", 'result read {"accepted"', "user look here", "assistant one"],
    ]);
  });

  it("RUN-3: keeps its order, and comes all at once", async () => {
    const played = await playSaying(
      (run) => {
        for (const text of ["s1", "s2", "s3"]) run.steer(text);
      },
      isAt("toolDispatched", 1),
    );
    expect(linesOf(played.result.messages).slice(3)).toEqual(["user s1", "user s2", "user s3", "assistant one"]);
    expect(played.requests).toHaveLength(2);
  });

  it("RUN-3: takes a message with parts as it is", async () => {
    const message = { role: "user", content: [{ type: "json", value: { look: "here" } }] } as const;
    const played = await playSaying((run) => run.steer(message), isAt("toolEnded", 1));
    expect(played.result.messages[3]).toEqual(message);
  });

  it("RUN-3: is told of when it is accepted, and never before the run's first event", async () => {
    const bench = openAgentBench({ script: [say(), say(), say()] });
    const { run, events, finish } = bench.start();
    run.steer("s");
    run.followUp("f");
    await finish();
    expect(loopStory(events).slice(0, 4)).toEqual([
      "runStarted",
      "messageQueued",
      "messageQueued",
      "messageEnded user",
    ]);
    expect(eventsOf(events, "messageQueued").map(({ queue }) => queue)).toEqual(["steering", "followUp"]);
  });
});

describe("a follow-up", () => {
  it("RUN-3: is delivered when the loop would end, not before", async () => {
    const script = [ask("read"), ask(callPart("read", "r2", { n: 2 })), say("one"), say("two")];
    const played = await playSaying((run) => run.followUp("and then?"), isAt("runStarted", 0), { script });
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant read#read", "result read ok", "assistant read#r2", "result r2 ok", "assistant one"],
      ...["user and then?", "assistant two"],
    ]);
  });

  it("RUN-3: comes behind steering, in an order of its own", async () => {
    const script = [say("one"), say("two"), say("three")];
    const played = await playSaying(
      (run) => {
        run.followUp("f1");
        run.steer("s1");
        run.followUp("f2");
        run.steer("s2");
      },
      isAt("turnStarted", 1),
      { script },
    );
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant one", "user s1", "user s2", "assistant two", "user f1", "user f2", "assistant three"],
    ]);
  });

  it("RUN-3: keeps a run going that asks for more each time it ends, up to its limits", async () => {
    const bench = openAgentBench({ script: Array.from({ length: 40 }, () => say()), limits: { maxTurns: 5 } });
    const { run, finish } = bench.start();
    run.subscribe((event) => {
      if (event.kind === "turnEnded") run.followUp("more");
    });
    const played = await finish();
    expect([endOf(played), bench.requests.length]).toEqual(["limitExceeded by maxTurns", 5]);
    expect(linesOf(played.result.undelivered)).toEqual(["user more"]);
  });
});

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
