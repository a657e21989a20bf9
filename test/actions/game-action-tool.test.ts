import { describe, expect, it, vi } from "vitest";
import { canonicalReceipt } from "../../src/actions/canonical-receipt.ts";
import { GameActionTool } from "../../src/actions/game-action-tool.ts";
import { defaultOperationId } from "../../src/actions/operation-id.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { durableOutcomeOf } from "../../src/domain/action.ts";
import type { DeclaredResult } from "../../src/domain/content.ts";
import { KernelError } from "../../src/domain/errors.ts";
import type { ToolContext } from "../../src/domain/tool.ts";
import { testContext } from "../support/tool-context.ts";
import { intentOf, makeRig, type Rig, type RigOptions, withProtocol } from "./rig.ts";

const INPUT = { sessionId: "session", actorId: "actor", inputId: "input", moment: { timelineId: "main", tick: 7 } };
const SCHEMA = { type: "object" };

function makeTool(rig: Rig, more: object = {}) {
  return GameActionTool.create({
    input: INPUT,
    name: "build",
    description: "Builds.",
    inputSchema: SCHEMA,
    dispatcher: rig.dispatcher,
    ...more,
  });
}

function contextOf(more: Partial<ToolContext> & { conflictWaitMs?: number } = {}): ToolContext {
  return { ...testContext().context, ...more };
}

const OPERATION = defaultOperationId({ input: INPUT, turn: 1, callIndex: 0, action: "build" });

async function run(options: RigOptions, more: object = {}, context: ToolContext = contextOf()) {
  const rig = makeRig(options);
  const result = await makeTool(rig, more).execute({ plot: 1 }, context);
  return { rig, result, outcome: durableOutcomeOf(result) };
}

function plain(result: DeclaredResult | undefined): object {
  return JSON.parse(JSON.stringify(result));
}

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

  it("ACT-11: a journal in trouble shows the model a fixed code, and the host the reason", async () => {
    const full = new KernelError("JOURNAL_FULL", "The disk of /somewhere is full.");
    const { result } = await run({
      journal: (journal) => withProtocol(journal, () => ({ claim: () => Promise.reject(full) })),
    });
    expect(plain(result)).toMatchObject({
      content: "not_executed: journal_full. Nothing was dispatched.",
      isError: true,
      failureCategory: "internal",
      details: { status: "journal_full", message: "The disk of /somewhere is full." },
    });
  });

  it("ACT-9: the expected revision is asked just before the intent is written", async () => {
    const rig = makeRig({ execute: (intent) => GameActionReceipt.committed(intent, null, { stateRevision: 4 }) });
    const expectedRevision = vi.fn(async () => 4);
    const { details } = await makeTool(rig, { expectedRevision }).execute({ plot: 1 }, contextOf());
    expect([details, rig.calls[0]?.intent.expectedRevision]).toMatchObject([
      { status: "committed", stateRevision: 4 },
      4,
    ]);
    expect(expectedRevision.mock.calls).toEqual([[{ plot: 1 }, expect.objectContaining({ runId: "run" })]]);
  });

  it.each([
    ["expectedRevision", { expectedRevision: () => Promise.reject(new Error("secret")) }, "internal"],
    ["input", { input: () => ({ ...INPUT, actorId: "" }) }, "invalid_options"],
    [
      "input",
      {
        input: () => {
          throw new Error("secret");
        },
      },
      "invalid_options",
    ],
    ["operationId", { operationId: () => "" }, "invalid_options"],
    [
      "operationId",
      {
        operationId: () => {
          throw new Error("secret");
        },
      },
      "invalid_options",
    ],
  ])("ACT-8: a function %s of the host that fails keeps the handler from being called", async (_name, more, code) => {
    const { rig, result } = await run({}, more);
    expect(plain(result)).toMatchObject({ content: `not_executed: ${code}. Nothing was dispatched.`, isError: true });
    expect(JSON.stringify(result)).not.toContain("secret");
    expect(rig.calls).toHaveLength(0);
  });

  it("ACT-8: input and operation id may be functions of the call", async () => {
    const rig = makeRig({ execute: (intent) => GameActionReceipt.committed(intent, null) });
    const input = vi.fn(({ host }: { host: unknown }) => ({ ...INPUT, inputId: String(host) }));
    const operationId = vi.fn(({ turn, callIndex, arguments: args }) => `${turn}-${callIndex}-${args.plot}`);
    const tool = makeTool(rig, { input, operationId });
    await tool.execute({ plot: 1 }, contextOf({ host: "message-9" }));
    expect(rig.calls[0]?.intent).toMatchObject({ operationId: "1-0-1", inputId: "message-9" });
    const context = { callIndex: 0, turn: 1, arguments: { plot: 1 }, host: "message-9", runId: "run" };
    expect(operationId.mock.calls[0]?.[0]).toMatchObject(context);
    expect(tool.durable.operationId(context)).toBe("1-0-1");
  });

  it("ACT-8: an input object belongs to the first run that uses it, over all tools of the dispatcher", async () => {
    const rig = makeRig({ execute: (intent) => GameActionReceipt.committed(intent, null) });
    const [build, harvest] = [makeTool(rig), makeTool(rig, { name: "harvest" })];
    build.durable.bindRun("run");
    harvest.durable.bindRun("run");
    expect(() => harvest.durable.bindRun("another")).toThrow(
      expect.objectContaining({ code: "INVALID_OPTIONS", subject: "input" }),
    );
    const result = await harvest.execute({ plot: 1 }, contextOf({ runId: "another" }));
    expect(result).toMatchObject({ isError: true, details: { status: "invalid_options" } });
    expect(rig.calls).toHaveLength(0);
    makeTool(rig, { input: () => INPUT }).durable.bindRun("another");
  });

  it.each([
    ["input", { input: { ...INPUT, sessionId: "" } }],
    ["dispatcher", { dispatcher: {} }],
  ])("a wrong %s is refused when the tool is made", (_name, more) => {
    expect(() => makeTool(makeRig(), more)).toThrow(expect.objectContaining({ code: "INVALID_OPTIONS" }));
  });

  it("keeps what the kernel reads of a tool, and nothing of the dispatcher's", () => {
    const conflictKey = () => "k";
    const tool = makeTool(makeRig(), { risk: "idempotentWrite", executionMode: "parallel", timeoutMs: 5, conflictKey });
    expect(Object.keys(tool).sort()).toEqual(
      [
        "conflictKey",
        "description",
        "durable",
        "execute",
        "executionMode",
        "inputSchema",
        "name",
        "risk",
        "timeoutMs",
      ].sort(),
    );
    expect(GameActionTool.maximumModelReceiptCharacters).toBe(64_000);
  });
});

describe("what the kernel asks of a durable tool", () => {
  it("CAN-2: an abandoned call is uncertain, with id, timeline and tick; its entry can be resolved at once", async () => {
    const rig = makeRig();
    const tool = makeTool(rig);
    const executing = tool.execute({ plot: 1 }, contextOf({ conflictKeys: ["k"] }));
    await rig.settle();
    const call = { callIndex: 0, turn: 1, arguments: { plot: 1 }, host: undefined, runId: "run", conflictKeys: [] };
    const { outcome, details } = tool.durable.abandon(call);
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
