import { describe, expect, it } from "vitest";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { OutcomeUnknownError, ToolError } from "../../src/domain/errors.ts";
import { trackedSignal } from "../support/tracked.ts";
import { intentOf, makeRig } from "./rig.ts";

const NO_TIME = { totalMs: 0, hostMs: 0, frameworkMs: 0 };

function cyclic(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}

function throwing(): unknown {
  return {
    get value() {
      throw new Error("no");
    },
  };
}

describe("what the handler answers", () => {
  it("a rejection and a failure are receipts like any other", async () => {
    const rig = makeRig({
      execute: (intent) =>
        intent.operationId === "a"
          ? GameActionReceipt.rejected(intent, "occupied", "The plot is taken.")
          : GameActionReceipt.failed(intent, "broke", "The crane broke."),
    });
    const rejected = await rig.dispatcher.dispatch(intentOf("a"));
    const failed = await rig.dispatcher.dispatch(intentOf("b"));
    expect(rejected.receipt).toEqual({
      operationId: "a",
      moment: { timelineId: "main", tick: 7 },
      status: "rejected",
      result: null,
      code: "occupied",
      message: "The plot is taken.",
    });
    expect([failed.receipt?.status, (await rig.journal.find("b"))?.state]).toEqual(["failed", "failed"]);
  });

  it("UNC-1: a throw leaves the outcome uncertain, a ToolError is a certain failure", async () => {
    const errors: Record<string, unknown> = {
      thrown: new Error("secret"),
      unknown: new OutcomeUnknownError("who knows"),
      declared: new ToolError("The shop is shut.", { failureCategory: "transient" }),
    };
    const rig = makeRig({
      execute: ({ operationId }) => {
        throw errors[operationId];
      },
    });
    const receipts = await Promise.all(
      Object.keys(errors).map(async (id) => (await rig.dispatcher.dispatch(intentOf(id))).receipt),
    );
    expect(receipts.map((receipt) => receipt && "code" in receipt && [receipt.status, receipt.code])).toEqual([
      ["uncertain", "handler_threw"],
      ["uncertain", "outcome_unknown"],
      ["failed", "transient"],
    ]);
    expect(JSON.stringify(receipts)).not.toContain("secret");
    const states = await Promise.all(Object.keys(errors).map(async (id) => (await rig.journal.find(id))?.state));
    expect(states).toEqual(["uncertain", "uncertain", "failed"]);
  });

  it.each([
    ["nothing", undefined],
    ["text", "committed"],
    ["a receipt of another operation", { ...GameActionReceipt.committed(intentOf("b"), null) }],
    [
      "a receipt of another tick",
      GameActionReceipt.committed(intentOf("a", { moment: { timelineId: "main", tick: 8 } }), null),
    ],
    [
      "a receipt of another timeline",
      GameActionReceipt.committed(intentOf("a", { moment: { timelineId: "side", tick: 7 } }), null),
    ],
    ["an unknown status", { ...GameActionReceipt.committed(intentOf("a"), null), status: "done" }],
    ["a rejection without a code", { ...GameActionReceipt.rejected(intentOf("a"), "x", "y"), code: undefined }],
    ["a revision that is not a number", { ...GameActionReceipt.committed(intentOf("a"), null), stateRevision: "7" }],
    [
      "an object that throws",
      {
        get operationId() {
          throw new Error("no");
        },
      },
    ],
  ])("ACT-9: %s is refused, and the outcome is uncertain", async (_name, answer) => {
    const rig = makeRig({ execute: () => answer });
    const { receipt, disposition } = await rig.dispatcher.dispatch(intentOf("a"));
    expect(receipt).toMatchObject({ operationId: "a", status: "uncertain", result: null, code: "receipt_mismatch" });
    expect(disposition).toBe("executed");
    expect(await rig.journal.find("a")).toMatchObject({ state: "uncertain", receipt });
  });

  it.each([
    [undefined, "uncertain"],
    [4, "uncertain"],
    [5, "committed"],
    [6, "committed"],
  ])(
    "ACT-9: of an intent that expected revision 5, a committed receipt with %s is %s",
    async (stateRevision, status) => {
      const rig = makeRig({ execute: (intent) => GameActionReceipt.committed(intent, null, { stateRevision }) });
      const { receipt } = await rig.dispatcher.dispatch(intentOf("a", { expectedRevision: 5 }));
      expect(receipt?.status).toBe(status);
    },
  );

  it("ACT-9: a rejection needs no revision", async () => {
    const rig = makeRig({ execute: (intent) => GameActionReceipt.rejected(intent, "no", "No.") });
    expect((await rig.dispatcher.dispatch(intentOf("a", { expectedRevision: 5 }))).receipt?.status).toBe("rejected");
  });

  it.each([
    ["a cycle", cyclic(), "not representable as JSON", undefined],
    ["a BigInt", { n: 1n }, "not representable as JSON", undefined],
    ["a getter that throws", throwing(), "not representable as JSON", undefined],
    ["too much nesting", JSON.parse(`${"[".repeat(65)}${"]".repeat(65)}`), "is nested deeper than 64 containers", 130],
    ["too much text", "x".repeat(1_048_575), "larger than 1048576 characters", 1_048_577],
  ])(
    "UNC-1: a committed result with %s is a bounded placeholder, never a failure",
    async (_name, result, fault, characters) => {
      const rig = makeRig({ execute: (intent) => GameActionReceipt.committed(intent, result) });
      const { receipt } = await rig.dispatcher.dispatch(intentOf("a"));
      const hash = characters === undefined ? {} : { characters, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) };
      expect(receipt).toMatchObject({
        status: "committed",
        result: { note: "completed; do not repeat. Its result could not be recorded", fault, ...hash },
      });
      expect((await rig.dispatcher.dispatch(intentOf("a"))).receipt).toEqual(receipt);
    },
  );
});

describe("cancellation", () => {
  it("ACT-3: a dispatch whose signal has fired writes nothing", async () => {
    const rig = makeRig();
    expect(await rig.dispatcher.dispatch(intentOf("a"), { signal: AbortSignal.abort() })).toEqual({
      disposition: "cancelled",
      timings: NO_TIME,
    });
    expect(await rig.journal.find("a")).toBeUndefined();
  });

  it("ACT-6: a receipt that the handler returns after the cancellation is saved", async () => {
    const rig = makeRig();
    const { signal, abort } = trackedSignal();
    const dispatching = rig.dispatcher.dispatch(intentOf("a"), { signal });
    await rig.settle();
    abort();
    expect(rig.calls[0]?.context.signal.aborted).toBe(true);
    await rig.advance(900);
    rig.calls[0]?.commit("late but real");
    expect(await dispatching).toMatchObject({
      disposition: "executed",
      receipt: { status: "committed", result: "late but real" },
    });
    expect((await rig.journal.find("a"))?.state).toBe("committed");
  });

  it("CAN-2: a handler that does not answer within the grace leaves the action uncertain; its late receipt closes it", async () => {
    const rig = makeRig();
    const { signal, abort } = trackedSignal();
    const dispatching = rig.dispatcher.dispatch(intentOf("a", { conflictKeys: ["k"] }), { signal });
    await rig.settle();
    abort();
    await rig.advance(1_000);
    const { receipt } = await dispatching;
    expect(receipt).toMatchObject({ status: "uncertain", code: "no_answer" });
    expect(await rig.journal.find("a")).toMatchObject({ state: "uncertain", receipt });
    rig.calls[0]?.commit("at last");
    await rig.settle();
    expect(await rig.journal.find("a")).toMatchObject({ state: "committed", receipt: { result: "at last" } });
  });
});
