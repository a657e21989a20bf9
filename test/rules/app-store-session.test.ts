import { memoryRunStore, type RunStore } from "toolkernel";
import { describe, expect, it } from "vitest";
import { makeProcess } from "../support/app-store-scene.ts";
import { call, finish, outcomesOf, recordingTool, testSession, verdictsOf } from "../support/run-calls.ts";

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
