import { type AgentHooks, type Approval, type ApprovalDecision, type JsonObject, KernelError } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type AgentBench,
  type AgentBenchOptions,
  ask,
  callPart,
  endOf,
  followRun,
  linesOf,
  loopStory,
  openAgentBench,
  type PlayedRun,
  say,
  toldMessages,
} from "../support/agent-bench.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

/** Asks for every call of `write`, about its id. */
const ASK_FOR_WRITES: AgentHooks = {
  authorizeToolCall: ({ tool, call: { id } }) => (tool.name === "write" ? { ask: { about: id } } : undefined),
};

/** One read and two writes, each write under a key of its own. */
const CALLS = [callPart("read", "a"), callPart("write", "b", { n: 1 }), callPart("write", "c", { n: 2 })];

interface Waiting {
  readonly bench: AgentBench;
  readonly asked: PlayedRun;
  readonly read: readonly JsonObject[];
  readonly write: readonly JsonObject[];
}

/** Plays a run up to its questions. */
async function playToQuestions(options: AgentBenchOptions = {}): Promise<Waiting> {
  const read = recordingTool();
  const write = recordingTool({
    name: "write",
    risk: "nonIdempotentWrite",
    conflictKey: (({ n }: JsonObject) => `k${n}`) as never,
  });
  const script = [ask(...CALLS), say("done")];
  const bench = openAgentBench({ tools: [read.tool, write.tool], hooks: ASK_FOR_WRITES, script, ...options });
  return { bench, asked: await bench.play(), read: read.runs, write: write.runs };
}

/** Answers by call id, as approvals by approval id. */
function answer({ result }: PlayedRun, answers: Readonly<Record<string, ApprovalDecision>>) {
  const named = (result.approvals ?? []).filter(({ callId }) => answers[callId] !== undefined);
  return Object.fromEntries(named.map(({ approvalId, callId }) => [approvalId, answers[callId] as ApprovalDecision]));
}

const openIds = ({ result }: PlayedRun) => (result.approvals ?? []).map(({ callId }) => callId);
const GRANT_ALL = { b: true, c: true } as const;

async function misuseOf(run: ReturnType<AgentBench["agent"]["resume"]>): Promise<string> {
  const { result, events } = await followRun(run).finish();
  expect(events.map(({ kind }) => kind)).toEqual(["runFaulted", "runEnded"]);
  const { error } = result;
  return error instanceof KernelError ? `${result.status} ${error.code} ${error.subject}` : String(error);
}

describe("a run that asks", () => {
  it("APP-1: comes back with its approvals; nothing of the batch has been dispatched", async () => {
    leaveChartsOpen();
    const { asked, read, write, bench } = await playToQuestions();
    expect(asked.result.approvals?.[0]).toEqual({
      approvalId: expect.any(String),
      operationId: expect.stringMatching(/^[0-9a-f]{64}$/),
      callId: "b",
      callIndex: 1,
      toolName: "write",
      arguments: { n: 1 },
      conflictKeys: ["k1"],
      ask: { about: "b" },
    } satisfies Approval);
    expect([endOf(asked), openIds(asked), read, write]).toEqual(["awaitingApproval", ["b", "c"], [], []]);
    expect(bench.requests).toHaveLength(1);
    expect(eventsOf(asked.events, "approvalRequested").map(({ callId }) => callId)).toEqual(["b", "c"]);
    expect(asked.events.at(-1)).toMatchObject({ kind: "runEnded", status: "awaitingApproval" });
    expect(eventsOf(asked.events, "toolEnded")).toEqual([]);
  });

  it("APP-1, RUN-5: has a transcript without the open response until it is answered", async () => {
    const { asked, bench } = await playToQuestions();
    expect(linesOf(asked.result.messages)).toEqual(["user go"]);
    expect(linesOf(toldMessages(asked.events))).toEqual(["user go", "assistant read#a, write#b, write#c"]);
    const done = await bench.resume("run", { approvals: answer(asked, GRANT_ALL) }).finish();
    expect(linesOf(done.result.messages)).toEqual([
      ...[
        "user go",
        "assistant read#a, write#b, write#c",
        "result a ok",
        "result b ok",
        "result c ok",
        "assistant done",
      ],
    ]);
    expect([...toldMessages(asked.events), ...toldMessages(done.events)]).toEqual(done.result.messages);
    expect(done.result.newMessages).toEqual(done.result.messages);
  });

  it("APP-1: waits for as long as it takes, without a timer", async () => {
    const { asked, bench } = await playToQuestions();
    await bench.advance(1_000_000_000);
    expect(bench.pendingTimers()).toBe(0);
    expect(endOf(await bench.resume("run", { approvals: answer(asked, GRANT_ALL) }).finish())).toBe(
      "completed by noCalls",
    );
  });

  it("APP-1: asks again in a later turn, for new approvals", async () => {
    const script = [ask(callPart("write", "b")), ask(callPart("write", "c")), say()];
    const { asked, bench, write } = await playToQuestions({ script });
    const again = await bench.resume("run", { approvals: answer(asked, { b: true }) }).finish();
    expect([endOf(again), openIds(again), write.length]).toEqual(["awaitingApproval", ["c"], 1]);
    expect(linesOf(again.result.messages)).toEqual(["user go", "assistant write#b", "result b ok"]);
    const done = await bench.resume("run", { approvals: answer(again, { c: { block: "no" } }) }).finish();
    expect([endOf(done), done.result.turns, done.result.toolCalls]).toEqual(["completed by noCalls", 3, 2]);
  });
});

