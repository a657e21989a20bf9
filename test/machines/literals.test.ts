import { actionMachine, batchMachine, epochMachine, runMachine, toolCallMachine } from "toolkernel/machines";
import { describe, expect, it } from "vitest";
import { type AnyStateMachine, initialTransition } from "xstate";

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
});
