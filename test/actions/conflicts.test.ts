import { describe, expect, it } from "vitest";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { KernelError } from "../../src/domain/errors.ts";
import { trackedSignal } from "../support/tracked.ts";
import { gate, intentOf, makeRig, withProtocol } from "./rig.ts";

const ON_KEY = { conflictKeys: ["k"] };

describe("conflict scopes", () => {
  it("ACT-4: actions on one key run one at a time, in the order they came", async () => {
    const rig = makeRig();
    const ids = ["a", "b", "c", "d"];
    const dispatching = ids.map((id) => rig.dispatcher.dispatch(intentOf(id, ON_KEY)));
    for (const [place, id] of ids.entries()) {
      await rig.settle();
      expect(rig.calls.map(({ intent }) => intent.operationId)).toEqual(ids.slice(0, place + 1));
      expect((await rig.journal.find(id))?.state).toBe("dispatched");
      rig.calls[place]?.commit();
    }
    expect((await Promise.all(dispatching)).map(({ disposition }) => disposition)).toEqual(Array(4).fill("executed"));
  });

  it("ACT-4: actions on other keys, generations and timelines overlap", async () => {
    const rig = makeRig();
    const intents = [
      intentOf("a", ON_KEY),
      intentOf("b", { conflictKeys: ["other"] }),
      intentOf("c", { ...ON_KEY, generationId: "second" }),
      intentOf("d", { ...ON_KEY, moment: { timelineId: "side", tick: 1 } }),
      intentOf("e"),
    ];
    const dispatching = intents.map((intent) => rig.dispatcher.dispatch(intent));
    await rig.settle();
    expect(rig.calls).toHaveLength(5);
    for (const call of rig.calls) call.commit();
    await Promise.all(dispatching);
  });

  it("ACT-4: crossed pairs of keys never deadlock", async () => {
    const rig = makeRig({ execute: (intent) => GameActionReceipt.committed(intent, null) });
    const pairs = [["x", "y"], ["y", "x"], ["y", "z"], ["z", "x"], ["x"], ["z", "y", "x"]];
    const dispatching = pairs.map((conflictKeys, place) =>
      rig.dispatcher.dispatch(intentOf(`${place}`, { conflictKeys })),
    );
    expect((await Promise.all(dispatching)).map(({ disposition }) => disposition)).toEqual(Array(6).fill("executed"));
  });

  it("ACT-3: a wait for a key ends by its time-out as conflictBlocked, the entry abandoned, nothing dispatched", async () => {
    const rig = makeRig({ options: { conflictWaitTimeoutMs: 50 } });
    const holding = rig.dispatcher.dispatch(intentOf("a", ON_KEY));
    const waiting = rig.dispatcher.dispatch(intentOf("b", ON_KEY));
    await rig.advance(49);
    expect((await rig.journal.find("b"))?.state).toBe("prepared");
    await rig.advance(1);
    expect(await waiting).toEqual({
      disposition: "conflictBlocked",
      timings: { totalMs: 50, hostMs: 0, frameworkMs: 50 },
    });
    expect(await rig.journal.find("b")).toMatchObject({ state: "abandoned" });
    rig.calls[0]?.commit();
    await holding;
    expect(rig.calls).toHaveLength(1);
  });

  it("ACT-3: an abandoned action can be dispatched again, under a higher fence", async () => {
    const rig = makeRig({ options: { conflictWaitTimeoutMs: 50 } });
    const holding = rig.dispatcher.dispatch(intentOf("a", ON_KEY));
    const waiting = rig.dispatcher.dispatch(intentOf("b", ON_KEY));
    await rig.advance(50);
    await waiting;
    rig.calls[0]?.commit();
    await holding;
    const again = rig.dispatcher.dispatch(intentOf("b", { conflictKeys: ["another"], expectedRevision: 3 }));
    await rig.settle();
    // The stored keys and revision stand (ACT-7).
    expect(rig.calls[1]?.intent).toEqual(intentOf("b", ON_KEY));
    expect(rig.calls[1]?.context.fence).toBe(2);
    rig.calls[1]?.commit();
    expect((await again).disposition).toBe("executed");
  });

  it("ACT-3: cancellation ends the wait as cancelled, the entry abandoned", async () => {
    const rig = makeRig();
    const { signal, abort } = trackedSignal();
    const holding = rig.dispatcher.dispatch(intentOf("a", ON_KEY));
    const waiting = rig.dispatcher.dispatch(intentOf("b", ON_KEY), { signal });
    await rig.settle();
    abort();
    expect((await waiting).disposition).toBe("cancelled");
    expect((await rig.journal.find("b"))?.state).toBe("abandoned");
    rig.calls[0]?.commit();
    await holding;
  });

  it("ACT-4: one who leaves the line lets the next one run", async () => {
    const rig = makeRig();
    const { signal, abort } = trackedSignal();
    const first = rig.dispatcher.dispatch(intentOf("a", { conflictKeys: ["x"] }));
    const both = rig.dispatcher.dispatch(intentOf("b", { conflictKeys: ["x", "y"] }), { signal });
    const last = rig.dispatcher.dispatch(intentOf("c", { conflictKeys: ["y"] }));
    await rig.settle();
    expect(rig.calls).toHaveLength(1);
    abort();
    await both;
    await rig.settle();
    expect(rig.calls.map(({ intent }) => intent.operationId)).toEqual(["a", "c"]);
    for (const call of rig.calls) call.commit();
    await Promise.all([first, last]);
  });

  it("ACT-4: an uncertain holder blocks its key, for others and for ever, until it is resolved", async () => {
    const rig = makeRig({ options: { conflictWaitTimeoutMs: 50 } });
    const holding = rig.dispatcher.dispatch(intentOf("a", ON_KEY));
    await rig.settle();
    rig.calls[0]?.fail(new Error("lost"));
    await holding;
    const blocked = rig.dispatcher.dispatch(intentOf("b", ON_KEY));
    await rig.advance(50);
    expect((await blocked).disposition).toBe("conflictBlocked");
    const waiting = rig.dispatcher.dispatch(intentOf("b", ON_KEY));
    await rig.settle();
    await rig.dispatcher.resolve("a", { status: "failed", evidence: "nothing there" });
    await rig.settle();
    rig.calls[1]?.commit();
    expect((await waiting).disposition).toBe("executed");
  });

  it("ACT-2: a person abandons what waits, and the waiting dispatch ends as cancelled", async () => {
    const rig = makeRig();
    const holding = rig.dispatcher.dispatch(intentOf("a", ON_KEY));
    const waiting = rig.dispatcher.dispatch(intentOf("b", ON_KEY));
    const behind = rig.dispatcher.dispatch(intentOf("c", ON_KEY));
    await rig.settle();
    expect(await rig.dispatcher.abandon("a")).toBe(false);
    expect(await rig.dispatcher.abandon("unknown")).toBe(false);
    expect(await rig.dispatcher.abandon("b")).toBe(true);
    expect((await waiting).disposition).toBe("cancelled");
    rig.calls[0]?.commit();
    await rig.settle();
    rig.calls[1]?.commit();
    await Promise.all([holding, behind]);
    expect(rig.calls.map(({ intent }) => intent.operationId)).toEqual(["a", "c"]);
  });

  it("ACT-3: a claim that turns out to have been won after the cancellation is closed as not dispatched", async () => {
    const held = gate();
    const rig = makeRig({
      journal: (journal) =>
        withProtocol(journal, (protocol) => ({
          claim: async (request) => {
            const answer = await protocol.claim(request);
            await held.opened;
            return answer;
          },
        })),
    });
    const { signal, abort } = trackedSignal();
    const dispatching = rig.dispatcher.dispatch(intentOf("a", ON_KEY), { signal });
    await rig.settle();
    abort();
    held.open();
    expect((await dispatching).disposition).toBe("cancelled");
    expect(await rig.journal.find("a")).toMatchObject({ state: "failed", receipt: { code: "not_dispatched" } });
    expect(rig.calls).toHaveLength(0);
  });

  it("ACT-3: a process whose lease ran out between claim and dispatch does not call the handler", async () => {
    const rig = makeRig({ journal: (journal) => withProtocol(journal, () => ({ holdsLease: () => false })) });
    expect((await rig.dispatcher.dispatch(intentOf("a"))).disposition).toBe("conflictBlocked");
    expect(await rig.journal.find("a")).toMatchObject({ state: "failed", receipt: { code: "not_dispatched" } });
    expect(rig.calls).toHaveLength(0);
  });

  it("ACT-11: a claim that the journal could not answer throws, and what it won all the same is closed later", async () => {
    let isDown = true;
    const down = new KernelError("JOURNAL_UNAVAILABLE", "down");
    const rig = makeRig({
      journal: (journal) =>
        withProtocol(journal, (protocol) => ({
          claim: async (request) => {
            const answer = await protocol.claim(request);
            if (isDown) throw down;
            return answer;
          },
          withdraw: async (request) => {
            if (isDown) throw down;
            return protocol.withdraw(request);
          },
        })),
    });
    await expect(rig.dispatcher.dispatch(intentOf("a", ON_KEY))).rejects.toBe(down);
    expect((await rig.journal.find("a"))?.state).toBe("dispatched");
    isDown = false;
    await rig.advance(1_000);
    expect(await rig.journal.find("a")).toMatchObject({ state: "failed", receipt: { code: "not_dispatched" } });
    expect(rig.calls).toHaveLength(0);
  });

  it("ACT-3, ACT-11: who stands in line outlives a journal that is away for a while, and leaves nothing behind", async () => {
    let isDown = false;
    const down = new KernelError("JOURNAL_UNAVAILABLE", "down");
    const rig = makeRig({
      options: { conflictWaitTimeoutMs: 5_000 },
      journal: (journal) =>
        withProtocol(journal, (protocol) => ({
          claim: async (request) => {
            if (isDown) throw down;
            return protocol.claim(request);
          },
          withdraw: async (request) => {
            if (isDown) throw down;
            return protocol.withdraw(request);
          },
          poll: { minMs: 10, maxMs: 100 },
        })),
    });
    const holding = rig.dispatcher.dispatch(intentOf("a", ON_KEY));
    const waiting = rig.dispatcher.dispatch(intentOf("b", ON_KEY));
    const leaving = rig.dispatcher.dispatch(intentOf("c", ON_KEY));
    await rig.settle();
    isDown = true;
    await rig.advance(1_000);
    isDown = false;
    rig.calls[0]?.commit();
    await rig.advance(200);
    expect(rig.calls.map(({ intent }) => intent.operationId)).toEqual(["a", "b"]);
    isDown = true;
    await rig.advance(4_000);
    isDown = false;
    await rig.advance(2_000);
    expect((await leaving).disposition).toBe("conflictBlocked");
    expect((await rig.journal.find("c"))?.state).toBe("abandoned");
    rig.calls[1]?.commit();
    await Promise.all([holding, waiting]);
  });
});
