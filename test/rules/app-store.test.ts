import { type ApprovalDecision, KernelError, memoryRunStore, type RunStore } from "toolkernel";
import { describe, expect, it } from "vitest";
import {
  type AgentBench,
  ask,
  callPart,
  endOf,
  linesOf,
  openAgentBench,
  type PlayedRun,
  say,
} from "../support/agent-bench.ts";
import { makeProcess, type Process } from "../support/app-store-scene.ts";
import { factsIn } from "../support/left-run.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";

const CALLS = [callPart("read", "a"), callPart("write", "b", { n: 1 }), callPart("write", "c", { n: 2 })];

/** An Agent in a process of its own, over a store. */
function openProcess(
  runStore: RunStore,
  script = [say("done")],
  process = makeProcess(),
): Process & { readonly bench: AgentBench } {
  const { write, hooks } = process;
  const bench = openAgentBench({ tools: [recordingTool().tool, write.tool], hooks, script, runStore });
  return { ...process, bench };
}

/** Plays a run up to its questions; its process then ends. */
async function playToQuestions(script = [ask(...CALLS)]) {
  leaveChartsOpen(); // people are asked
  const runStore = memoryRunStore();
  const first = openProcess(runStore, script);
  return { runStore, first, asked: await first.bench.play() };
}

function answer({ result }: Pick<PlayedRun, "result">, answers: Readonly<Record<string, ApprovalDecision>>) {
  const named = (result.approvals ?? []).filter(({ callId }) => answers[callId] !== undefined);
  return Object.fromEntries(named.map(({ approvalId, callId }) => [approvalId, answers[callId] as ApprovalDecision]));
}

async function misuseOf(bench: AgentBench, options: Parameters<AgentBench["resume"]>[1]): Promise<string> {
  const { result } = await bench.resume("run", options).finish();
  const { error } = result;
  return error instanceof KernelError ? `${result.status} ${error.code} ${error.subject}` : result.status;
}

const GRANTED = [
  "user go",
  "assistant read#a, write#b, write#c",
  "result a ok",
  "result b ok",
  "result c ok",
  "assistant done",
];

