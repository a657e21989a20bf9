import {
  GameActionDispatcher,
  GameActionReceipt,
  GameActionTool,
  type Journal,
  type JournalProtocol,
  memoryJournal,
} from "toolkernel";
import { describe, expect, it } from "vitest";
import { openBench } from "../support/execution-bench.ts";
import { call } from "../support/run-calls.ts";
import { trackedClock, trackedSignal } from "../support/tracked.ts";

const INPUT = { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "t", tick: 1 } };

/** A session with one durable tool, whose time-out is 500 ms and whose grace is 100 ms. */
function openActions({ more = {}, watch = (journal: Journal) => journal }) {
  const simulated = trackedClock();
  const { clock } = simulated;
  const handled: string[] = [];
  const journal = watch(memoryJournal({ clock }));
  const dispatcher = new GameActionDispatcher({
    journal,
    clock,
    handler: {
      execute: async (intent) => {
        handled.push(intent.operationId);
        return GameActionReceipt.committed(intent, null);
      },
    },
  });
  const tool = GameActionTool.create({
    input: INPUT,
    name: "build",
    description: "Builds.",
    inputSchema: { type: "object" },
    dispatcher,
    timeoutMs: 500,
    conflictKey: () => "plot",
    ...more,
  });
  return { bench: openBench({ tools: [tool], simulated, limits: { cancellationGraceMs: 100 } }), handled, journal };
}

/** A promise, and the hands that end it. */
function later<Value>() {
  let resolve: (value: Value) => void = never;
  let reject: (error: Error) => void = never;
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

const never = () => new Promise<never>(() => undefined);

/** A journal that answers each claim only when it is let. */
function slowJournal(letGo: Promise<void>): (journal: Journal) => Journal {
  return (journal) => {
    const protocol: JournalProtocol = new Proxy(journal.protocol, {
      get: (of, name) =>
        name === "claim"
          ? async (request: never) => {
              await letGo;
              return of.claim(request);
            }
          : boundTo(of, name as keyof JournalProtocol),
    });
    return new Proxy(journal, {
      get: (of, name) => (name === "protocol" ? protocol : boundTo(of, name as keyof Journal)),
    });
  };
}

function boundTo<Of extends object>(of: Of, name: keyof Of): unknown {
  const member: unknown = of[name];
  return typeof member === "function" ? member.bind(of) : member;
}

describe("a durable call that is told to stop before anything is dispatched", () => {
  it("CAN-3, ACT-3: gives the time-out as its reason when its time-out told it", async () => {
    const { bench, handled } = openActions({ more: { expectedRevision: never } });
    const running = await bench.start([call("build", {}, "a")]);
    await bench.advance(500);
    const [settled] = (await running.result).settled;
    expect([settled?.outcome, settled?.result]).toEqual([
      "failed",
      {
        content: [{ type: "text", text: "not_executed: the time-out passed before dispatch. Nothing happened." }],
        details: expect.objectContaining({ status: "timeout", dispatch: "cancelled" }),
        isError: true,
        failureCategory: "timeout",
        outcomeUncertain: false,
        terminate: false,
      },
    ]);
    expect(handled).toEqual([]);
  });

  it("CAN-1, ACT-3: gives the cancellation as its reason, even one whose own reason is a time-out", async () => {
    const { bench } = openActions({ more: { expectedRevision: never } });
    const stop = trackedSignal();
    const running = await bench.start([call("build", {}, "a")], { signal: stop.signal });
    stop.abort(new DOMException("The host's time is over.", "TimeoutError"));
    const [settled] = (await running.result).settled;
    expect([settled?.outcome, settled?.result.failureCategory, settled?.result.details]).toEqual([
      "failed",
      "cancelled",
      expect.objectContaining({ status: "cancelled", dispatch: "cancelled" }),
    ]);
  });

  it("CAN-3, PROJ-6: shows the same as a status where the host projects", async () => {
    const { bench } = openActions({ more: { expectedRevision: never, modelReceiptProjector: () => ({}) } });
    const running = await bench.start([call("build", {}, "a")]);
    await bench.advance(500);
    const [settled] = (await running.result).settled;
    expect(settled?.result.content).toEqual([{ type: "json", value: { status: "timeout" } }]);
  });

  it("CAN-3, ACT-3: gives the time-out as its reason when a journal answers the claim too late", async () => {
    const { promise, resolve } = later<void>();
    const { bench, handled, journal } = openActions({ watch: slowJournal(promise) });
    const running = await bench.start([call("build", {}, "a")]);
    await bench.advance(550);
    resolve();
    await bench.advance();
    const [settled] = (await running.result).settled;
    expect([settled?.outcome, settled?.result.failureCategory, handled]).toEqual(["failed", "timeout", []]);
    const entry = await journal.find(String(settled?.operationId));
    expect([entry?.state, entry?.receipt]).toMatchObject(["failed", { code: "not_dispatched" }]);
  });

  it("ACT-3: waits for a key no longer than what its revision has left of its time-out, less the grace", async () => {
    const { bench, journal } = openActions({
      more: {
        input: ({ callIndex }: { readonly callIndex: number }) => ({ ...INPUT, inputId: `i${callIndex}` }),
        expectedRevision: () =>
          new Promise((resolve) => bench.clock.setTimer(bench.clock.now() + 300, () => resolve(undefined))),
      },
    });
    const holder = { ...INPUT, operationId: "holder", action: "build", arguments: {}, conflictKeys: ["plot"] };
    const held = later<never>();
    const other = new GameActionDispatcher({
      journal: journal,
      clock: bench.clock,
      handler: { execute: () => held.promise },
    });
    const holding = other.dispatch(holder);
    const running = await bench.start([call("build", {}, "a")]);
    await bench.advance(400);
    const [settled] = (await running.result).settled;
    expect([settled?.outcome, settled?.result.failureCategory]).toEqual(["failed", "conflict"]);
    held.reject(new Error("over"));
    await holding;
  });
});
