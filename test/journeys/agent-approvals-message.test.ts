import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  ASK_FOR_WRITES,
  answer,
  CALLS,
  GRANT_ALL,
  openIds,
  playToQuestions,
} from "../support/agent-approvals-scene.ts";
import { ask, callPart, endOf, linesOf, loopStory, openAgentBench, say } from "../support/agent-bench.ts";
import { recordingTool } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

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
