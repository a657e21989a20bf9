import { describe, expect, it, vi } from "vitest";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { GameActionHandler, GameActionIntent } from "../../src/domain/action.ts";
import { type Gate, gate, intentOf, makeRig, uncertainRig } from "./rig.ts";

const found = (intent: GameActionIntent) => GameActionReceipt.committed(intent, { found: true });

describe("reconcile", () => {
  it("ACT-5: asks the handler under a raised fence and saves what it found", async () => {
    const recover = vi.fn((intent: GameActionIntent, _context: { readonly fence: number }) => found(intent));
    const rig = await uncertainRig(recover);
    expect(await rig.dispatcher.reconcile("a")).toEqual({ receipt: found(intentOf("a")), disposition: "recovered" });
    expect(recover.mock.calls.map(([intent, { fence }]) => [intent, fence])).toEqual([
      [intentOf("a", { conflictKeys: ["k"] }), 2],
    ]);
    expect((await rig.journal.find("a"))?.state).toBe("committed");
    expect(await rig.dispatcher.reconcile("a")).toEqual({ receipt: found(intentOf("a")), disposition: "replayed" });
    expect(recover).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["answers undefined", () => undefined],
    ["throws", () => Promise.reject(new Error("down"))],
    [
      "throws at once",
      () => {
        throw new Error("down");
      },
    ],
    ["answers nonsense", () => ({ status: "committed" }) as never],
    [
      "answers that it does not know",
      (intent: GameActionIntent) =>
        ({ ...GameActionReceipt.failed(intent, "x", "y"), status: "uncertain", result: null }) as const,
    ],
  ])("ACT-5: a handler that %s leaves it uncertain, and may be asked again", async (_name, answer) => {
    const answers = [answer as GameActionHandler["recover"], found];
    const rig = await uncertainRig((intent, context) => answers.shift()?.(intent, context));
    expect(await rig.dispatcher.reconcile("a")).toBeUndefined();
    expect((await rig.journal.find("a"))?.state).toBe("uncertain");
    expect((await rig.dispatcher.reconcile("a"))?.disposition).toBe("recovered");
  });

  it("ACT-5: a handler that hangs is given up on after 30 seconds, its signal fired", async () => {
    const signals: AbortSignal[] = [];
    const rig = await uncertainRig((_intent, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    });
    const reconciling = rig.dispatcher.reconcile("a");
    await rig.advance(29_999);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await rig.advance(1);
    expect(await reconciling).toBeUndefined();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it("ACT-5: two who reconcile at once ask one after the other, and the second gets the first's receipt", async () => {
    const answers: Gate[] = [];
    const rig = await uncertainRig(async (intent) => {
      const answer = gate();
      answers.push(answer);
      await answer.opened;
      return found(intent);
    });
    const both = [rig.dispatcher.reconcile("a"), rig.dispatcher.reconcile("a")];
    await rig.settle();
    expect(answers).toHaveLength(1);
    answers[0]?.open();
    expect((await Promise.all(both)).map((each) => each?.disposition)).toEqual(["recovered", "replayed"]);
    expect(answers).toHaveLength(1);
  });

  it("ACT-5: without recover nothing is asked and the fence stays", async () => {
    const rig = await uncertainRig();
    expect(await rig.dispatcher.reconcile("a")).toBeUndefined();
    expect(await rig.journal.find("a")).toMatchObject({ state: "uncertain", fence: 1 });
  });

  it("ACT-5: an operation under way is left alone, an unknown one is an error", async () => {
    const recover = vi.fn();
    const rig = makeRig({ recover });
    const dispatching = rig.dispatcher.dispatch(intentOf("a", { conflictKeys: ["k"] }));
    const waiting = rig.dispatcher.dispatch(intentOf("b", { conflictKeys: ["k"] }));
    await rig.settle();
    expect(await rig.dispatcher.reconcile("a")).toBeUndefined();
    expect(await rig.dispatcher.reconcile("b")).toBeUndefined();
    await expect(rig.dispatcher.reconcile("c")).rejects.toMatchObject({ code: "OPERATION_UNKNOWN" });
    expect(recover).not.toHaveBeenCalled();
    rig.calls[0]?.commit();
    await rig.settle();
    rig.calls[1]?.commit();
    await Promise.all([dispatching, waiting]);
  });

  it("ACT-5: dispatching an uncertain id asks once, and executes nothing", async () => {
    const recover = vi.fn<NonNullable<GameActionHandler["recover"]>>();
    recover.mockReturnValueOnce(undefined).mockImplementationOnce(found);
    const rig = await uncertainRig(recover);
    const intent = intentOf("a", { conflictKeys: ["k"] });
    const unknown = await rig.dispatcher.dispatch(intent);
    expect(unknown).toMatchObject({ disposition: "replayed", receipt: { status: "uncertain", code: "handler_threw" } });
    expect(recover).toHaveBeenCalledTimes(1);
    const known = await rig.dispatcher.dispatch(intent);
    expect(known).toMatchObject({ disposition: "recovered", receipt: { result: { found: true } } });
    expect([recover.mock.calls.length, rig.calls.length]).toEqual([2, 1]);
  });

  it("ACT-5: recover answering failed ends the operation; the id is not executed again", async () => {
    const rig = await uncertainRig((intent) => GameActionReceipt.failed(intent, "absent", "It is not there."));
    const intent = intentOf("a", { conflictKeys: ["k"] });
    expect((await rig.dispatcher.dispatch(intent)).disposition).toBe("recovered");
    expect(await rig.dispatcher.dispatch(intent)).toMatchObject({
      disposition: "replayed",
      receipt: { status: "failed" },
    });
    expect(rig.calls).toHaveLength(1);
  });

  it("UNC-7: bad news does not count while the handler is still at work here, good news does", async () => {
    const answers = [(intent: GameActionIntent) => GameActionReceipt.failed(intent, "absent", "Not there."), found];
    const rig = makeRig({ recover: (intent) => answers.shift()?.(intent) });
    const dispatching = rig.dispatcher.dispatchCall(intentOf("a"), {
      signal: new AbortController().signal,
      maxWaitMs: 0,
    });
    await rig.settle();
    await rig.dispatcher.abandonCall("a");
    await dispatching;
    expect(await rig.dispatcher.reconcile("a")).toBeUndefined();
    expect((await rig.journal.find("a"))?.state).toBe("uncertain");
    expect((await rig.dispatcher.reconcile("a"))?.receipt.status).toBe("committed");
    rig.calls[0]?.commit();
    await rig.settle();
  });

  it("CAN-1: a signal that fires while the handler is asked ends the question", async () => {
    const rig = await uncertainRig(() => new Promise(() => undefined));
    const controller = new AbortController();
    const reconciling = rig.dispatcher.reconcile("a", { signal: controller.signal });
    await rig.settle();
    controller.abort();
    expect(await reconciling).toBeUndefined();
    expect(await rig.dispatcher.reconcile("a", { signal: controller.signal })).toBeUndefined();
    expect(await rig.journal.find("a")).toMatchObject({ state: "uncertain", fence: 2 });
  });

  it("CAN-1: a signal that fires while the journal hands the entry over asks nothing, and lets the next one ask", async () => {
    const recover = vi.fn(found);
    const controller = new AbortController();
    const rig = await uncertainRig(recover, (protocol) => ({
      takeOver: async (request) => {
        const answer = await protocol.takeOver(request);
        controller.abort();
        return answer;
      },
    }));
    expect(await rig.dispatcher.reconcile("a", { signal: controller.signal })).toBeUndefined();
    expect(recover).not.toHaveBeenCalled();
    expect((await rig.dispatcher.reconcile("a"))?.disposition).toBe("recovered");
  });

  it("CAN-1: a signal that fires while another reconciler is at it ends the wait for them", async () => {
    const answer = gate();
    const rig = await uncertainRig(async (intent) => {
      await answer.opened;
      return found(intent);
    });
    const first = rig.dispatcher.reconcile("a");
    const controller = new AbortController();
    const second = rig.dispatcher.reconcile("a", { signal: controller.signal });
    await rig.settle();
    controller.abort();
    expect(await second).toBeUndefined();
    answer.open();
    expect((await first)?.disposition).toBe("recovered");
  });
});
