import { KernelError, memoryRunStore } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { LIMITS, slowWrites } from "../support/can-5-scene.ts";
import { findCrashFaults, isCertain } from "../support/crash-judge.ts";
import { RICH_RUN } from "../support/crash-plans.ts";
import { playCrashes } from "../support/crash-run.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { eventsOf } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

const withoutFigures = ({ performance: _performance, ...rest }: Awaited<ReturnType<typeof playCrashes>>["final"]) =>
  rest;

describe("a store that cannot record a step", () => {
  it.each([1, 2, 3])(
    "CAN-5, C75: %i times, whichever step, is asked again for the record, and no call is made again",
    async (times) => {
      const whole = await playCrashes(RICH_RUN);
      for (let at = 0; at < (whole.processes[0]?.store.appends ?? 0); at++) {
        const run = await playCrashes(RICH_RUN, [{ kind: "rejects", at, times }]);
        expect([at, run.processes.length, withoutFigures(run.final)]).toEqual([at, 1, withoutFigures(whole.final)]);
        expect(run.world.deeds.filter(({ what }) => what === "begun")).toEqual(
          whole.world.deeds.filter(({ what }) => what === "begun"),
        );
        expect(findCrashFaults(run)).toEqual([]);
      }
    },
  );

  it("CAN-5, C75: for good, whichever step, ends the run with JOURNAL_UNAVAILABLE, and the run is resumable", async () => {
    const whole = await playCrashes(RICH_RUN);
    const appends = whole.processes[0]?.store.appends ?? 0;
    for (let at = 0; at < appends; at++) {
      const run = await playCrashes(RICH_RUN, [{ kind: "rejects", at, times: Number.POSITIVE_INFINITY }]);
      const lost = run.processes[0]?.results.at(-1);
      expect([at, run.processes.length, lost?.status]).toEqual([at, 2, "kernelError"]);
      expect(findTranscriptFaults(lost?.messages ?? [])).toEqual([]);
      // Whatever ran has its dispatch recorded, so nothing was dispatched once the store was gone.
      expect(findCrashFaults(run)).toEqual([]);
      if (isCertain(run)) expect([at, withoutFigures(run.final)]).toEqual([at, withoutFigures(whole.final)]);
    }
  });
});

