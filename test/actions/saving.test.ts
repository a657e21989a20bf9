import { describe, expect, it } from "vitest";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { KernelError } from "../../src/domain/errors.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { intentOf, makeRig, withProtocol } from "./rig.ts";

/** A journal whose receipts cannot be saved while `isDown`. */
function unsteady(): { isDown: boolean; attempts: number; wrap(journal: Journal): Journal } {
  const state = {
    isDown: true,
    attempts: 0,
    wrap: (journal: Journal): Journal =>
      withProtocol(journal, (protocol) => ({
        finish: async (request) => {
          state.attempts += 1;
          if (state.isDown) throw new KernelError("JOURNAL_FULL", "full");
          return protocol.finish(request);
        },
      })),
  };
  return state;
}

describe("saving a receipt", () => {
  it("ACT-6: a journal that is away for a while delays the receipt, and the handler is not called again", async () => {
    const store = unsteady();
    const rig = makeRig({ journal: store.wrap, execute: (intent) => GameActionReceipt.committed(intent, 1) });
    const dispatching = rig.dispatcher.dispatch(intentOf("a"));
    await rig.advance(3_000);
    expect(rig.dispatcher.isSavingReceipt("a")).toBe(true);
    store.isDown = false;
    await rig.advance(1_000);
    expect(await dispatching).toMatchObject({ disposition: "executed", receipt: { status: "committed", result: 1 } });
    expect([rig.calls.length, store.attempts > 2]).toEqual([1, true]);
    expect(rig.dispatcher.isSavingReceipt("a")).toBe(false);
  });

  it("ACT-6: a receipt that cannot be saved in time is uncertain and says so; it is saved when the journal is back", async () => {
    const store = unsteady();
    const rig = makeRig({ journal: store.wrap, execute: (intent) => GameActionReceipt.committed(intent, 1) });
    const dispatching = rig.dispatcher.dispatch(intentOf("a"));
    await rig.advance(10_000);
    expect((await dispatching).receipt).toMatchObject({ status: "uncertain", code: "receipt_not_durable" });
    expect((await rig.journal.find("a"))?.state).toBe("dispatched");
    store.isDown = false;
    await rig.advance(2_000);
    expect(await rig.journal.find("a")).toMatchObject({ state: "committed", receipt: { result: 1 } });
    expect(rig.calls).toHaveLength(1);
  });

  it("ACT-6: a journal that never answers does not hold the caller longer than the time-out", async () => {
    const rig = makeRig({
      journal: (journal) => withProtocol(journal, () => ({ finish: () => new Promise(() => undefined) })),
      execute: (intent) => GameActionReceipt.committed(intent, 1),
      options: { receiptCommitTimeoutMs: 70 },
    });
    const dispatching = rig.dispatcher.dispatch(intentOf("a"));
    await rig.advance(70);
    expect((await dispatching).receipt).toMatchObject({ status: "uncertain", code: "receipt_not_durable" });
  });

  it("ACT-5: an owner that was overtaken answers what the journal holds now", async () => {
    const rig = makeRig();
    const dispatching = rig.dispatcher.dispatch(intentOf("a"));
    await rig.settle();
    const entry = await rig.journal.find("a");
    // Another process believed this one dead and asked the world.
    const { protocol } = rig.journal;
    const unsure = {
      operationId: "a",
      moment: intentOf("a").moment,
      status: "uncertain",
      result: null,
      code: "x",
      message: "y",
    } as const;
    await protocol.doubt({ operationId: "a", fence: entry?.fence ?? 0, receipt: unsure });
    const taken = await protocol.takeOver({ operationId: "a", by: "reconciler", holdMs: 1_000 });
    const fence = taken.kind === "taken" ? taken.entry.fence : 0;
    const ending = GameActionReceipt.failed(intentOf("a"), "not_found", "Nothing was built.");
    await protocol.finish({ operationId: "a", fence, receipt: ending });
    rig.calls[0]?.commit();
    expect((await dispatching).receipt).toEqual(ending);
    expect(await protocol.listEvidence("a")).toMatchObject([{ kind: "lateReceipt", content: { status: "committed" } }]);
  });

  it("ACT-5: an owner that was swept while it worked still closes its entry", async () => {
    const rig = makeRig();
    const dispatching = rig.dispatcher.dispatch(intentOf("a"));
    await rig.settle();
    const entry = await rig.journal.find("a");
    const unsure = {
      operationId: "a",
      moment: intentOf("a").moment,
      status: "uncertain",
      result: null,
      code: "x",
      message: "y",
    } as const;
    await rig.journal.protocol.doubt({ operationId: "a", fence: entry?.fence ?? 0, receipt: unsure });
    rig.calls[0]?.commit(2);
    expect(await dispatching).toMatchObject({ receipt: { status: "committed", result: 2 } });
  });

  it("CAN-2: a call that the kernel abandons becomes uncertain in the journal, and can be resolved at once", async () => {
    const rig = makeRig();
    const { signal } = new AbortController();
    const dispatching = rig.dispatcher.dispatchCall(intentOf("a"), { signal, maxWaitMs: 1_000 });
    await rig.settle();
    await rig.dispatcher.abandonCall("a");
    expect((await rig.journal.find("a"))?.state).toBe("uncertain");
    expect((await dispatching).receipt).toMatchObject({ status: "uncertain", code: "no_answer" });
    await rig.dispatcher.resolve("a", { status: "committed", evidence: "it stands", result: 5 });
    rig.calls[0]?.commit(6);
    await rig.settle();
    expect(await rig.journal.find("a")).toMatchObject({ state: "committed", receipt: { result: 5 } });
    await rig.dispatcher.abandonCall("a");
    await rig.dispatcher.abandonCall("unknown");
  });
});