describe("answers", () => {
  it("APP-2: may be partial: what is undecided comes back under its id, and the authorizer is not asked again", async () => {
    let authorized = 0;
    const hooks: AgentHooks = {
      authorizeToolCall: ({ tool }) => {
        authorized += 1;
        return tool.name === "write" ? { ask: {} } : undefined;
      },
    };
    const { asked, bench, write } = await playToQuestions({ hooks });
    const partly = await bench.resume("run", { approvals: answer(asked, { c: true }) }).finish();
    expect([endOf(partly), openIds(partly)]).toEqual(["awaitingApproval", ["b"]]);
    expect(partly.result.approvals).toEqual([asked.result.approvals?.[0]]);
    const none = await bench.resume("run").finish();
    expect([openIds(none), write]).toEqual([["b"], []]);
    const done = await bench.resume("run", { approvals: answer(asked, { b: true }) }).finish();
    expect([endOf(done), write, authorized]).toEqual(["completed by noCalls", [{ n: 1 }, { n: 2 }], 3]);
  });

  it("APP-2: a grant given earlier survives later partial answers and blockOthers", async () => {
    const { asked, bench, write } = await playToQuestions();
    await bench.resume("run", { approvals: answer(asked, { c: true }) }).finish();
    const done = await bench.resume("run", { blockOthers: true }).finish();
    expect(linesOf(done.result.messages).slice(2, 5)).toEqual([
      ...["result a ok", "error b not_executed: no", "result c ok"],
    ]);
    expect(write).toEqual([{ n: 2 }]);
  });

  it.each<readonly [string, unknown, string]>([
    ["an unknown id", { nobody: true }, "approvals.nobody"],
    ["the name of a prototype's property", { toString: true }, "approvals.toString"],
    ["a list", [], "approvals"],
    ["a text", "yes", "approvals"],
    ["null", null, "approvals"],
  ])("APP-2: that are %s are a misuse; the run still waits", async (_what, approvals, subject) => {
    const { asked, bench } = await playToQuestions();
    expect(await misuseOf(bench.agent.resume("run", { approvals: approvals as never }))).toBe(
      `kernelError INVALID_OPTIONS ${subject}`,
    );
    expect(endOf(await bench.resume("run", { approvals: answer(asked, GRANT_ALL) }).finish())).toBe(
      "completed by noCalls",
    );
  });

  it.each([[false], [null], ["yes"], [{}], [{ block: 1 }]])(
    "APP-2: %j is none, and decides nothing",
    async (decision) => {
      const { asked, bench, write } = await playToQuestions();
      const approvals = answer(asked, { b: decision as never, c: true });
      expect(await misuseOf(bench.agent.resume("run", { approvals }))).toMatch(/INVALID_OPTIONS approvals\./);
      expect(openIds(await bench.resume("run").finish())).toEqual(["b", "c"]);
      expect(write).toEqual([]);
      await bench.resume("run", { blockOthers: true }).finish();
    },
  );

  it("APP-2: of another run, of an earlier turn and given before are unknown", async () => {
    const one = await playToQuestions();
    const other = await playToQuestions();
    const foreign = other.bench.agent.resume("run", { approvals: answer(one.asked, { b: true }) });
    expect(await misuseOf(foreign)).toMatch(/INVALID_OPTIONS approvals\./);
    await one.bench.resume("run", { approvals: answer(one.asked, { b: { block: "no" } }) }).finish();
    const change = one.bench.agent.resume("run", { approvals: answer(one.asked, { b: true }) });
    expect(await misuseOf(change)).toMatch(/INVALID_OPTIONS approvals\./);
    await one.bench.resume("run", { blockOthers: true }).finish();
    await other.bench.resume("run", { blockOthers: true }).finish();
  });

  it.each<readonly [string, unknown, string]>([
    ["options that are null", null, "INVALID_OPTIONS options"],
    ["an unknown option", { approval: {} }, "INVALID_OPTIONS approval"],
    ["blockOthers that is no boolean", { blockOthers: "yes" }, "INVALID_OPTIONS blockOthers"],
    ["a message of another shape", { message: { role: "assistant", content: [] } }, "INVALID_OPTIONS message"],
    ["a message that is a number", { message: 5 }, "INVALID_OPTIONS message"],
    ["a signal that is none", { signal: 5 }, "INVALID_OPTIONS signal"],
  ])("APP-2: with %s are a misuse; the run still waits", async (_what, options, fault) => {
    const { bench } = await playToQuestions();
    expect(await misuseOf(bench.agent.resume("run", options as never))).toBe(`kernelError ${fault}`);
    expect(endOf(await bench.resume("run", { blockOthers: true }).finish())).toBe("completed by noCalls");
  });

  it.each([["nobody"], [""], [undefined], [5], [{}]])(
    "APP-2: for the run %j, which there is not, are RUN_NOT_FOUND",
    async (runId) => {
      const { bench } = await playToQuestions();
      expect(await misuseOf(bench.agent.resume(runId as never))).toBe("kernelError RUN_NOT_FOUND runId");
      await bench.resume("run", { blockOthers: true }).finish();
    },
  );

  it("APP-2: for a run that has ended, or of another Agent, are RUN_NOT_FOUND without a store", async () => {
    const { bench } = await playToQuestions();
    const other = openAgentBench({ script: [say()] });
    expect(await misuseOf(other.agent.resume("run", { blockOthers: true }))).toBe("kernelError RUN_NOT_FOUND runId");
    await bench.resume("run", { blockOthers: true }).finish();
    expect(await misuseOf(bench.agent.resume("run"))).toBe("kernelError RUN_NOT_FOUND runId");
  });
});

