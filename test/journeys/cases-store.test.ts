/** Reported cases about approvals and resuming, each with a process that ends in between and a store that does not. */
import {
  type AgentHooks,
  type Approval,
  type ApprovalDecisions,
  type AssistantPart,
  type JsonObject,
  memoryRunStore,
  type RunStore,
} from "toolkernel";
import { beforeEach, expect, it } from "vitest";
import {
  type AgentBench,
  type AgentBenchOptions,
  ask,
  callPart,
  endOf,
  linesOf,
  openAgentBench,
  say,
} from "../support/agent-bench.ts";
import { caseTools } from "../support/case-tools.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";

const edit = (path: string, id: string) => callPart("edit", id, { path, oldText: "x", newText: "y" });
const pay = (id: string) => callPart("pay", id, { account: "A", cents: 500 });

/** Asks a person about calls by their ids. */
function asksAbout(...ids: readonly string[]): AgentHooks {
  return { authorizeToolCall: ({ call: { id } }) => (ids.includes(id) ? { ask: { about: id } } : undefined) };
}

/** An Agent in a process of its own, and what its tools did. */
function openProcess(runStore: RunStore, options: Pick<AgentBenchOptions, "script" | "hooks"> = {}) {
  const { tools, done } = caseTools();
  return { done, bench: openAgentBench({ tools, runStore, script: [say("done")], ...options }) };
}

function answersOf(approvals: readonly Approval[] | undefined, answers: ApprovalDecisions): ApprovalDecisions {
  return Object.fromEntries(
    (approvals ?? []).flatMap(({ callId, approvalId }) => {
      const decision = answers[callId];
      return decision === undefined ? [] : [[approvalId, decision]];
    }),
  );
}

/** Plays a run to its questions; the process then ends. */
async function askFirst(hooks: AgentHooks, calls: readonly AssistantPart[]) {
  const runStore = memoryRunStore();
  const first = openProcess(runStore, { script: [ask(...calls)], hooks });
  const { result } = await first.bench.play();
  expect(endOf({ result })).toBe("awaitingApproval");
  return { runStore, first, approvals: result.approvals };
}

async function resume(bench: AgentBench, approvals: ApprovalDecisions) {
  return bench.resume("run", { approvals }).finish();
}

// People are asked, and what a process leaves behind is not driven to its end.
beforeEach(leaveChartsOpen);

it("C22: nothing of a block starts until every decision is known; after a denial in another process the rest runs", async () => {
  const { runStore, first, approvals } = await askFirst(asksAbout("b"), [edit("a", "a"), edit("b", "b")]);
  expect(first.done).toEqual([]);
  const second = openProcess(runStore);
  const { result } = await resume(second.bench, answersOf(approvals, { b: { block: "denied" } }));
  expect([second.done, linesOf(result.messages).slice(2, 4)]).toEqual([["edit a"], ["result a ok", "error b denied"]]);
});

it.each(["before anything of it ran", "when the payment was made and is recorded"])(
  "C24: a payment beside a question is made once in total, whether the process ends %s",
  async (when) => {
    const { runStore, first, approvals } = await askFirst(asksAbout("e"), [pay("p"), edit("f", "e")]);
    expect(first.done).toEqual([]);
    const answers = answersOf(approvals, { e: true });
    if (when.startsWith("before")) {
      const second = openProcess(runStore);
      await resume(second.bench, answers);
      expect(second.done).toEqual(["pay A", "edit f"]);
      return;
    }
    const claim = await runStore.claim("run", { create: false });
    await claim.release();
    // Decision, plan and dispatch are one append, the payment's end is the next; then the process dies.
    const store = new MortalStore({ kind: "dies", at: 3, when: "before" }, [
      { facts: claim.facts, progress: undefined },
    ]);
    const second = openProcess(store);
    const resumed = second.bench.resume("run", { approvals: answers });
    await second.bench.advance();
    expect([store.isDead, second.done]).toEqual([true, ["pay A"]]);
    const third = openProcess(store.successor());
    // Whoever answered cannot know that the answer was recorded, and answers again.
    const { result } = await resume(third.bench, answers);
    expect([third.done, linesOf(result.messages).slice(2)]).toEqual([
      ["edit f"],
      ["result p ok", "result e ok", "assistant done"],
    ]);
    store.wake();
    await second.bench.advance(1_000);
    await resumed.run.result;
  },
);

