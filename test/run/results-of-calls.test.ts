import type { Outcome } from "toolkernel";
import { describe, expect, it } from "vitest";
import type { DurableCall, DurableOutcome } from "../../src/domain/action.ts";
import type { AnyTool } from "../../src/domain/tool.ts";
import { shapeResult } from "../../src/run/call/after-tool-call.ts";
import { resultOfDispatched } from "../../src/run/call/call-result.ts";
import { abandonDurable, actionFactsOf, identityOf } from "../../src/run/call/durable-call.ts";
import type { CallRun } from "../../src/run/call/run-call.ts";
import { preparationOf } from "../../src/run/store/restore-batch.ts";
import { UNCERTAIN_TEXT } from "../../src/settle/kernel-texts.ts";

const LIMITS = { maxResultCharacters: 1_000 };

/** As much of a call as the piece looks at. */
function callLike(facts: object): CallRun {
  return facts as unknown as CallRun;
}

/** A call whose chart finishes in a state, after its signal was fired for a cause. */
function finishing(state: string, stopCause: "timeout" | "cancelled" | undefined, more: object = {}): CallRun {
  const cancellation = AbortSignal.abort("the host's words");
  return callLike({
    actor: { getSnapshot: () => ({ value: { finishing: state }, context: { stopCause } }) },
    owner: { cancellation, core: { settings: { limits: LIMITS } } },
    ...more,
  });
}

function failure(text: string, failureCategory: string): object {
  return {
    content: [{ type: "text", text }],
    isError: true,
    failureCategory,
    outcomeUncertain: false,
    terminate: false,
  };
}

describe("what a dispatched call came to", () => {
  it("UNC-8: a host's reason is told of a write that was cancelled, and of no other", () => {
    const partsOf = (stopCause: "timeout" | "cancelled") => {
      const { content, failureCategory, outcomeUncertain } = resultOfDispatched(finishing("uncertain", stopCause));
      return { texts: content.map((part) => ("text" in part ? part.text : part)), failureCategory, outcomeUncertain };
    };
    expect(partsOf("cancelled")).toEqual({
      texts: [expect.stringContaining("the host's words"), UNCERTAIN_TEXT],
      failureCategory: "cancelled",
      outcomeUncertain: true,
    });
    expect(partsOf("timeout")).toEqual({ texts: [UNCERTAIN_TEXT], failureCategory: "timeout", outcomeUncertain: true });
  });

  it("CAN-2: one that did not answer in its time is told so, one that threw by what it threw", () => {
    const threw = { execution: { thrown: { error: new Error("broken") } } };
    expect(resultOfDispatched(finishing("failed", "timeout"))).toEqual(
      failure("The call did not answer within its time-out.", "timeout"),
    );
    expect(resultOfDispatched(finishing("failed", "timeout", threw))).toEqual(failure("broken", "timeout"));
    expect(resultOfDispatched(finishing("failed", undefined, threw))).toEqual(failure("broken", "unspecified"));
    const { content, failureCategory } = resultOfDispatched(finishing("failed", undefined));
    expect({ content, failureCategory }).toEqual({
      content: [{ type: "text", text: expect.not.stringContaining("time-out") }],
      failureCategory: "unspecified",
    });
  });
});

describe("what a call's durable action tells", () => {
  it.each([
    ["executed", false, false],
    ["replayed", true, false],
    ["recovered", true, true],
  ] as const)("OBS-4: %s, and whether a second execution was prevented", (disposition, isPrevented, recovered) => {
    const timings = { hostMs: 3, frameworkMs: 4 };
    const durable = { disposition, timings } as unknown as DurableOutcome;
    expect(actionFactsOf(callLike({ execution: { durable } }))).toEqual({
      disposition,
      duplicateExecutionPrevented: isPrevented,
      recovered,
      ...timings,
    });
  });

  it("ACT-8: only a durable tool gives an operation id of its own", () => {
    const owner = { turn: 1, core: { host: undefined, settings: { runId: "run" } } };
    const bound: unknown[] = [];
    const identity = { operationId: "its own", input: {} };
    const durable = { bindRun: (runId: string) => bound.push(runId), identify: () => identity };
    const known = { operationId: "the kernel's", owner, callIndex: 0, conflictKeys: [] };
    expect([
      identityOf(callLike(known)),
      identityOf(callLike({ ...known, prepared: { tool: {} } })),
      identityOf(callLike({ ...known, prepared: { tool: { durable }, arguments: {} } })),
    ]).toEqual([undefined, undefined, identity]);
    expect(bound).toEqual(["run"]);
  });

  it("CAN-2: who gives up on it says which call it was, with its arguments", () => {
    const given: DurableCall[] = [];
    const durable = { abandon: (call: DurableCall) => given.push(call) };
    const identity = { operationId: "its own", input: {} };
    abandonDurable(
      callLike({
        prepared: { tool: { durable }, arguments: { path: "a" } },
        execution: { hasEnded: false },
        owner: { turn: 2, core: { host: "host", settings: { runId: "run" } } },
        callIndex: 1,
        conflictKeys: ["k"],
        identity,
      }),
    );
    expect(given).toEqual([
      { callIndex: 1, turn: 2, arguments: { path: "a" }, host: "host", runId: "run", conflictKeys: ["k"], identity },
    ]);
  });
});

describe("what a hook makes of a durable call's result", () => {
  const RESULT = {
    content: [{ type: "text", text: "canonical" }],
    isError: false,
    outcomeUncertain: false,
    terminate: false,
  } as const;

  function shapedWith(projector: () => unknown): unknown {
    const durable = { projector };
    const afterToolCall = () => ({ content: [{ type: "text", text: "the hook's" }], isError: false });
    const call = callLike({
      prepared: { tool: { durable } as unknown as AnyTool, arguments: {} },
      execution: { durable: { intent: {}, receipt: { status: "completed" } } },
      state: { finishing: "succeeded" satisfies Outcome },
      owner: {
        turn: 1,
        cancellation: new AbortController().signal,
        core: { settings: { hooks: { afterToolCall }, limits: LIMITS, runId: "run" } },
      },
    });
    return shapeResult(call, RESULT);
  }

  it("PROJ-4: a projection that failed stays as it is; one that did not is the hook's to change", () => {
    const failing = shapedWith(() => {
      throw new Error("hidden");
    });
    expect(failing).toEqual({
      content: [{ type: "json", value: { status: "projection_failed" } }],
      isError: true,
      failureCategory: "internal",
      outcomeUncertain: false,
      terminate: true,
    });
    expect(shapedWith(() => ({ seen: true }))).toEqual({ ...RESULT, content: [{ type: "text", text: "the hook's" }] });
  });
});

describe("what a store keeps of a call", () => {
  it("RUN-6: one that was neither prepared nor refused is kept as not executed, and ends nothing", () => {
    expect(preparationOf(callLike({ callIndex: 3 }), undefined)).toEqual({
      kind: "refused",
      index: 3,
      failureCategory: "internal",
      reason: "not_executed",
      terminate: false,
      repairs: [],
    });
  });
});
