import { type RunFact, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import type { RunOutcome } from "../../src/domain/run.ts";
import type { AnyTool, ToolContext } from "../../src/domain/tool.ts";
import { callHook } from "../../src/run/bounded-hook.ts";
import { toolForAgain } from "../../src/run/call/run-again.ts";
import { Deadlines } from "../../src/run/deadlines.ts";
import type { RunLoop } from "../../src/run/loop/run-loop.ts";
import { noteGoingOn, recordEnd } from "../../src/run/store/run-records.ts";
import { withoutUnstorableData } from "../../src/run/store/storable.ts";
import { foldRun } from "../../src/run/store/stored-run.ts";
import { trackedClock } from "../support/tracked.ts";

describe("a hook that is bounded", () => {
  it("PREP-13: is over at once when it is cancelled and has no grace, or when its time is over", async () => {
    const simulated = trackedClock();
    const { clock } = simulated;
    const cancelling = new AbortController();
    const seen: AbortSignal[] = [];
    const hook = ({ signal }: { readonly signal: AbortSignal }): Promise<never> => {
      seen.push(signal);
      return new Promise(() => undefined);
    };
    const bounds = { clock, deadlines: new Deadlines(clock), timeoutMs: 50, graceMs: 0 };
    const cancelled = callHook(hook, {}, { ...bounds, cancellation: cancelling.signal });
    cancelling.abort("enough");
    expect(await cancelled).toEqual({ kind: "timedOut" });
    const late = callHook(hook, {}, { ...bounds, cancellation: new AbortController().signal });
    await simulated.advance(50);
    expect(await late).toEqual({ kind: "timedOut" });
    expect(seen.map(({ reason }) => reason?.name ?? reason)).toEqual(["enough", "TimeoutError"]);
  });
});

describe("a write that an earlier process has dispatched", () => {
  it.each([
    ["answers that it succeeded", toolResult({ content: "done" }), "known"],
    ["is certain that it failed", toolResult({ content: "no", isError: true, outcomeUncertain: false }), "known"],
    ["does not know", toolResult({ content: "who knows", outcomeUncertain: true }), "executed"],
    ["gives nonsense", 5, "executed"],
  ])(
    "UNC-7: is run again only where its tool does not tell what became of it: it %s (%#)",
    async (_what, known, came) => {
      const runs: unknown[] = [];
      const tool = {
        risk: "idempotentWrite",
        recover: () => known,
        execute: (prepared: unknown) => {
          runs.push(prepared);
          return "executed";
        },
      } as unknown as AnyTool;
      const answer = await toolForAgain(tool)?.execute({ a: 1 } as never, {} as ToolContext);
      expect(answer).toEqual(came === "known" ? known : came);
      expect(runs).toEqual(came === "known" ? [] : [{ a: 1 }]);
    },
  );
});

describe("what a run records of itself", () => {
  function runWith(recorder: object): RunLoop {
    return { core: { recorder }, turn: 3, queues: { unrecorded: new Set() } } as unknown as RunLoop;
  }

  it("RUN-6: that it goes on, with its turn", () => {
    const noted: unknown[] = [];
    noteGoingOn(runWith({ noteProgress: (progress: unknown) => noted.push(progress) }));
    expect(noted).toEqual([{ status: "running", turn: 3 }]);
  });

  it("CAN-5: an end that could not be recorded is told by its own error, unless there is an earlier one", async () => {
    const lost = new Error("the store is gone");
    const broken = { record: () => Promise.reject(lost), release: () => Promise.resolve() };
    const earlier = new Error("the kernel's own");
    const outcome = { runId: "run", messages: [], newMessages: [], undelivered: [], turns: 3 };
    const endOf = (more: object) => recordEnd(runWith(broken), { ...outcome, ...more } as unknown as RunOutcome);
    const ended = { ...outcome, status: "kernelError" };
    expect(await endOf({ status: "completed", endedBy: "modelError", error: earlier })).toEqual({
      ...ended,
      error: lost,
    });
    expect((await endOf({ status: "completed", error: earlier }))?.error).toBe(lost);
    expect((await endOf({ status: "kernelError", error: earlier }))?.error).toBe(earlier);
    expect((await endOf({ status: "kernelError" }))?.error).toBe(lost);
  });
});

describe("what a store can keep", () => {
  it("RUN-6: a part is kept as it is, but for opaque data that is not JSON", () => {
    const plain = { type: "text", text: "a" };
    const storable = { ...plain, providerData: { id: 1 } };
    expect(withoutUnstorableData(plain)).toBe(plain);
    expect(withoutUnstorableData(storable)).toBe(storable);
    expect(withoutUnstorableData({ ...plain, providerData: 1n })).toEqual(plain);
  });
});

describe("what the facts of a run add up to", () => {
  const responseOf = (turn: number): RunFact => ({
    kind: "response",
    turn,
    calls: [{ id: `c${turn}`, name: "read", arguments: "{}" }],
    hasDuplicateIds: false,
    stopReason: "toolUse",
    totalTokens: 0,
  });
  const plannedOf = (turn: number): RunFact => ({ kind: "planned", turn, epochs: [[0]] });
  const plansIn = (facts: readonly RunFact[]) =>
    foldRun(facts).history.map((batch) => batch && [batch.response.turn, batch.epochs]);

  it("RUN-6: a fact belongs to the response of its own turn, whatever has come since", () => {
    expect(plansIn([responseOf(1), responseOf(2), plannedOf(1)])).toEqual([
      [1, [[0]]],
      [2, undefined],
    ]);
    const evidence: RunFact = { kind: "evidence" } as RunFact;
    const ended: RunFact = { kind: "batchEnded", turn: 1, messages: [] } as RunFact;
    expect(plansIn([responseOf(1), ended, evidence, plannedOf(1)])).toEqual([[1, [[0]]], null]);
    expect(plansIn([responseOf(1), plannedOf(2)])).toEqual([[1, undefined]]);
  });
});