it.each([
  [
    "the asked one of two is refused",
    [callPart("shell", "a", { command: "rm" }), callPart("noargs", "b")],
    ["a"],
    { a: { block: "no" } },
    ["noargs"],
  ],
  [
    "one of two questions is refused",
    [pay("a"), edit("f", "b")],
    ["a", "b"],
    { a: { block: "no" }, b: true as const },
    ["edit f"],
  ],
])(
  "C25: when %s, the other runs, and both have their results in source order",
  async (_what, calls, asked, answers, done) => {
    const { runStore, approvals } = await askFirst(asksAbout(...asked), calls);
    const second = openProcess(runStore);
    const { result } = await resume(second.bench, answersOf(approvals, answers as ApprovalDecisions));
    expect([second.done, linesOf(result.messages).slice(2, 4)]).toEqual([done, ["error a no", "result b ok"]]);
  },
);

it("C27: two questions of one tool are two: answers in reverse order, in two processes, each reach their own call", async () => {
  const { runStore, approvals } = await askFirst(asksAbout("a", "b"), [edit("one", "a"), edit("two", "b")]);
  const second = openProcess(runStore);
  const partly = await resume(second.bench, answersOf(approvals, { b: true }));
  expect([endOf(partly), partly.result.approvals?.map(({ callId }) => callId), second.done]).toEqual([
    "awaitingApproval",
    ["a"],
    [],
  ]);
  const third = openProcess(runStore);
  const { result } = await resume(third.bench, answersOf(approvals, { a: { block: "not one" } }));
  expect([third.done, linesOf(result.messages).slice(2, 4)]).toEqual([["edit two"], ["error a not", "result b ok"]]);
});

it("C28: two kernels that resume one run at once: one wins, the other is told, and the body runs once", async () => {
  const { runStore, approvals } = await askFirst(asksAbout("p"), [pay("p")]);
  const processes = [1, 2].map(() => openProcess(runStore));
  const answers = answersOf(approvals, { p: true });
  const played = await Promise.all(processes.map(({ bench }) => resume(bench, answers)));
  expect(
    played.map(({ result }) => (result.error as { code?: string } | undefined)?.code ?? result.status).sort(),
  ).toEqual(["RUN_CLAIMED", "completed"]);
  expect(processes.flatMap(({ done }) => done)).toEqual(["pay A"]);
});

it("C34: two questions that are answered at once settle both, and the run is resumed once, with all its output", async () => {
  const { runStore, approvals } = await askFirst(asksAbout("a", "b"), [edit("one", "a"), edit("two", "b")]);
  const second = openProcess(runStore);
  const { events, result } = await resume(second.bench, answersOf(approvals, { a: true, b: true }));
  expect(events.filter(({ kind }) => kind === "runResumed" || kind === "runEnded").map(({ kind }) => kind)).toEqual([
    "runResumed",
    "runEnded",
  ]);
  expect(
    eventsOf(events, "toolEnded")
      .map(({ callId, outcome }) => `${callId} ${outcome}`)
      .sort(),
  ).toEqual(["a succeeded", "b succeeded"]);
  expect(linesOf(result.messages).slice(2)).toEqual(["result a ok", "result b ok", "assistant done"]);
  expect([...second.done].sort()).toEqual(["edit one", "edit two"]);
});

it("C19: a message in place of an answer, in another process: the refusals stand before it, so that the transcript is valid", async () => {
  const { runStore } = await askFirst(asksAbout("e"), [edit("f", "e")]);
  const second = openProcess(runStore);
  const { result } = await second.bench.resume("run", { message: "forget it" }).finish();
  expect([second.done, linesOf(result.messages).slice(2)]).toEqual([
    [],
    ["error e not_executed: no", "user forget it", "assistant done"],
  ]);
});

it("C64: a call a turn that repeats is one sequence over processes: told at 3, ended at 8", async () => {
  const args: JsonObject = { path: "a" };
  let store = new MortalStore();
  const told: string[] = [];
  for (let turn = 1; turn <= 8; turn++) {
    const { tool, runs } = recordingTool();
    const bench = openAgentBench({ tools: [tool], script: [ask(callPart("read", `r${turn}`, args))], runStore: store });
    // Each process lives for a turn; that its model has no more to say is not recorded, as if it had died.
    const { run, events } = turn === 1 ? bench.start() : bench.resume("run");
    void run.result.catch(() => undefined);
    await bench.advance();
    told.push(...eventsOf(events, "toolRepeatDetected").map(({ action, count }) => `${action} ${count}`));
    expect(runs).toHaveLength(turn < 8 ? 1 : 0);
    if (turn === 8) expect(endOf({ result: await run.result })).toBe("stopped by exactToolRepeat");
    const facts = store.log.filter(({ facts: each }) => !each.some(({ kind }) => kind === "ended"));
    store = new MortalStore(undefined, facts);
  }
  expect(told).toEqual(["advisory 3", "terminated 8"]);
});
