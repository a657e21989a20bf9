import { describe, expect, it } from "vitest";
import { defaultOperationId } from "../../src/actions/operation-id.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { durableOutcomeOf } from "../../src/domain/durable-result.ts";
import { contextOf, INPUT, makeTool, OPERATION, plain, run } from "../support/game-action-tool-scene.ts";
import { testContext } from "../support/tool-context.ts";
import { intentOf, makeRig } from "./rig.ts";

describe("a durable tool", () => {
  it("PROJ-1: answers the canonical receipt JSON, to the model and in its details", async () => {
    const rig = makeRig();
    const tool = makeTool(rig);
    const executing = tool.execute({ plot: 1 }, contextOf({ conflictKeys: ["plot:1"] }));
    await rig.advance(20);
    expect(rig.calls[0]?.intent).toEqual({ ...intentOf(OPERATION), conflictKeys: ["plot:1"] });
    rig.calls[0]?.commit({ level: 2 }, 5);
    const canonical = {
      operationId: OPERATION,
      status: "committed",
      result: { level: 2 },
      stateRevision: 5,
      code: null,
      message: null,
      timelineId: "main",
      tick: 7,
      dispatch: "executed",
      duplicateExecutionPrevented: false,
      recovered: false,
      totalMs: 20,
      hostMs: 20,
      frameworkMs: 0,
    };
    expect(plain(await executing)).toEqual({
      content: [{ type: "json", value: canonical }],
      details: canonical,
      isError: false,
      outcomeUncertain: false,
    });
    const replay = await tool.execute({ plot: 1 }, contextOf());
    const again = { ...canonical, dispatch: "replayed", duplicateExecutionPrevented: true, totalMs: 0, hostMs: 0 };
    expect(replay.details).toEqual(again);
    expect(durableOutcomeOf(replay)?.intent).toEqual(durableOutcomeOf(await executing)?.intent);
  });

  it("a rejected receipt is a failure by the rules, a failed one unspecified, an uncertain one uncertain", async () => {
    const receipts = [
      await run({ execute: (intent) => GameActionReceipt.rejected(intent, "taken", "The plot is taken.") }),
      await run({ execute: (intent) => GameActionReceipt.failed(intent, "broke", "The crane broke.") }),
      await run({ execute: () => undefined }),
    ];
    expect(receipts.map(({ result }) => [result.isError, result.failureCategory, result.outcomeUncertain])).toEqual([
      [true, "ruleRejected", false],
      [true, "unspecified", false],
      [true, "internal", true],
    ]);
    expect(receipts.map(({ result }) => (result.details as { code: unknown }).code)).toEqual([
      "taken",
      "broke",
      "receipt_mismatch",
    ]);
  });

  it("ACT-3: a wait for a key is bounded by what the kernel allows, and ends as a certain conflict", async () => {
    const rig = makeRig();
    const tool = makeTool(rig);
    const keys = { conflictKeys: ["plot:1"] };
    const holding = tool.execute({ plot: 1 }, contextOf(keys));
    const waiting = tool.execute({ plot: 2 }, contextOf({ ...keys, callIndex: 1, conflictWaitMs: 40 }));
    await rig.advance(40);
    const message = "not_executed: another action holds what this one touches. Nothing happened.";
    const operationId = defaultOperationId({ input: INPUT, turn: 1, callIndex: 1, action: "build" });
    expect(plain(await waiting)).toEqual({
      content: message,
      details: {
        operationId,
        status: "conflict_blocked",
        message,
        timelineId: "main",
        tick: 7,
        dispatch: "conflictBlocked",
      },
      isError: true,
      failureCategory: "conflict",
    });
    expect((await rig.journal.find(operationId))?.state).toBe("abandoned");
    rig.calls[0]?.commit();
    await holding;
  });

  it("ACT-3: a call that is cancelled before its intent is written is certain", async () => {
    const { controller, context } = testContext();
    controller.abort();
    const { result, outcome, rig } = await run({}, {}, context);
    expect([result.isError, result.failureCategory, result.outcomeUncertain, outcome?.code]).toEqual([
      true,
      "cancelled",
      undefined,
      "cancelled",
    ]);
    expect(rig.calls).toHaveLength(0);
  });

  it("ACT-7: another intent under the same id is an error, not an uncertain write", async () => {
    const rig = makeRig({ execute: (intent) => GameActionReceipt.committed(intent, null) });
    const tool = makeTool(rig);
    await tool.execute({ plot: 1 }, contextOf());
    const result = await tool.execute({ plot: 2 }, contextOf());
    expect(result).toMatchObject({
      isError: true,
      failureCategory: "conflict",
      content: "not_executed: intent_mismatch. Nothing was dispatched.",
    });
    expect(result.outcomeUncertain).toBeUndefined();
    expect(result.details).toMatchObject({
      operationId: OPERATION,
      status: "intent_mismatch",
      message: expect.stringContaining(OPERATION),
    });
    expect(rig.calls).toHaveLength(1);
  });
});