describe("going on", () => {
  it("APP-3: runs what was granted with the stored arguments; what was blocked is refused; siblings go on", async () => {
    const { asked, bench, read, write } = await playToQuestions();
    const done = await bench
      .resume("run", { approvals: answer(asked, { b: true, c: { block: "Leave it." } }) })
      .finish();
    expect(done.result.messages.slice(2, 5)).toMatchObject([
      { callId: "a", isError: false },
      { callId: "b", isError: false },
      { callId: "c", isError: true, failureCategory: "authorization", content: [{ type: "text", text: "Leave it." }] },
    ]);
    expect([read, write]).toEqual([[{}], [{ n: 1 }]]);
    expect(write[0]).toBe(asked.result.approvals?.[0]?.arguments);
  });

  it("APP-3: opens the run again with runResumed, its events numbered on, its turn the same", async () => {
    const { asked, bench } = await playToQuestions();
    const done = await bench.resume("run", { approvals: answer(asked, GRANT_ALL) }).finish();
    expect(loopStory(done.events)).toEqual([
      ...["runResumed", "messageEnded toolResult", "messageEnded toolResult", "messageEnded toolResult", "turnEnded"],
      ...["turnStarted", "modelRequestStarted", "messageStarted", "messageUpdated", "messageEnded assistant"],
      ...["turnEnded", "runEnded"],
    ]);
    const all = [...asked.events, ...done.events];
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_event, place) => place));
    expect(done.events[0]).toMatchObject({ turn: 1, runId: "run" });
    expect(eventsOf(all, "runStarted")).toHaveLength(1);
  });

  it("APP-3: is possible from inside the listener of the run's last event, and from its result at once", async () => {
    const { bench } = await playToQuestions();
    const again = bench.resume("run");
    const taken: string[] = [];
    again.run.subscribe(async (event) => {
      if (event.kind === "runEnded") taken.push(endOf(await bench.resume("run").finish()));
    });
    await again.finish();
    const done = await bench.resume("run", { blockOthers: true }).finish();
    // Inside the event the run is still live; behind its result it is not.
    expect([taken, endOf(done)]).toEqual([["kernelError"], "completed by noCalls"]);
  });

  it("APP-3: may bring another host and a signal of its own", async () => {
    const hosts: unknown[] = [];
    const tool = controllableTool({ name: "write" });
    const noting: typeof tool = {
      ...tool,
      execute: (args, context) => {
        hosts.push(context.host);
        return tool.execute(args, context);
      },
    };
    const { asked, bench } = await playToQuestions({
      tools: [recordingTool().tool, noting],
      host: "agent",
    });
    const { signal, abort } = trackedSignal();
    const followed = bench.resume("run", { approvals: answer(asked, GRANT_ALL), host: "resumed", signal });
    await bench.advance();
    abort("enough");
    tool.pending[0]?.resolve("in time");
    const played = await followed.finish();
    expect([endOf(played), played.result.abortReason, hosts]).toEqual(["aborted by abort", "enough", ["resumed"]]);
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant read#a, write#b, write#c", "result a ok", "result b in"],
      "error c not_executed: cancelled",
    ]);
  });

  it.each([
    ["a signal that has fired", true],
    ["an abort before it has begun", false],
  ])("APP-3, CAN-1: with %s runs nothing, and every call has its result", async (_what, isSignal) => {
    const { asked, bench, read, write } = await playToQuestions();
    const approvals = answer(asked, { b: true, c: { block: "no" } });
    const signal = AbortSignal.abort("never mind");
    const followed = bench.resume(
      "run",
      isSignal ? { approvals, message: "stop", signal } : { approvals, message: "stop" },
    );
    if (!isSignal) followed.run.abort("never mind");
    const played = await followed.finish();
    expect([endOf(played), played.result.abortReason, read, write]).toEqual(["aborted by abort", "never mind", [], []]);
    expect(linesOf(played.result.messages).slice(2)).toEqual(
      ["a", "b", "c"].map((id) => `error ${id} not_executed: cancelled`),
    );
    expect(linesOf(played.result.undelivered)).toEqual(["user stop"]);
    expect(loopStory(played.events).at(0)).toBe("runResumed");
    expect(played.events.at(-1)).toMatchObject({ kind: "runEnded", status: "aborted" });
  });

  it("C28: of two at once one goes on, the other is RUN_CLAIMED, and each body is called once", async () => {
    const { asked, bench, write } = await playToQuestions();
    const approvals = answer(asked, GRANT_ALL);
    const [first, second] = await Promise.all([
      bench.resume("run", { approvals }).finish(),
      bench.resume("run", { approvals }).finish(),
    ]);
    expect(endOf(first)).toBe("completed by noCalls");
    expect(second.result.error).toMatchObject({ code: "RUN_CLAIMED", subject: "runId" });
    expect(write).toHaveLength(2);
  });

  it("C24: what ran before the question is not run again when the run goes on", async () => {
    const pay = recordingTool({ name: "pay", risk: "nonIdempotentWrite" });
    const { asked, bench, write } = await playToQuestions({
      tools: [pay.tool, recordingTool().tool, recordingTool({ name: "write" }).tool],
      script: [
        ask(callPart("pay", "p", { account: "A", cents: 500 })),
        ask(callPart("write", "b"), callPart("pay", "q")),
        say(),
      ],
    });
    expect(pay.runs).toEqual([{ account: "A", cents: 500 }]);
    const done = await bench.resume("run", { approvals: answer(asked, { b: true }) }).finish();
    expect([endOf(done), pay.runs]).toEqual(["completed by noCalls", [{ account: "A", cents: 500 }, {}]]);
    expect(eventsOf([...asked.events, ...done.events], "toolDispatched").map(({ callId }) => callId)).toEqual([
      "p",
      "b",
      "q",
    ]);
    expect(write).toEqual([]);
  });

  it("C22, C25: of two questions one is denied and one granted; both have their result, in source order", async () => {
    const { asked, bench, write } = await playToQuestions();
    const done = await bench.resume("run", { approvals: answer(asked, { b: { block: "denied" }, c: true }) }).finish();
    expect(linesOf(done.result.messages).slice(2, 5)).toEqual(["result a ok", "error b denied", "result c ok"]);
    expect(write).toEqual([{ n: 2 }]);
  });

  it("C27, C34: answers in reverse order, in one go, reach each its own call; the run goes on once", async () => {
    const { asked, bench, write } = await playToQuestions();
    const [b, c] = asked.result.approvals ?? [];
    const approvals = Object.fromEntries([
      [String(c?.approvalId), { block: "not c" } as const],
      [String(b?.approvalId), true as const],
    ]);
    const done = await bench.resume("run", { approvals }).finish();
    expect(linesOf(done.result.messages).slice(3, 5)).toEqual(["result b ok", "error c not"]);
    expect([write, eventsOf(done.events, "runResumed").length]).toEqual([[{ n: 1 }], 1]);
  });
});

