import { describe, expect, it, vi } from "vitest";
import { canonicalReceipt } from "../../src/actions/canonical-receipt.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { KernelError } from "../../src/domain/errors.ts";
import { contextOf, makeTool, OPERATION } from "../support/game-action-tool-scene.ts";
import { intentOf, makeRig, withProtocol } from "./rig.ts";

describe("what the kernel asks of a durable tool", () => {
  it("CAN-2: an abandoned call is uncertain, with id, timeline and tick; its entry can be resolved at once", async () => {
    const rig = makeRig();
    const tool = makeTool(rig);
    const executing = tool.execute({ plot: 1 }, contextOf({ conflictKeys: ["k"] }));
    await rig.settle();
    const call = { callIndex: 0, turn: 1, arguments: { plot: 1 }, host: undefined, runId: "run", conflictKeys: [] };
    const { outcome, details } = tool.durable.abandon({ ...call, identity: tool.durable.identify(call) });
    expect(details).toEqual({
      operationId: OPERATION,
      status: "uncertain",
      message: "The handler did not answer in time; the action may or may not have happened.",
      timelineId: "main",
      tick: 7,
    });
    expect(outcome).toMatchObject({
      intent: { conflictKeys: ["k"] },
      receipt: { status: "uncertain", code: "no_answer" },
    });
    await executing;
    expect((await rig.journal.find(OPERATION))?.state).toBe("uncertain");
    await tool.durable.resolve(OPERATION, { status: "committed", details: { seen: true } });
    expect(await rig.journal.protocol.listEvidence(OPERATION)).toMatchObject([
      { kind: "resolution", content: { seen: true } },
    ]);
    await expect(tool.durable.resolve(OPERATION, { status: "failed" })).rejects.toMatchObject({
      code: "RECEIPT_IMMUTABLE",
    });
    rig.calls[0]?.commit();
    await rig.settle();
  });

  it("CAN-2: a receipt that is being saved is known to be", async () => {
    const rig = makeRig({
      journal: (journal) =>
        withProtocol(journal, () => ({ finish: () => Promise.reject(new KernelError("JOURNAL_UNAVAILABLE", "down")) })),
      options: { receiptCommitTimeoutMs: 90 },
    });
    const tool = makeTool(rig);
    const executing = tool.execute({ plot: 1 }, contextOf());
    await rig.settle();
    expect(tool.durable.isSavingReceipt(OPERATION)).toBe(false);
    rig.calls[0]?.commit();
    await rig.settle();
    expect([tool.durable.isSavingReceipt(OPERATION), tool.durable.receiptCommitTimeoutMs]).toEqual([true, 90]);
    await rig.advance(90);
    expect(await executing).toMatchObject({ outcomeUncertain: true, details: { code: "receipt_not_durable" } });
    await rig.journal.close();
    await rig.advance(100);
  });

  it("UNC-7: recovery is offered where the handler has it, asks once under a raised fence, and ends as recovered", async () => {
    const recover = vi.fn((intent: Parameters<typeof GameActionReceipt.committed>[0]) =>
      GameActionReceipt.committed(intent, { found: 1 }),
    );
    const rig = makeRig({ recover });
    const tool = makeTool(rig);
    const executing = tool.execute({ plot: 1 }, contextOf());
    await rig.settle();
    rig.calls[0]?.fail(new Error("lost"));
    expect((await executing).outcomeUncertain).toBe(true);
    expect(recover).not.toHaveBeenCalled();
    const recovered = await tool.recover?.({ plot: 1 }, contextOf());
    expect(recovered).toMatchObject({
      isError: false,
      details: { status: "committed", dispatch: "recovered", recovered: true },
    });
    expect(recover).toHaveBeenCalledTimes(1);
    expect(makeTool(makeRig()).recover).toBeUndefined();
  });

  it("UNC-7: a call that meets its own uncertain entry leaves the question to the kernel", async () => {
    const recover = vi.fn(() => undefined);
    const rig = makeRig({
      recover,
      execute: () => {
        throw new Error("lost");
      },
    });
    const tool = makeTool(rig);
    await tool.execute({ plot: 1 }, contextOf());
    const again = await tool.execute({ plot: 1 }, contextOf());
    expect(again).toMatchObject({
      outcomeUncertain: true,
      details: { status: "uncertain", code: "handler_threw", dispatch: "replayed" },
    });
    expect([recover.mock.calls.length, rig.calls.length]).toEqual([0, 1]);
    expect(await tool.recover?.({ plot: 1 }, contextOf())).toBeUndefined();
    expect(recover).toHaveBeenCalledTimes(1);
  });
});

describe("the canonical receipt", () => {
  it("PROJ-1: says of an uncertain receipt why, and nothing of a result", () => {
    const intent = intentOf("a");
    const receipt = {
      operationId: "a",
      moment: intent.moment,
      status: "uncertain",
      result: null,
      code: "x",
      message: "y",
    } as const;
    const timings = { totalMs: 3, hostMs: 1, frameworkMs: 2 };
    expect(canonicalReceipt({ receipt, disposition: "recovered", timings })).toMatchObject({
      status: "uncertain",
      result: null,
      stateRevision: null,
      code: "x",
      message: "y",
      duplicateExecutionPrevented: true,
      recovered: true,
      ...timings,
    });
  });
});