describe("an Agent's run that asks, over a store", () => {
  it("APP-1: waits in the store, held by nobody, and is listed as waiting", async () => {
    const { runStore, first, asked } = await playToQuestions();
    expect([endOf(asked), linesOf(asked.result.messages), first.write.runs]).toEqual([
      "awaitingApproval",
      ["user go"],
      [],
    ]);
    expect((await runStore.listOpen({ limit: 9 })).runs).toMatchObject([
      { runId: "run", status: "awaitingApproval", turn: 1, claimed: false },
    ]);
    expect(
      asked.result.approvals?.map(({ callId, arguments: given, conflictKeys }) => [callId, given, conflictKeys]),
    ).toEqual([
      ["b", { n: 1 }, ["k1"]],
      ["c", { n: 2 }, ["k2"]],
    ]);
  });

  it("APP-3, RUN-6: goes on in another process with the stored arguments, and nobody is asked again", async () => {
    const { runStore, first, asked } = await playToQuestions();
    const second = openProcess(runStore);
    const done = await second.bench.resume("run", { approvals: answer(asked, { b: true, c: true }) }).finish();
    expect([endOf(done), linesOf(done.result.messages)]).toEqual(["completed by noCalls", GRANTED]);
    expect(done.result.newMessages).toEqual(done.result.messages);
    expect([first.write.runs, second.write.runs, second.asked]).toEqual([[], [{ n: 1 }, { n: 2 }], []]);
    expect(second.bench.requests).toHaveLength(1);
    expect([done.events[0]?.kind, eventsOf(done.events, "runEnded").map(({ status }) => status)]).toEqual([
      "runResumed",
      ["completed"],
    ]);
    expect((await runStore.listOpen({ limit: 9 })).runs).toEqual([]);
  });

  it("APP-3: is listed as running while it goes on", async () => {
    const { runStore, asked } = await playToQuestions();
    let seen: unknown;
    const look = async () => {
      seen = (await runStore.listOpen({ limit: 9 })).runs[0];
      return say();
    };
    const second = openProcess(runStore, [look as never]);
    await second.bench.resume("run", { approvals: answer(asked, { b: true, c: true }) }).finish();
    expect(seen).toMatchObject({ status: "running", claimed: true });
  });

  it("APP-2: partial answers are kept; what is undecided comes back under its ids, each time, in every process", async () => {
    const { runStore, asked } = await playToQuestions();
    const second = openProcess(runStore);
    const nothing = await second.bench.resume("run").finish();
    expect([endOf(nothing), nothing.result.approvals]).toEqual(["awaitingApproval", asked.result.approvals]);
    const partly = await second.bench.resume("run", { approvals: answer(asked, { c: true }) }).finish();
    expect([endOf(partly), partly.result.approvals]).toEqual(["awaitingApproval", [asked.result.approvals?.[0]]]);
    const third = openProcess(runStore);
    const done = await third.bench.resume("run", { blockOthers: true }).finish();
    expect(linesOf(done.result.messages).slice(2, 5)).toEqual([
      "result a ok",
      "error b not_executed: no",
      "result c ok",
    ]);
    expect([second.write.runs, third.write.runs, second.asked, third.asked]).toEqual([[], [{ n: 2 }], [], []]);
  });

  it("APP-3: a call that is blocked by its answer settles refused, category authorization, with the reason", async () => {
    const { runStore, asked } = await playToQuestions();
    const second = openProcess(runStore);
    const approvals = answer(asked, { b: { block: "not today" }, c: true });
    const { events, result } = await second.bench.resume("run", { approvals }).finish();
    expect(
      eventsOf(events, "toolEnded").map(({ callId, outcome, failureCategory }) => [callId, outcome, failureCategory]),
    ).toEqual([
      ["b", "refused", "authorization"],
      ["a", "succeeded", undefined],
      ["c", "succeeded", undefined],
    ]);
    expect(result.messages.find((message) => message.role === "toolResult" && message.callId === "b")?.content).toEqual(
      [{ type: "text", text: expect.stringContaining("not today") }],
    );
  });

  it("APP-4: a message alone, or blockOthers alone, is an answer to every question", async () => {
    for (const [given, said] of [
      [{ message: "leave it" }, ["user leave it"]],
      [{ blockOthers: true }, []],
    ] as const) {
      const { runStore } = await playToQuestions();
      const second = openProcess(runStore);
      const { result } = await second.bench.resume("run", given).finish();
      expect(linesOf(result.messages)).toEqual([
        ...["user go", "assistant read#a, write#b, write#c", "result a ok"],
        ...["error b not_executed: no", "error c not_executed: no", ...said, "assistant done"],
      ]);
      expect(second.write.runs).toEqual([]);
    }
  });

  it("APP-2: no answer at all leaves every question open, under its id", async () => {
    const { runStore, asked } = await playToQuestions();
    const again = await openProcess(runStore).bench.resume("run", { approvals: {}, blockOthers: false }).finish();
    expect([again.result.status, again.result.approvals]).toEqual(["awaitingApproval", asked.result.approvals]);
  });

  it("APP-4: a message in place of an answer blocks what is undecided, before it", async () => {
    const { runStore, asked } = await playToQuestions();
    const second = openProcess(runStore);
    const approvals = answer(asked, { b: true });
    const { result } = await second.bench.resume("run", { approvals, message: "leave the rest" }).finish();
    expect(linesOf(result.messages)).toEqual([
      ...["user go", "assistant read#a, write#b, write#c", "result a ok", "result b ok", "error c not_executed: no"],
      ...["user leave the rest", "assistant done"],
    ]);
    expect(second.write.runs).toEqual([{ n: 1 }]);
  });

  it.each([
    ["an id that nobody has given", { "no such id": true as const }, "approvals.no such id"],
    ["the name of a prototype's property", { toString: true as const }, "approvals.toString"],
  ])("APP-2: %s is INVALID_OPTIONS, and the run waits as before", async (_what, approvals, subject) => {
    const { runStore, asked } = await playToQuestions();
    const second = openProcess(runStore);
    expect(await misuseOf(second.bench, { approvals })).toBe(`kernelError INVALID_OPTIONS ${subject}`);
    const again = await second.bench.resume("run").finish();
    expect(again.result.approvals).toEqual(asked.result.approvals);
  });

  it("APP-2: an id of another run is unknown", async () => {
    const { runStore } = await playToQuestions();
    const other = await playToQuestions();
    const approvals = answer(other.asked, { b: true });
    const second = openProcess(runStore);
    expect(await misuseOf(second.bench, { approvals })).toMatch(/^kernelError INVALID_OPTIONS approvals\./);
  });

  it("APP-2, RUN-6: an answer may come again, since nobody knows whether it was recorded; another answer may not", async () => {
    const { runStore, asked } = await playToQuestions();
    const second = openProcess(runStore);
    await second.bench.resume("run", { approvals: answer(asked, { b: { block: "no" } }) }).finish();
    const approvals = answer(asked, { b: { block: "no" }, c: true });
    const done = await openProcess(runStore).bench.resume("run", { approvals }).finish();
    expect(endOf(done)).toBe("completed by noCalls");
    // The run has ended; its result comes again.
    const again = await openProcess(runStore).bench.resume("run", { approvals }).finish();
    expect([endOf(again), again.result.messages]).toEqual([endOf(done), done.result.messages]);
    const contrary = answer(asked, { c: { block: "no" } });
    expect(await misuseOf(openProcess(runStore).bench, { approvals: contrary })).toMatch(
      /^kernelError INVALID_OPTIONS/,
    );
  });

  it("APP-3: asks again in a later turn, in another process, for new approvals", async () => {
    const { runStore, asked } = await playToQuestions([ask(callPart("write", "b", { n: 1 }))]);
    const second = openProcess(runStore, [ask(callPart("write", "c", { n: 2 }))]);
    const again = await second.bench.resume("run", { approvals: answer(asked, { b: true }) }).finish();
    expect([endOf(again), again.result.approvals?.map(({ callId }) => callId)]).toEqual(["awaitingApproval", ["c"]]);
    const third = openProcess(runStore);
    const done = await third.bench.resume("run", { approvals: answer(again, { c: true }) }).finish();
    expect([endOf(done), done.result.turns, done.result.toolCalls]).toEqual(["completed by noCalls", 3, 2]);
    expect([second.write.runs, third.write.runs, third.asked]).toEqual([[{ n: 1 }], [{ n: 2 }], []]);
  });

  it("APP-3, CAN-1: resumed with a signal that has fired, cancels every call and ends aborted", async () => {
    const { runStore, asked } = await playToQuestions();
    const second = openProcess(runStore);
    const approvals = answer(asked, { b: true, c: true });
    const { result } = await second.bench.resume("run", { approvals, signal: AbortSignal.abort("enough") }).finish();
    expect([endOf({ result }), second.write.runs]).toEqual(["aborted by abort", []]);
    expect(linesOf(result.messages).slice(2)).toEqual([
      "error a not_executed: cancelled",
      "error b not_executed: cancelled",
      "error c not_executed: cancelled",
    ]);
  });

  it("RUN-6: of which its process dies between the questions and anybody's hearing them comes back with them", async () => {
    const { runStore, asked } = await playToQuestions();
    const facts = await factsIn(runStore);
    expect(facts.map(({ kind }) => kind)).toEqual(["begun", "message", "response", "prepared"]);
    const prepared = facts.find(({ kind }) => kind === "prepared");
    expect(JSON.stringify(prepared)).toContain(String(asked.result.approvals?.[0]?.approvalId));
  });

  it("RUN-6: a tool that is gone refuses its call, whatever is answered, and its siblings go on", async () => {
    const { runStore, asked } = await playToQuestions();
    const bench = openAgentBench({ tools: [recordingTool().tool], script: [say("done")], runStore });
    const { result } = await bench.resume("run", { approvals: answer(asked, { b: true }) }).finish();
    expect(linesOf(result.messages).slice(2)).toEqual([
      ...["result a ok", "error b unknown_tool", "error c unknown_tool", "assistant done"],
    ]);
  });
});
