import {
  type AgentHooks,
  type ApprovalDecision,
  type JsonObject,
  KernelError,
  memoryRunStore,
  type RunStore,
  type SessionHooks,
} from "toolkernel";
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
import { factsIn } from "../support/left-run.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import {
  call,
  eventsOf,
  finish,
  outcomesOf,
  type RecordingTool,
  recordingTool,
  testSession,
  verdictsOf,
} from "../support/run-calls.ts";

/** How a host's process is: its tools note what they did, its hooks what they were asked. */
interface Process {
  readonly write: RecordingTool;
  readonly asked: string[];
  readonly hooks: AgentHooks & SessionHooks;
}

function makeProcess(): Process {
  const asked: string[] = [];
  const write = recordingTool({
    name: "write",
    risk: "nonIdempotentWrite",
    executionMode: "parallel",
    conflictKey: (({ n }: JsonObject) => {
      asked.push(`key ${n}`);
      return `k${n}`;
    }) as never,
    prepareArguments: (draft) => {
      asked.push("prepare");
      return draft;
    },
  });
  return {
    write,
    asked,
    hooks: {
      rewriteToolCall: ({ call: { id } }) => {
        asked.push(`rewrite ${id}`);
        return undefined;
      },
      authorizeToolCall: ({ call: { id }, tool }) => {
        asked.push(`authorize ${id}`);
        return tool.name === "write" ? { ask: { about: id } } : undefined;
      },
    },
  };
}

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

describe("a session's batch that asks, over a store", () => {
  const BATCH = [call("read", "{}", "a"), call("write", { n: 1 }, "b"), call("write", { n: 2 }, "c")];

  function openSession(runStore: RunStore, process = makeProcess()) {
    const { write, hooks } = process;
    const session = testSession({ tools: [recordingTool().tool, write.tool], hooks, runStore });
    return { ...process, session };
  }

  async function askInSession() {
    const runStore = memoryRunStore();
    const first = openSession(runStore);
    const asked = await finish(first.session.execute(BATCH));
    await first.session.close();
    return { runStore, first, asked, approvals: asked.result.approvals ?? [] };
  }

  it("APP-1: is given back as it is when the session is closed: nothing is dispatched, and the run waits", async () => {
    const { runStore, first, asked } = await askInSession();
    expect([asked.result.settled, asked.result.messages, first.write.runs]).toEqual([[], [], []]);
    expect(asked.result.approvals?.map(({ callId }) => callId)).toEqual(["b", "c"]);
    expect((await runStore.listOpen({ limit: 9 })).runs).toMatchObject([
      { status: "awaitingApproval", claimed: false },
    ]);
  });

  it("APP-3, RUN-6: goes on in another session with the stored arguments, and nobody is asked again", async () => {
    const { runStore, approvals } = await askInSession();
    const second = openSession(runStore);
    const answers = {
      [approvals[0]?.approvalId ?? ""]: true as const,
      [approvals[1]?.approvalId ?? ""]: { block: "no" },
    };
    const { result } = await finish(second.session.execute(BATCH, { turn: 1, approvals: answers }));
    expect([verdictsOf(result), second.write.runs, second.asked]).toEqual([
      ["succeeded", "succeeded", "refused:authorization"],
      [{ n: 1 }],
      [],
    ]);
    await second.session.close();
    expect((await runStore.listOpen({ limit: 9 })).runs).toEqual([]);
  });

  it("APP-2: comes back with the same ids as long as nobody answers, also in the session that took it up", async () => {
    const { runStore, approvals } = await askInSession();
    const second = openSession(runStore);
    expect((await second.session.execute(BATCH, { turn: 1 }).result).approvals).toEqual(approvals);
    const [one] = approvals;
    const partly = await second.session.execute(BATCH, { turn: 1, approvals: { [one?.approvalId ?? ""]: true } })
      .result;
    expect(partly.approvals).toEqual(approvals.slice(1));
    await second.session.close();
    const third = openSession(runStore);
    const { result } = await finish(third.session.execute(BATCH, { blockOthers: true }));
    expect([outcomesOf(result), third.write.runs]).toEqual([["succeeded", "succeeded", "refused"], [{ n: 1 }]]);
    await third.session.close();
  });

  it.each([
    ["an id that nobody has given", BATCH, { approvals: { nobody: true as const } }, "approvals.nobody"],
    ["another response", [call("read", "{}", "z")], {}, "response"],
  ])(
    "APP-2, APP-3: %s is INVALID_OPTIONS while approvals are open, and the batch waits as before",
    async (_what, calls, options, subject) => {
      const { runStore, approvals } = await askInSession();
      const second = openSession(runStore);
      await expect(second.session.execute(calls, { turn: 1, ...options }).result).rejects.toMatchObject({
        code: "INVALID_OPTIONS",
        subject,
      });
      expect((await second.session.execute(BATCH, { turn: 1 }).result).approvals).toEqual(approvals);
      await second.session.close();
    },
  );

  it("APP-4: blockOthers refuses all that is undecided, so that another response may come", async () => {
    const { runStore } = await askInSession();
    const second = openSession(runStore);
    const blocked = await second.session.execute(BATCH, { blockOthers: true }).result;
    expect(verdictsOf(blocked)).toEqual(["succeeded", "refused:authorization", "refused:authorization"]);
    expect(outcomesOf(await second.session.execute([call("read", "{}", "z")]).result)).toEqual(["succeeded"]);
    await second.session.close();
  });

  it("CAN-1: cancelled when it is taken up, settles every call before dispatch", async () => {
    const { runStore } = await askInSession();
    const second = openSession(runStore);
    const { result } = await finish(second.session.execute(BATCH, { signal: AbortSignal.abort() }));
    expect([outcomesOf(result), second.write.runs]).toEqual([["cancelled", "cancelled", "cancelled"], []]);
    await second.session.close();
  });
});
