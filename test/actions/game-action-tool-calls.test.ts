import { describe, expect, it, vi } from "vitest";
import { GameActionTool } from "../../src/actions/game-action-tool.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { KernelError } from "../../src/domain/errors.ts";
import { contextOf, INPUT, makeTool, OPERATION, plain, run } from "../support/game-action-tool-scene.ts";
import { trackedSignal } from "../support/tracked.ts";
import { makeRig, withProtocol } from "./rig.ts";

describe("a durable tool", () => {
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

  it("ACT-3, ACT-9: a revision that never comes dispatches nothing when the call is told to stop, for certain", async () => {
    const rig = makeRig();
    const stop = trackedSignal();
    const expectedRevision = () => new Promise<number>(() => undefined);
    const executing = makeTool(rig, { expectedRevision }).execute({ plot: 1 }, contextOf({ signal: stop.signal }));
    await rig.settle();
    stop.abort();
    const result = await executing;
    expect(result).toMatchObject({ isError: true, failureCategory: "cancelled", details: { status: "cancelled" } });
    expect([rig.calls.length, await rig.journal.find(OPERATION)]).toEqual([0, undefined]);
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
    ["input", { input: () => Promise.reject(new Error("secret")) }, "invalid_options"],
    ["operationId", { operationId: () => Promise.reject(new Error("secret")) }, "invalid_options"],
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
    expect(tool.durable.identify(context)).toEqual({ operationId: "1-0-1", input: { ...INPUT, inputId: "message-9" } });
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