describe("a message in place of an answer", () => {
  it("APP-4, C19: with resume blocks all that is undecided, before the message", async () => {
    const { asked, bench, write } = await playToQuestions();
    const followed = bench.resume("run", { approvals: answer(asked, { c: true }), message: "Do something else." });
    const done = await followed.finish();
    expect(linesOf(done.result.messages)).toEqual([
      ...["user go", "assistant read#a, write#b, write#c", "result a ok", "error b not_executed: no", "result c ok"],
      ...["user Do something else.", "assistant done"],
    ]);
    expect(findTranscriptFaults(bench.requests[1]?.messages ?? [])).toEqual([]);
    expect(write).toEqual([{ n: 2 }]);
  });

  it("APP-4: with resume comes before all that is said to the resumed run", async () => {
    const { bench } = await playToQuestions({ limits: { maxQueuedMessages: 2 } });
    const followed = bench.resume("run", { message: "first" });
    expect([followed.run.steer("second"), followed.run.steer("third")]).toEqual([
      { accepted: true },
      { accepted: false, reason: "full" },
    ]);
    const done = await followed.finish();
    expect(linesOf(done.result.messages).slice(5)).toEqual(["user first", "user second", "assistant done"]);
    expect(loopStory(done.events).slice(0, 2)).toEqual(["runResumed", "messageQueued"]);
  });

  it.each([
    ["before the run begins", "runStarted"],
    ["during the model request", "modelRequestStarted"],
    ["during preparation", "toolStarted"],
    ["as the question is asked", "approvalRequested"],
  ] as const)("RUN-3, APP-4: steering that came %s is the answer: nobody is asked", async (_what, kind) => {
    const write = recordingTool({ name: "write" });
    const bench = openAgentBench({
      tools: [recordingTool().tool, write.tool],
      hooks: ASK_FOR_WRITES,
      script: [ask(...CALLS), say("done")],
    });
    const { run, finish } = bench.start();
    let isSaid = false;
    run.subscribe((event) => {
      if (event.kind === kind && !isSaid) {
        isSaid = true;
        run.steer("Do something else.");
      }
    });
    const played = await finish();
    expect(endOf(played)).toBe("completed by noCalls");
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant read#a, write#b, write#c"],
      ...["result a ok", "error b not_executed: no", "error c not_executed: no"],
      ...["user Do something else.", "assistant done"],
    ]);
    expect(write.runs).toEqual([]);
  });

  it("RUN-3, APP-4: a follow-up is no answer: it waits with the run, and comes when the loop would end", async () => {
    const read = recordingTool();
    const write = recordingTool({ name: "write" });
    const bench = openAgentBench({
      tools: [read.tool, write.tool],
      hooks: ASK_FOR_WRITES,
      script: [ask(...CALLS), say("done"), say("more")],
    });
    const { run, finish } = bench.start();
    run.followUp("and then?");
    const asked = await finish();
    expect([endOf(asked), asked.result.undelivered]).toEqual(["awaitingApproval", []]);
    const done = await bench.resume("run", { approvals: answer(asked, GRANT_ALL) }).finish();
    expect(linesOf(done.result.messages).slice(5)).toEqual(["assistant done", "user and then?", "assistant more"]);
    expect(write.runs).toHaveLength(2);
  });

  it("RUN-3: to a run that waits is not accepted: for this process it has ended", async () => {
    const { asked, bench } = await playToQuestions();
    expect([asked.run.steer("x"), asked.run.followUp("x")]).toEqual([
      { accepted: false, reason: "ended" },
      { accepted: false, reason: "ended" },
    ]);
    asked.run.abort("too late");
    const done = await bench.resume("run", { approvals: answer(asked, GRANT_ALL) }).finish();
    expect([endOf(done), done.result.undelivered]).toEqual(["completed by noCalls", []]);
  });

  it("APP-4, RUN-5: the messages of a run that waits are fit to begin another with", async () => {
    const { asked, bench } = await playToQuestions();
    const next = openAgentBench({ script: [say("never mind")] });
    const played = await next.play([...asked.result.messages, { role: "user", content: "never mind" }]);
    expect(endOf(played)).toBe("completed by noCalls");
    expect(findTranscriptFaults(played.result.messages)).toEqual([]);
    await bench.resume("run", { blockOthers: true }).finish();
  });
});

