import { actionMachine, batchMachine, epochMachine, runMachine, toolCallMachine } from "toolkernel/machines";
import { describe, expect, it } from "vitest";
import { type AnyStateMachine, initialTransition, transition } from "xstate";

/** Every state by its path, with what the interpreter and drawings read of it beside its edges. */
function statesOf(machine: AnyStateMachine): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (node: AnyStateMachine["root"]): void => {
    for (const state of Object.values(node.states)) {
      found[state.path.join(".")] = [state.type, ...state.tags].join(" ");
      visit(state);
    }
  };
  visit(machine.root);
  return found;
}

describe("a chart", () => {
  it("ACT-2: of an action tells what is open and what has ended", () => {
    expect([actionMachine.id, initialTransition(actionMachine)[0].value]).toEqual(["action", "new"]);
    expect(statesOf(actionMachine)).toEqual({
      new: "atomic",
      prepared: "atomic open",
      abandoned: "atomic",
      dispatched: "atomic open",
      uncertain: "atomic open",
      committed: "final ended",
      rejected: "final ended",
      failed: "final ended",
    });
  });

  it("RUN-1, EPOCH-2, PREP-1: begins with what it is given, and nothing has happened to it", () => {
    const begin = (machine: AnyStateMachine, input: object): unknown => {
      const [{ value, context }] = initialTransition(machine, input);
      return [machine.id, value, context];
    };
    expect(begin(runMachine, { runId: "r" })).toStrictEqual(["run", "starting", { runId: "r", endedBy: undefined }]);
    expect(begin(batchMachine, { turn: 2, calls: 3 })).toStrictEqual([
      "batch",
      "preparing",
      { turn: 2, calls: 3, undecided: 0, epochs: 0, epoch: 0 },
    ]);
    expect(begin(epochMachine, { epoch: 1, calls: 3 })).toStrictEqual([
      "epoch",
      "waiting",
      { epoch: 1, calls: 3, open: 3 },
    ]);
    const facts = { callId: "c", isWrite: true, throwIsUncertain: false, canRecover: true, isRecorded: false };
    const untouched = { isRewritten: false, stopCause: undefined, isRunCancelled: false, hasExecutorEnded: false };
    for (const [given, wasDispatched] of [
      [{}, false],
      [{ wasDispatched: false }, false],
      [{ wasDispatched: true }, true],
    ] as const) {
      expect(begin(toolCallMachine, { ...facts, ...given })).toStrictEqual([
        "toolCall",
        { preparing: "lookup" },
        { ...facts, ...untouched, wasDispatched },
      ]);
    }
  });

  it.each([
    [
      "run",
      runMachine,
      ["completed", "stopped", "aborted", "limitExceeded", "providerError", "kernelError", "awaitingApproval"],
    ],
    ["batch", batchMachine, ["settled", "refused", "cancelled"]],
    ["epoch", epochMachine, ["settled"]],
  ] as const)("EPOCH-6: of a %s ends in its last states alone", (_name, machine, ends) => {
    const states = Object.entries(statesOf(machine as unknown as AnyStateMachine));
    expect(states.filter(([, kind]) => kind === "final").map(([name]) => name)).toEqual(ends);
    expect(new Set(states.map(([, kind]) => kind))).toEqual(new Set(["atomic", "final"]));
  });

  it.each([
    ["run", runMachine],
    ["batch", batchMachine],
    ["epoch", epochMachine],
    ["call", toolCallMachine],
  ])("EPOCH-6: of a %s says so in each of its last states", (_name, machine) => {
    const last = Object.values((machine as unknown as AnyStateMachine).root.states).filter(
      ({ type }) => type === "final",
    );
    expect(last.map(({ entry }) => entry)).toEqual(last.map(() => ["announceSettled"]));
  });

  it("APP-1: of a batch keeps how many questions are open, down to none", () => {
    let [snapshot] = initialTransition(batchMachine, { turn: 1, calls: 3 });
    const seen: unknown[] = [];
    for (const [type, undecided] of [
      ["PREPARED", 2],
      ["DECIDED", 1],
      ["DECIDED", 0],
    ] as const) {
      [snapshot] = transition(batchMachine, snapshot, { type, undecided });
      seen.push([snapshot.value, snapshot.context.undecided]);
    }
    expect(seen).toEqual([
      ["awaitingApproval", 2],
      ["awaitingApproval", 1],
      ["checkingRepeats", 0],
    ]);
  });

  it("CAN-1, RUN-6: of a call tells what may still start, what is in flight and what has settled", () => {
    const tagged = (tag: string): string[] =>
      Object.entries(statesOf(toolCallMachine as unknown as AnyStateMachine))
        .filter(([, kind]) => kind.split(" ").includes(tag))
        .map(([name]) => name);
    expect(tagged("mayStillStart")).toEqual(["authorized", "barrierWaiting", "laneWaiting", "recording"]);
    expect(tagged("inFlight")).toEqual(["running", "stopping", "recovering", "stoppingRecovery", "finishing"]);
    const ends = ["succeeded", "failed", "refused", "blocked", "cancelled", "uncertain", "repeatTerminated"];
    expect([tagged("settled"), tagged("final")]).toEqual([ends, ends]);
  });
});

