import { type AgentOptions, KernelError, memoryRunStore, type RunFact, toolResult } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { type AgentBenchOptions, ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { factsIn, leaveRun } from "../support/left-run.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { recordingTool } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

const withoutFigures = <Result extends object>({
  performance: _performance,
  ...rest
}: Result & { performance?: unknown }) => rest;

/** What is left of an error in a store. */
const asStored = (error: Error | undefined) =>
  error === undefined
    ? undefined
    : { name: error.name, message: error.message, code: (error as { code?: string }).code };

/** A store whose appends of a kind wait until they are released. */
function holdAppends(inner: MortalStore, isHeld: (given: { readonly facts: readonly RunFact[] }) => boolean) {
  const waiting: (() => void)[] = [];
  const store = Object.assign(Object.create(inner) as MortalStore, {
    claim: async (...given: Parameters<MortalStore["claim"]>) => {
      const claim = await inner.claim(...given);
      const append: typeof claim.append = async (facts, progress) => {
        if (isHeld({ facts })) await new Promise<void>((resolve) => waiting.push(resolve));
        await claim.append(facts, progress);
      };
      return { runId: claim.runId, facts: claim.facts, append, release: () => claim.release() };
    },
  });
  const release = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { store, release };
}

describe("a run that has ended", () => {
  const cases: readonly (readonly [string, AgentBenchOptions & { readonly before?: (abort: () => void) => void }])[] = [
    ["completed by noCalls", { script: [ask(callPart("read", "a")), say("done")] }],
    [
      "completed by allTerminate",
      {
        tools: [{ ...recordingTool().tool, execute: () => toolResult({ value: 1, terminate: true }) }],
        script: [ask("read")],
      },
    ],
    ["stopped by shouldStop", { script: [ask("read")], hooks: { shouldStopAfterTurn: () => true } }],
    [
      "stopped by exactToolRepeat",
      {
        script: [ask(callPart("read", "a"), callPart("read", "b"))],
        limits: { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 2 },
      },
    ],
    ["limitExceeded by maxTurns", { script: [ask("read")], limits: { maxTurns: 1 } }],
    [
      "limitExceeded by maxToolCalls",
      { script: [ask(callPart("read", "a"), callPart("read", "b"))], limits: { maxToolCalls: 1 } },
    ],
    ["providerError by modelError", { script: [] }],
    ["providerError by modelError", { script: [{ ...say("half"), stopReason: "error", errorMessage: "overloaded" }] }],
    ["providerError by invalidResponse", { script: [{ content: [], stopReason: "tired" } as never] }],
    [
      "kernelError",
      {
        script: [ask("read")],
        hooks: {
          shouldStopAfterTurn: () => {
            throw new Error("the hook failed");
          },
        },
      },
    ],
  ];

  it.each(cases)("RUN-6: %s, gives its stored result again, in any process, and calls nobody", async (end, options) => {
    const runStore = memoryRunStore();
    const first = openAgentBench({ ...options, runStore });
    const { result } = await first.play();
    expect(endOf({ result })).toBe(end);
    leaveChartsOpen(); // nothing is left to begin
    const second = openAgentBench({ runStore, hooks: {} });
    const again = await second.resume("run").finish();
    const { error, ...rest } = withoutFigures(again.result);
    const { error: known, ...wanted } = withoutFigures(result);
    expect(rest).toEqual(wanted);
    expect(asStored(error)).toEqual(asStored(known));
    expect([second.requests, again.events]).toEqual([[], []]);
    expect(findTranscriptFaults(rest.messages)).toEqual([]);
    // And it is not open any more.
    expect((await runStore.listOpen({ limit: 9 })).runs).toEqual([]);
  });

  it("RUN-6, CAN-1: aborted, gives its result again, with its reason as far as it is JSON", async () => {
    for (const [reason, stored] of [
      ["enough", "enough"],
      [{ by: "user" }, { by: "user" }],
      [new Error("the host stops"), "the host stops"],
      [undefined, undefined],
      [1n, null],
    ] as const) {
      const slow = controllableTool({ name: "slow", risk: "readOnly" });
      const runStore = memoryRunStore();
      const first = openAgentBench({ tools: [slow], script: [ask("slow")], runStore });
      const { run } = first.start();
      await first.advance();
      run.abort(reason);
      slow.pending[0]?.resolve("ok");
      await first.advance();
      const result = await run.result;
      leaveChartsOpen();
      const again = (await openAgentBench({ runStore }).resume("run").finish()).result;
      expect({ ...withoutFigures(again), abortReason: 0 }).toEqual({ ...withoutFigures(result), abortReason: 0 });
      expect(again.abortReason).toEqual(stored);
    }
  });

  it.each(["a text", "a call"])(
    "CAN-1, RUN-6: aborted while a response with %s was being recorded, is without that response, then and later",
    async (what) => {
      const store = new MortalStore();
      const slowly = holdAppends(store, ({ facts }) => facts.some(({ kind }) => kind === "response"));
      const bench = openAgentBench({
        script: [what === "a text" ? say("too late") : ask("read")],
        runStore: slowly.store,
      });
      const { run } = bench.start();
      await bench.advance();
      run.abort("enough");
      await bench.advance();
      slowly.release();
      const result = await run.result;
      expect([endOf({ result }), linesOf(result.messages)]).toEqual(["aborted by abort", ["user go"]]);
      leaveChartsOpen();
      const again = await openAgentBench({ runStore: store.successor() }).resume("run").finish();
      expect(withoutFigures(again.result)).toEqual(withoutFigures(result));
    },
  );

  it("RUN-6: its id is taken", async () => {
    const runStore = memoryRunStore();
    const bench = openAgentBench({ script: [say(), say()], runStore });
    await bench.play();
    leaveChartsOpen();
    const { result } = await bench.play();
    expect([result.status, result.error]).toEqual([
      "kernelError",
      expect.objectContaining({ code: "INVALID_OPTIONS", subject: "runId" }),
    ]);
    expect((await factsIn(runStore)).filter(({ kind }) => kind === "begun")).toHaveLength(1);
  });
});

describe("a run that cannot be resumed", () => {
  const misuse = async (options: Partial<AgentOptions>, runId = "run") => {
    leaveChartsOpen(); // it has not begun
    const { result, events } = await openAgentBench(options).resume(runId).finish();
    expect(events.map(({ kind }) => kind)).toEqual(["runFaulted", "runEnded"]);
    return result.error instanceof KernelError
      ? `${result.status} ${result.error.code} ${result.error.subject}`
      : result.status;
  };

  it("RUN-6: since the store has none of that id", async () => {
    expect(await misuse({ runStore: memoryRunStore() })).toBe("kernelError RUN_NOT_FOUND runId");
  });

  it("RUN-6: since nothing of it was recorded; it can then be begun anew", async () => {
    const runStore = memoryRunStore();
    await (await runStore.claim("run", { create: true })).release();
    expect(await misuse({ runStore })).toBe("kernelError RUN_NOT_FOUND runId");
    expect(endOf(await openAgentBench({ script: [say()], runStore }).play())).toBe("completed by noCalls");
  });

  it("C28, RUN-6: since somebody holds it: one resume wins, every other is told RUN_CLAIMED and calls nobody", async () => {
    const { tool, runs } = recordingTool();
    const runStore = await leaveRun([{ name: "read" }], { isAgents: true });
    leaveChartsOpen(); // those who lose do not begin
    const benches = Array.from({ length: 5 }, () => openAgentBench({ tools: [tool], script: [say()], runStore }));
    const played = await Promise.all(benches.map((bench) => bench.resume("run").finish()));
    expect(played.map(({ result }) => (result.error as { code?: string } | undefined)?.code).sort()).toEqual([
      ...["RUN_CLAIMED", "RUN_CLAIMED", "RUN_CLAIMED", "RUN_CLAIMED"],
      undefined,
    ]);
    expect([runs.length, benches.map(({ requests }) => requests.length).sort()]).toEqual([1, [0, 0, 0, 0, 1]]);
  });

  it("RUN-6: twice at once by one Agent, is RUN_CLAIMED for the second", async () => {
    const runStore = await leaveRun([{ name: "read" }], { isAgents: true });
    leaveChartsOpen();
    const bench = openAgentBench({ script: [say()], runStore });
    const [first, second] = [bench.resume("run"), bench.resume("run")];
    expect([endOf(await first.finish()), (await second.finish()).result.error]).toEqual([
      "completed by noCalls",
      expect.objectContaining({ code: "RUN_CLAIMED" }),
    ]);
  });

  it("RUN-6: since it is a session's, whose host has its loop", async () => {
    expect(await misuse({ runStore: await leaveRun([{ name: "read" }]) })).toBe("kernelError INVALID_OPTIONS runId");
  });
});
