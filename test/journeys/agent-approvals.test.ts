import { type AgentHooks, type Approval, KernelError } from "toolkernel";
import { describe, expect, it } from "vitest";
import { answer, GRANT_ALL, openIds, playToQuestions } from "../support/agent-approvals-scene.ts";
import {
  type AgentBench,
  ask,
  callPart,
  endOf,
  followRun,
  linesOf,
  openAgentBench,
  say,
  toldMessages,
} from "../support/agent-bench.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { eventsOf } from "../support/run-calls.ts";

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