describe("a call", () => {
  const PREPARED = ["FOUND", "SHAPED", "VALID", "KEPT", "REFINED", "KEYED"] as const;
  const AUTHORIZED = [...PREPARED, "ALLOWED"] as const;
  const PLANNED = [...AUTHORIZED, "PLANNED"] as const;
  const WAITING = [...PLANNED, "EPOCH_STARTED"] as const;
  const RUNNING = [...WAITING, "ADMITTED"] as const;
  const STOPPING = [...RUNNING, "TIMED_OUT"] as const;
  const plain = { callId: "c", isWrite: true, throwIsUncertain: true, canRecover: false, isRecorded: false };

  const led = (types: readonly string[], facts: object = {}): unknown => {
    let [snapshot] = initialTransition(toolCallMachine, { ...plain, ...facts });
    for (const type of types) [snapshot] = transition(toolCallMachine, snapshot, { type } as never);
    const { stopCause, isRunCancelled, hasExecutorEnded } = snapshot.context;
    return [snapshot.value, stopCause, isRunCancelled, hasExecutorEnded];
  };

  it.each<[state: string, path: readonly string[], facts?: object]>([
    ["preparing", []],
    ["awaitingApproval", [...PREPARED, "ASKED"]],
    ["authorized", AUTHORIZED],
    ["barrierWaiting", PLANNED],
    ["laneWaiting", WAITING],
    ["recording", RUNNING, { isRecorded: true }],
  ])("CAN-1: that is cancelled while %s keeps that in mind", (_state, path, facts) => {
    expect(led([...path, "CANCEL"], facts)).toEqual(["cancelled", "cancelled", true, false]);
  });

  it.each([
    ["authorized", AUTHORIZED],
    ["barrierWaiting", PLANNED],
    ["laneWaiting", WAITING],
  ])("RUN-6, CAN-1: that was dispatched before is uncertain when it is cancelled while %s", (_state, path) => {
    expect(led([...path, "CANCEL"], { wasDispatched: true })).toEqual([
      { finishing: "uncertain" },
      "cancelled",
      true,
      false,
    ]);
  });

  it.each(["LOST", "THREW"])("UNC-7: whose executor %s has ended, and is asked about where it can be", (type) => {
    const uncertain = { finishing: "uncertain" };
    const asked = { canRecover: true };
    expect(led([...RUNNING, type])).toEqual([uncertain, undefined, false, true]);
    expect(led([...RUNNING, type], asked)).toEqual(["recovering", undefined, false, true]);
    expect(led([...STOPPING, type])).toEqual([uncertain, "timeout", false, true]);
    expect(led([...STOPPING, type], asked)).toEqual(["recovering", "timeout", false, true]);
  });

  it("UNC-7: knows that its executor has ended while it is asked about, and first why it was stopped", () => {
    const asked = { canRecover: true };
    const recovering = [...STOPPING, "GRACE_OVER"];
    expect(led(recovering, asked)).toEqual(["recovering", "timeout", false, false]);
    expect(led([...recovering, "EXECUTOR_ENDED"], asked)).toEqual(["recovering", "timeout", false, true]);
    const stopped = [...recovering, "CANCEL"];
    expect(led(stopped, asked)).toEqual(["stoppingRecovery", "timeout", true, false]);
    expect(led([...stopped, "EXECUTOR_ENDED", "DISPROVED"], asked)).toEqual([
      { finishing: "failed" },
      "timeout",
      true,
      true,
    ]);
    expect(led([...stopped, "DISPROVED"], asked)).toEqual([{ finishing: "uncertain" }, "timeout", true, false]);
  });
});

describe("an epoch", () => {
  it.each([
    ["while it runs", []],
    ["while nothing more is started", ["HALT"]],
    ["while it is cancelled", ["CANCEL"]],
  ])("EPOCH-2: has no open call when its last one settles %s", (_when, events) => {
    let [snapshot] = initialTransition(epochMachine, { epoch: 0, calls: 2 });
    for (const type of ["START", "CALL_SETTLED", ...events])
      [snapshot] = transition(epochMachine, snapshot, { type } as never);
    expect(snapshot.context.open).toBe(1);
    [snapshot] = transition(epochMachine, snapshot, { type: "CALL_SETTLED" });
    expect([snapshot.value, snapshot.context.open]).toEqual(["settled", 0]);
  });
});