describe("a run whose store is lost", () => {
  it("CAN-5: lets running calls end as they do, cancels the others before dispatch, and tells the host what is true", async () => {
    const { slow, last, calls, tools } = slowWrites();
    // Begin, response, preparation, plan and two dispatches are recorded; then nothing more.
    const store = new MortalStore({ kind: "rejects", at: 4, times: Number.POSITIVE_INFINITY });
    const bench = openAgentBench({ tools, script: [ask(...calls), say()], runStore: store, limits: LIMITS });
    const { run, events } = bench.start();
    await bench.advance();
    expect(slow.pending.map(({ callIndex }) => callIndex)).toEqual([0, 1]);
    slow.pending[0]?.resolve("did a");
    await bench.advance(600);
    // The end of `a` cannot be recorded, and `b` still runs.
    expect(eventsOf(events, "toolEnded").map(({ callId, outcome }) => `${callId} ${outcome}`)).toEqual([
      "a succeeded",
      "c cancelled",
    ]);
    slow.pending[0]?.resolve("did b");
    await bench.advance();
    const result = await run.result;
    expect(endOf({ result })).toBe("kernelError");
    expect(result.error).toMatchObject({ name: "KernelError", code: "JOURNAL_UNAVAILABLE", subject: "runStore" });
    expect(linesOf(result.messages)).toEqual([
      ...["user go", "assistant slow#a, slow#b, slow#c, last#d", "result a did", "result b did"],
      ...["error c not_executed: cancelled", "error d not_executed: cancelled"],
    ]);
    expect([last.runs, bench.requests.length, store.isClaimed]).toEqual([[], 1, false]);
    expect(eventsOf(events, "runFaulted").map(({ code }) => code)).toEqual(["JOURNAL_UNAVAILABLE"]);
  });

  it("CAN-5: gives what is known of a running call, not an invented failure, when it is resumed", async () => {
    const { slow, calls, tools } = slowWrites();
    const store = new MortalStore({ kind: "rejects", at: 4, times: Number.POSITIVE_INFINITY });
    const bench = openAgentBench({ tools, script: [ask(...calls)], runStore: store, limits: LIMITS });
    const { run } = bench.start();
    await bench.advance();
    for (const { resolve } of [...slow.pending]) resolve("done");
    await bench.advance(600);
    await run.result;
    const second = openAgentBench({ tools, script: [say()], runStore: store.successor(), limits: LIMITS });
    const { result } = await second.resume("run").finish();
    // `a` and `b` were dispatched and their ends are not recorded: nobody can know.
    expect(
      result.messages.flatMap((message) => (message.role === "toolResult" ? [message.outcomeUncertain] : [])),
    ).toEqual([true, true, false, false]);
    expect([endOf({ result }), linesOf(result.messages).slice(4)]).toEqual([
      "completed by noCalls",
      ["error c not_executed: the", "error d not_executed: the", "assistant done"],
    ]);
    expect(slow.pending).toEqual([]);
  });

  it.each([
    ["cannot be claimed", "JOURNAL_UNAVAILABLE"],
    ["has the run with somebody else", "RUN_CLAIMED"],
  ])("CAN-5: a run whose store %s does not begin: no request, no call", async (what, code) => {
    leaveChartsOpen(); // it has not begun
    const runStore = memoryRunStore();
    if (code === "RUN_CLAIMED") await runStore.claim("run", { create: true });
    else await runStore.close();
    const bench = openAgentBench({ script: [say()], runStore });
    const { result, events } = await bench.play();
    expect([what, endOf({ result }), bench.requests]).toEqual([what, "kernelError", []]);
    expect(result.error).toMatchObject({ code });
    expect(events.map(({ kind }) => kind)).toEqual(["runFaulted", "runEnded"]);
  });

  it.each([
    new Error("no space"),
    new KernelError("JOURNAL_FULL", "no space", { subject: "runs.db" }),
    new KernelError("JOURNAL_CORRUPT", "no space"),
    new KernelError("JOURNAL_UNAVAILABLE", "no space"),
  ])("CAN-5: a store that throws anything is unavailable, and what it threw is the cause (%o)", async (cause) => {
    const inner = memoryRunStore();
    const runStore = Object.assign(Object.create(inner), {
      claim: async (...given: Parameters<typeof inner.claim>) => {
        const claim = await inner.claim(...given);
        return {
          ...claim,
          runId: claim.runId,
          facts: claim.facts,
          release: () => claim.release(),
          append: () => Promise.reject(cause),
        };
      },
    });
    const bench = openAgentBench({ script: [say()], runStore });
    const { run } = bench.start();
    await bench.advance(600);
    const { error } = await run.result;
    expect(error).toMatchObject({ code: "JOURNAL_UNAVAILABLE", subject: "runStore" });
    expect(error?.cause).toBe(cause);
    if (cause instanceof KernelError) expect(error?.message).toContain(`(${cause.code})`);
    expect(error?.message).not.toContain("no space");
  });

  it("CAN-5: is tried again at once, then after 50 and 500 ms, and not more often", async () => {
    const store = new MortalStore({ kind: "rejects", at: 0, times: Number.POSITIVE_INFINITY });
    const bench = openAgentBench({ script: [say()], runStore: store });
    const { run } = bench.start();
    await bench.advance();
    expect(store.appends).toBe(2);
    await bench.advance(50);
    expect(store.appends).toBe(3);
    await bench.advance(500);
    expect(store.appends).toBe(4);
    await bench.advance(10_000);
    expect([store.appends, endOf({ result: await run.result })]).toEqual([4, "kernelError"]);
  });
});
