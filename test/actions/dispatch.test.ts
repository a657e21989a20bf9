import { describe, expect, it } from "vitest";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { intentOf, makeRig } from "./rig.ts";

const NO_TIME = { totalMs: 0, hostMs: 0, frameworkMs: 0 };

describe("dispatch", () => {
  it("ACT-1: the intent is in the journal before the handler is called, and the receipt before anybody sees it", async () => {
    const rig = makeRig();
    const dispatching = rig.dispatcher.dispatch(intentOf("a", { conflictKeys: ["plot"] }));
    await rig.settle();
    expect(rig.calls).toHaveLength(1);
    expect(await rig.journal.find("a")).toMatchObject({
      state: "dispatched",
      intent: intentOf("a", { conflictKeys: ["plot"] }),
    });
    rig.calls[0]?.commit({ built: true });
    const { receipt, ...rest } = await dispatching;
    expect(rest).toEqual({ disposition: "executed", timings: NO_TIME });
    expect(receipt).toEqual(GameActionReceipt.committed(intentOf("a"), { built: true }));
    expect(await rig.journal.find("a")).toMatchObject({ state: "committed", receipt });
  });

  it("ACT-1: a second dispatch of an id answers the stored receipt and calls nobody", async () => {
    const rig = makeRig({ execute: (intent) => GameActionReceipt.committed(intent, { n: 1 }) });
    const first = await rig.dispatcher.dispatch(intentOf("a"));
    const second = await rig.dispatcher.dispatch(intentOf("a"));
    expect(second).toEqual({ ...first, disposition: "replayed" });
    expect(JSON.stringify(second.receipt)).toBe(JSON.stringify(first.receipt));
    expect(rig.calls).toHaveLength(1);
  });

  it("ACT-1: dispatches of one id at the same time share one execution", async () => {
    const rig = makeRig();
    const dispatching = Array.from({ length: 5 }, () =>
      rig.dispatcher.dispatch(intentOf("a", { conflictKeys: ["k"] })),
    );
    await rig.settle();
    expect(rig.calls).toHaveLength(1);
    rig.calls[0]?.commit();
    const results = await Promise.all(dispatching);
    expect(results.map(({ disposition }) => disposition)).toEqual(["executed", ...Array(4).fill("replayed")]);
    expect(rig.calls).toHaveLength(1);
  });

  it("ACT-7: arguments are compared canonically; expected revision and keys are not compared", async () => {
    const rig = makeRig({ execute: (intent) => GameActionReceipt.committed(intent, null) });
    await rig.dispatcher.dispatch(intentOf("a", { arguments: { x: 1, y: { a: 0, b: "é" } } }));
    const equal = intentOf("a", {
      arguments: { y: { b: "é", a: -0 }, x: 1.0 },
      conflictKeys: ["other"],
      expectedRevision: 9,
    });
    expect((await rig.dispatcher.dispatch(equal)).disposition).toBe("replayed");
  });

  it.each([
    ["action", { action: "harvest" }],
    ["arguments", { arguments: { plot: "1" } }],
    ["session", { sessionId: "other" }],
    ["actor", { actorId: "other" }],
    ["input", { inputId: "other" }],
    ["tick", { moment: { timelineId: "main", tick: 8 } }],
    ["timeline", { moment: { timelineId: "side", tick: 7 } }],
    ["generation", { generationId: "second" }],
  ])("ACT-7: another %s under the same id is refused before anything runs", async (_name, more) => {
    const rig = makeRig({ execute: (intent) => GameActionReceipt.committed(intent, null) });
    await rig.dispatcher.dispatch(intentOf("a"));
    await expect(rig.dispatcher.dispatch(intentOf("a", more))).rejects.toMatchObject({
      code: "INTENT_MISMATCH",
      subject: "a",
    });
    expect(rig.calls).toHaveLength(1);
  });

  it("ACT-10: a pruned id is refused and never executed", async () => {
    const rig = makeRig({ execute: (intent) => GameActionReceipt.committed(intent, null) });
    await rig.dispatcher.dispatch(intentOf("a"));
    await rig.journal.prune({ finalBefore: Number.MAX_SAFE_INTEGER });
    await expect(rig.dispatcher.dispatch(intentOf("a"))).rejects.toMatchObject({ code: "OPERATION_FORGOTTEN" });
    await expect(rig.dispatcher.reconcile("a")).rejects.toMatchObject({ code: "OPERATION_FORGOTTEN" });
    expect(rig.calls).toHaveLength(1);
  });

  it("ACT-1: what the handler gets is frozen, and the host's own object may change without harm", async () => {
    const rig = makeRig();
    const args = { plot: 1, inner: [1] };
    const dispatching = rig.dispatcher.dispatch(intentOf("a", { arguments: args, conflictKeys: ["b", "a", "b"] }));
    args.inner.push(2);
    await rig.settle();
    const intent = rig.calls[0]?.intent;
    expect(intent).toEqual(intentOf("a", { arguments: { plot: 1, inner: [1] }, conflictKeys: ["a", "b"] }));
    expect([intent, intent?.arguments, intent?.arguments.inner, intent?.moment].map(Object.isFrozen)).toEqual(
      Array(4).fill(true),
    );
    rig.calls[0]?.commit();
    await dispatching;
  });

  it("timings split the whole into the handler's time and the rest", async () => {
    const rig = makeRig();
    const holding = rig.dispatcher.dispatch(intentOf("a", { conflictKeys: ["k"] }));
    const waiting = rig.dispatcher.dispatch(intentOf("b", { conflictKeys: ["k"] }));
    await rig.advance(100);
    rig.calls[0]?.commit();
    await rig.advance(30);
    rig.calls[1]?.commit();
    expect((await holding).timings).toEqual({ totalMs: 100, hostMs: 100, frameworkMs: 0 });
    expect((await waiting).timings).toEqual({ totalMs: 130, hostMs: 30, frameworkMs: 100 });
  });

  it("ACT-4: the fence rises with every claim of a key", async () => {
    const fences: number[] = [];
    const rig = makeRig({
      execute: (intent, { fence }) => {
        fences.push(fence);
        return GameActionReceipt.committed(intent, null);
      },
    });
    for (const id of ["a", "b", "c"]) await rig.dispatcher.dispatch(intentOf(id, { conflictKeys: ["k"] }));
    expect(fences).toEqual([1, 2, 3]);
  });
});
