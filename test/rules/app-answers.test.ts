import { Agent, type GivenCall, memoryRunStore } from "toolkernel";
import { scriptedModel } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { idOf, idsOf, misuseOf, READ_WRITE_WRITE, startWaiting } from "../support/app-scene.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { call, outcomesOf, recordingTool, verdictsOf } from "../support/run-calls.ts";

describe("an answer", () => {
  it.each(["nobody", "__proto__", "constructor", "toString", ""])(
    "APP-2: for the unknown id %j is a misuse, and the batch still waits",
    async (unknown) => {
      const { session, ids, write } = await startWaiting();
      const approvals = Object.fromEntries([[unknown, true as const]]);
      expect(misuseOf(() => session.execute(READ_WRITE_WRITE, { turn: 1, approvals }))).toBe(
        `INVALID_OPTIONS approvals.${unknown}`,
      );
      const good = { [idOf(ids, "b")]: true as const, [idOf(ids, "c")]: true as const };
      expect(outcomesOf(await session.execute(READ_WRITE_WRITE, { turn: 1, approvals: good }).result)).toEqual([
        ...["succeeded", "succeeded", "succeeded"],
      ]);
      expect(write.runs).toEqual([{ n: 1 }, { n: 2 }]);
    },
  );

  it("APP-2: with an unknown id among good ones decides nothing", async () => {
    const { session, ids } = await startWaiting();
    const approvals = { [idOf(ids, "b")]: true as const, nobody: true as const };
    expect(misuseOf(() => session.execute(READ_WRITE_WRITE, { turn: 1, approvals }))).toBe(
      "INVALID_OPTIONS approvals.nobody",
    );
    const again = await session.execute(READ_WRITE_WRITE, { turn: 1, approvals: {} }).result;
    expect(again.approvals?.map(({ callId }) => callId)).toEqual(["b", "c"]);
    await session.close();
  });

  it("APP-2: is bound to its run: another run's id for the same call is unknown", async () => {
    const [one, other] = [await startWaiting(), await startWaiting()];
    const approvals = { [idOf(one.ids, "b")]: true as const };
    expect(misuseOf(() => other.session.execute(READ_WRITE_WRITE, { turn: 1, approvals }))).toMatch(
      /^INVALID_OPTIONS approvals\./,
    );
    await one.session.close();
    await other.session.close();
  });

  it("APP-2: is bound to its call: equal calls have ids of their own, and so have equal calls of another turn", async () => {
    const calls = [call("write", '{"n":1}', "a"), call("write", '{"n":1}', "b")];
    const { session, ids, write } = await startWaiting(calls);
    expect(new Set(Object.values(ids)).size).toBe(2);
    const approvals = { [idOf(ids, "a")]: true as const, [idOf(ids, "b")]: { block: "no" } };
    const first = await session.execute(calls, { turn: 1, approvals }).result;
    expect(outcomesOf(first)).toEqual(["succeeded", "refused"]);
    const second = await session.execute(calls).result;
    expect(Object.values(idsOf(second)).some((id) => Object.values(ids).includes(id))).toBe(false);
    expect(write.runs).toEqual([{ n: 1 }]);
    expect(misuseOf(() => session.execute(calls, { turn: 2, approvals }))).toMatch(/^INVALID_OPTIONS approvals\./);
    await session.close();
  });

  it("APP-2: that was given is final; another one is a misuse", async () => {
    const { session, ids } = await startWaiting();
    const approvals = { [idOf(ids, "b")]: { block: "no" } };
    await session.execute(READ_WRITE_WRITE, { turn: 1, approvals }).result;
    const change = { [idOf(ids, "b")]: true as const };
    expect(misuseOf(() => session.execute(READ_WRITE_WRITE, { turn: 1, approvals: change }))).toMatch(
      /^INVALID_OPTIONS approvals\./,
    );
    await session.close();
  });

  it("APP-2, RUN-6: that was given may come again, since who gave it cannot know whether it arrived", async () => {
    const { session, ids, write } = await startWaiting();
    const [granted, blocked] = [{ [idOf(ids, "b")]: true as const }, { [idOf(ids, "c")]: { block: "no" } }];
    await session.execute(READ_WRITE_WRITE, { turn: 1, approvals: granted }).result;
    const again = await session.execute(READ_WRITE_WRITE, { turn: 1, approvals: granted }).result;
    expect(idsOf(again)).toEqual({ c: ids.c });
    const done = await session.execute(READ_WRITE_WRITE, { turn: 1, approvals: { ...granted, ...blocked } }).result;
    expect(outcomesOf(done)).toEqual(["succeeded", "succeeded", "refused"]);
    expect(write.runs).toEqual([{ n: 1 }]);
  });

  it.each([undefined, memoryRunStore()])(
    "APP-2, RUN-6: may come again to an Agent as well, with a store or without",
    async (runStore) => {
      leaveChartsOpen(); // people are asked
      const { tool, runs } = recordingTool({ name: "write" });
      const asking = ["a", "b"].map((id) => ({ type: "toolCall", id, name: "write", arguments: { id } }) as const);
      const model = scriptedModel([
        { content: asking, stopReason: "toolUse" },
        { content: [{ type: "text", text: "Done." }], stopReason: "stop" },
      ]);
      const hooks = { authorizeToolCall: () => ({ ask: {} }) };
      const agent = new Agent({ model, tools: [tool], hooks, runStore });
      const { runId, approvals = [] } = await agent.run("Write.").result;
      const [one, other] = approvals.map(({ approvalId }) => approvalId);
      const first = { [one ?? ""]: true as const };
      expect((await agent.resume(runId, { approvals: first }).result).approvals).toHaveLength(1);
      const change = { [one ?? ""]: { block: "no" } };
      expect((await agent.resume(runId, { approvals: change }).result).error).toMatchObject({
        code: "INVALID_OPTIONS",
      });
      const both = { ...first, [other ?? ""]: true as const };
      expect((await agent.resume(runId, { approvals: both }).result).status).toBe("completed");
      expect(runs).toEqual([{ id: "a" }, { id: "b" }]);
    },
  );

  it("APP-2: without an open question is a misuse", async () => {
    const { session } = await startWaiting([call("read")]);
    expect(misuseOf(() => session.execute([call("read")], { approvals: { x: true } }))).toBe(
      "INVALID_OPTIONS approvals.x",
    );
  });

  it.each([[false], [null], ["yes"], [{}], [{ block: 1 }], [{ allow: true }]])(
    "APP-2: is true or a block; %j is a misuse",
    async (decision) => {
      const { session, ids } = await startWaiting();
      const approvals = { [idOf(ids, "b")]: decision as never };
      expect(misuseOf(() => session.execute(READ_WRITE_WRITE, { turn: 1, approvals }))).toBe(
        `INVALID_OPTIONS approvals.${idOf(ids, "b")}`,
      );
      await session.close();
    },
  );

  it("APP-2: that is not given leaves the question open, under its id, and the authorizer is not asked again", async () => {
    let asked = 0;
    const { session, ids } = await startWaiting(READ_WRITE_WRITE, {
      authorizeToolCall: ({ tool }) => {
        asked += 1;
        return tool.name === "write" ? { ask: {} } : undefined;
      },
    });
    const again = await session.execute(READ_WRITE_WRITE, { turn: 1 }).result;
    expect(idsOf(again)).toEqual(ids);
    expect(asked).toBe(3);
    await session.close();
  });

  it("APP-2: blockOthers refuses all that is still undecided", async () => {
    const { session, ids, read, write } = await startWaiting();
    const approvals = { [idOf(ids, "c")]: true as const };
    const done = await session.execute(READ_WRITE_WRITE, { turn: 1, approvals, blockOthers: true }).result;
    expect(verdictsOf(done)).toEqual(["succeeded", "refused:authorization", "succeeded"]);
    expect([read.runs, write.runs]).toEqual([[{ n: 0 }], [{ n: 2 }]]);
  });

  it("APP-2: a grant given earlier survives later partial answers and blockOthers", async () => {
    const calls = [call("write", '{"n":1}', "a"), call("write", '{"n":2}', "b"), call("write", '{"n":3}', "c")];
    const { session, ids } = await startWaiting(calls);
    await session.execute(calls, { turn: 1, approvals: { [idOf(ids, "a")]: true } }).result;
    await session.execute(calls, { turn: 1, approvals: { [idOf(ids, "b")]: { block: "no" } } }).result;
    const done = await session.execute(calls, { turn: 1, blockOthers: true }).result;
    expect(verdictsOf(done)).toEqual(["succeeded", "refused:authorization", "refused:authorization"]);
  });

  it.each<[string, readonly GivenCall[], number?]>([
    ["other arguments", [READ_WRITE_WRITE[0], call("write", '{"n":9}', "b"), READ_WRITE_WRITE[2]]],
    ["another name", [READ_WRITE_WRITE[0], call("read", '{"n":1}', "b"), READ_WRITE_WRITE[2]]],
    ["another id", [READ_WRITE_WRITE[0], call("write", '{"n":1}', "z"), READ_WRITE_WRITE[2]]],
    ["another order", [READ_WRITE_WRITE[1], READ_WRITE_WRITE[0], READ_WRITE_WRITE[2]]],
    ["a call less", READ_WRITE_WRITE.slice(0, 2)],
    ["a call more", [...READ_WRITE_WRITE, call("read", "{}", "d")]],
    ["no calls", []],
    ["another turn", READ_WRITE_WRITE, 2],
  ])("APP-2: may not come with another response (%s) while questions are open", async (_what, other, turn = 1) => {
    const { session, ids, write } = await startWaiting();
    const approvals = { [idOf(ids, "b")]: true as const, [idOf(ids, "c")]: true as const };
    expect(misuseOf(() => session.execute(other, { turn, approvals }))).toBe("INVALID_OPTIONS response");
    expect(misuseOf(() => session.execute(other, { turn, blockOthers: true }))).toBe("INVALID_OPTIONS response");
    expect(write.runs).toEqual([]);
    await session.close();
  });

  it("APP-2: a queued misuse is told by its own result, and the batch still waits", async () => {
    const { session, ids } = await startWaiting();
    const approvals = { [idOf(ids, "b")]: true as const };
    const good = session.execute(READ_WRITE_WRITE, { turn: 1, approvals });
    const change = { [idOf(ids, "b")]: { block: "no" } };
    const again = session.execute(READ_WRITE_WRITE, { turn: 1, approvals: change });
    expect(idsOf(await good.result)).toEqual({ c: ids.c });
    await expect(again.result).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
    await session.close();
  });
});
