import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { answer, GRANT_ALL, playToQuestions } from "../support/agent-approvals-scene.ts";
import { ask, callPart, endOf, linesOf, loopStory, say } from "../support/agent-bench.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

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