describe.each(["compiled", "xstate"] as const)("under the interpreter %s", (interpreter) => {
  it("APP-1, APP-3: a run asks, waits and goes on, and leaves no actor", async () => {
    const { asked, bench, write } = await playToQuestions({ interpreter });
    expect(openIds(asked)).toEqual(["b", "c"]);
    const partly = await bench.resume("run", { approvals: answer(asked, { b: true }) }).finish();
    expect(openIds(partly)).toEqual(["c"]);
    const done = await bench.resume("run", { message: "enough" }).finish();
    expect([endOf(done), write]).toEqual(["completed by noCalls", [{ n: 1 }]]);
  });
});

describe("limits over a wait", () => {
  it("RUN-1: count what was before it", async () => {
    const script = [ask(callPart("write", "b")), ask(callPart("write", "c"))];
    const { asked, bench } = await playToQuestions({ script, limits: { maxTurns: 1 } });
    const done = await bench.resume("run", { approvals: answer(asked, { b: true }) }).finish();
    expect([endOf(done), done.result.turns, bench.requests.length]).toEqual(["limitExceeded by maxTurns", 1, 1]);
  });

  it("REP-2: count repeats when the batch goes on, once", async () => {
    const script = [...Array.from({ length: 3 }, () => ask(callPart("write", ""))), say()];
    const { asked, bench } = await playToQuestions({ script });
    let played = asked;
    while (played.result.approvals !== undefined) {
      const approvals = Object.fromEntries(
        played.result.approvals.map(({ approvalId }) => [approvalId, true as const]),
      );
      played = await bench.resume("run", { approvals }).finish();
    }
    expect(endOf(played)).toBe("completed by noCalls");
    expect(linesOf(played.result.messages).filter((line) => line === "policy")).toHaveLength(1);
  });
});

describe("a run whose charts are XState's own actors", () => {
  it.each([
    ["they were asked for", { interpreter: "xstate" }],
    ["somebody inspects", { inspect: () => undefined }],
  ] as const)("APP-3: goes on without a word of XState's on the console, where %s", async (_why, options) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    onTestFinished(() => warn.mockRestore());
    const { bench, asked } = await playToQuestions(options);
    const partly = await bench.resume("run", { approvals: answer(asked, { b: true }) }).finish();
    const played = await bench.resume("run", { approvals: answer(partly, { c: { block: "no" } }) }).finish();
    expect([endOf(partly), endOf(played)]).toEqual(["awaitingApproval", "completed by noCalls"]);
    expect(warn.mock.calls).toEqual([]);
  });

  it("CAN-1: is aborted without one", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    onTestFinished(() => warn.mockRestore());
    const { bench } = await playToQuestions({ interpreter: "xstate" });
    const { run, finish } = bench.resume("run");
    run.abort("enough");
    expect(endOf(await finish())).toBe("aborted by abort");
    expect(warn.mock.calls).toEqual([]);
  });
});
