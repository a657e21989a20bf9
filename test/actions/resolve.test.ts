import { describe, expect, it } from "vitest";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { gate, intentOf, makeRig, uncertainRig, withProtocol } from "./rig.ts";

describe("resolve", () => {
  it("ACT-5: a person closes an uncertain operation with evidence, under a raised fence", async () => {
    const rig = await uncertainRig();
    const receipt = await rig.dispatcher.resolve("a", {
      status: "committed",
      evidence: { seenBy: "Ada" },
      result: { n: 1 },
    });
    expect(receipt).toEqual(GameActionReceipt.committed(intentOf("a"), { n: 1 }));
    expect(await rig.journal.find("a")).toMatchObject({ state: "committed", receipt, fence: 2 });
    expect(await rig.journal.protocol.listEvidence("a")).toMatchObject([
      { kind: "resolution", content: { seenBy: "Ada" } },
    ]);
    expect((await rig.dispatcher.dispatch(intentOf("a", { conflictKeys: ["k"] }))).receipt).toEqual(receipt);
    expect((await rig.dispatcher.dispatch(intentOf("b", { conflictKeys: ["k"] }))).disposition).toBe("executed");
  });

  it("ACT-5: a failed resolution carries code and message, made up where a person gave none", async () => {
    const rig = await uncertainRig();
    expect(await rig.dispatcher.resolve("a", { status: "rejected", evidence: 1, code: "shut" })).toEqual(
      GameActionReceipt.rejected(intentOf("a"), "shut", "A person found out that the action did not happen."),
    );
  });

  it("ACT-2: saying the same again is fine, another ending is refused", async () => {
    const rig = await uncertainRig();
    const resolution = { status: "committed", evidence: 1, result: { a: 1, b: 2 } } as const;
    const receipt = await rig.dispatcher.resolve("a", resolution);
    expect(await rig.dispatcher.resolve("a", { ...resolution, result: { b: 2, a: 1 } })).toEqual(receipt);
    const others = [
      { status: "failed", evidence: 1 },
      { ...resolution, result: 2 },
    ] as const;
    for (const other of others) {
      await expect(rig.dispatcher.resolve("a", other)).rejects.toMatchObject({ code: "RECEIPT_IMMUTABLE" });
    }
  });

  it("ACT-5: only an uncertain operation can be closed by hand", async () => {
    const rig = makeRig();
    const dispatching = rig.dispatcher.dispatch(intentOf("a"));
    await rig.settle();
    const resolution = { status: "failed", evidence: "none" } as const;
    await expect(rig.dispatcher.resolve("a", resolution)).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
    await expect(rig.dispatcher.resolve("b", resolution)).rejects.toMatchObject({ code: "OPERATION_UNKNOWN" });
    rig.calls[0]?.commit();
    await dispatching;
  });

  it("ACT-5: evidence and results have to be JSON, and the status an ending", async () => {
    const rig = await uncertainRig();
    const wrong = [
      { status: "failed", evidence: undefined },
      { status: "failed", evidence: 1n },
      { status: "uncertain", evidence: 1 },
      { status: "committed", evidence: 1, result: new Map() },
    ];
    for (const resolution of wrong) {
      await expect(rig.dispatcher.resolve("a", resolution as never)).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
    }
    expect((await rig.journal.find("a"))?.state).toBe("uncertain");
  });

  it("ACT-5: two people who close one operation at once are both told its ending, and the word of each is kept", async () => {
    const rig = await uncertainRig();
    const { dispatcher, journal } = rig;
    const words = ["seen by Ada", "seen by Ben"].map((evidence) => ({ status: "committed", evidence }) as const);
    const receipts = await Promise.all(words.map((word) => dispatcher.resolve("a", word)));
    expect(receipts).toEqual([0, 1].map(() => GameActionReceipt.committed(intentOf("a"), null)));
    const kept = await journal.protocol.listEvidence("a");
    expect(kept.map(({ kind, content }) => [kind, content])).toEqual([
      ["lateResolution", { receipt: receipts[0], evidence: "seen by Ada" }],
      ["resolution", "seen by Ben"],
    ]);
  });

  it("ACT-5: of two people who say otherwise at once, one closes the operation and the other is told so", async () => {
    const { dispatcher, journal } = await uncertainRig();
    const said = await Promise.allSettled([
      dispatcher.resolve("a", { status: "committed", evidence: "it stands" }),
      dispatcher.resolve("a", { status: "failed", evidence: "it does not" }),
    ]);
    expect(said).toMatchObject([
      { status: "rejected", reason: { code: "RECEIPT_IMMUTABLE" } },
      { status: "fulfilled", value: { status: "failed" } },
    ]);
    expect(await journal.find("a")).toMatchObject({ state: "failed" });
  });

  it("ACT-5: a person who is overtaken again and again is told so in the end", async () => {
    const rig = makeRig({
      execute: () => {
        throw new Error("lost");
      },
      journal: (journal) =>
        withProtocol(journal, (protocol) => ({
          finish: async (request) => {
            await protocol.takeOver({ ...request, by: "person", holdMs: 1 });
            return protocol.finish(request);
          },
        })),
    });
    await rig.dispatcher.dispatch(intentOf("a"));
    const resolving = rig.dispatcher.resolve("a", { status: "failed", evidence: "gone" });
    await expect(resolving).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
    await expect(resolving).rejects.toThrow("others are taking it over at the same time");
    expect((await rig.journal.find("a"))?.state).toBe("uncertain");
  });

  it("ACT-5: a person is not kept out by a reconciler at work", async () => {
    const answer = gate();
    const rig = await uncertainRig(async (intent) => {
      await answer.opened;
      return GameActionReceipt.committed(intent, { found: true });
    });
    const reconciling = rig.dispatcher.reconcile("a");
    await rig.settle();
    const receipt = await rig.dispatcher.resolve("a", { status: "failed", evidence: "gone" });
    answer.open();
    expect(await reconciling).toEqual({ receipt, disposition: "replayed" });
    expect(await rig.journal.protocol.listEvidence("a")).toMatchObject([
      { kind: "resolution" },
      { kind: "lateReceipt" },
    ]);
  });
});
