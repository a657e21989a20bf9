import { KernelError, memoryRunStore, type RunStore } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { LIMITS, slowWrites } from "../support/can-5-scene.ts";
import { openBench } from "../support/execution-bench.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { call, eventsOf, outcomesOf, recordingTool, verdictsOf } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

/** A store that says at a record, and at every later one, that somebody else has the run now. */
function losingStore(at: number): RunStore {
  const inner = memoryRunStore();
  let appends = 0;
  const claim: RunStore["claim"] = async (...given) => {
    const held = await inner.claim(...given);
    return {
      runId: held.runId,
      facts: held.facts,
      release: () => held.release(),
      append: async (...facts) => {
        appends += 1;
        if (appends > at) throw new KernelError("RUN_CLAIMED", "Somebody else has it.");
        await held.append(...facts);
      },
    };
  };
  return Object.assign(Object.create(inner) as RunStore, { claim });
}

describe("a run whose store is lost", () => {
  it("CAN-5: a run that is somebody else's now stops at once, with RUN_CLAIMED and without another try", async () => {
    const { slow, calls, tools } = slowWrites();
    const runStore = memoryRunStore();
    const held: { release(): Promise<void> }[] = [];
    const watched = Object.assign(Object.create(runStore), {
      claim: async (...given: Parameters<typeof runStore.claim>) => {
        const claim = await runStore.claim(...given);
        held.push(claim);
        return claim;
      },
    });
    const bench = openAgentBench({ tools, script: [ask(...calls), say()], runStore: watched, limits: LIMITS });
    const { run } = bench.start();
    await bench.advance();
    await held[0]?.release();
    slow.pending[0]?.resolve("did a");
    await bench.advance();
    slow.pending[0]?.resolve("did b");
    await bench.advance();
    const { status, error } = await run.result;
    expect([status, error]).toEqual(["kernelError", expect.objectContaining({ code: "RUN_CLAIMED" })]);
    expect(bench.pendingTimers()).toBe(0);
  });

  it("CAN-1, CAN-5: lost while it is aborted ends as kernelError, since its end is not recorded", async () => {
    const { slow, calls, tools } = slowWrites();
    const store = new MortalStore({ kind: "rejects", at: 4, times: Number.POSITIVE_INFINITY });
    const bench = openAgentBench({ tools, script: [ask(...calls)], runStore: store, limits: LIMITS });
    const { run } = bench.start();
    await bench.advance();
    run.abort("enough");
    for (const { resolve } of [...slow.pending]) resolve("done");
    await bench.advance(600);
    const result = await run.result;
    expect([endOf({ result }), result.abortReason]).toEqual(["kernelError", undefined]);
    expect(findTranscriptFaults(result.messages)).toEqual([]);
  });

  it.each(["compiled", "xstate"] as const)(
    "CAN-1, CAN-5: lost at any record and aborted at any event, ends as one of both, and nothing hangs (%s)",
    async (interpreter) => {
      leaveChartsOpen(); // a run that was lost before its first event
      const seen = new Set<string>();
      for (let at = 0; at < 9; at += 1) {
        for (let abortAt = 0; abortAt < 24; abortAt += 1) {
          const runStore = losingStore(at);
          const write = recordingTool({ name: "write", risk: "nonIdempotentWrite" });
          const tools = [recordingTool().tool, write.tool];
          const bench = openAgentBench({ interpreter, tools, script: [ask("read", "write"), say()], runStore });
          const { run } = bench.start();
          let told = 0;
          run.subscribe(() => {
            if (told === abortAt) run.abort("enough");
            told += 1;
          });
          await bench.advance(5_000);
          const { status, error, messages } = await run.result;
          seen.add(`${status} ${error === undefined ? "" : (error as KernelError).code}`);
          expect(findTranscriptFaults(messages)).toEqual([]);
        }
      }
      expect([...seen].sort()).toEqual(["aborted ", "kernelError RUN_CLAIMED"]);
    },
  );

  it("RUN-3, CAN-5: gives back what was said and could not be recorded; what was recorded stays with the run", async () => {
    const { slow, calls, tools } = slowWrites();
    const store = new MortalStore({ kind: "rejects", at: 5, times: Number.POSITIVE_INFINITY });
    const bench = openAgentBench({ tools, script: [ask(...calls)], runStore: store, limits: LIMITS });
    const { run } = bench.start();
    await bench.advance();
    run.steer("recorded");
    await bench.advance();
    run.steer("lost");
    await bench.advance(600);
    for (const { resolve } of [...slow.pending]) resolve("done");
    await bench.advance(600);
    const result = await run.result;
    expect([endOf({ result }), linesOf(result.undelivered)]).toEqual(["kernelError", ["user lost"]]);
    const second = openAgentBench({ tools, script: [say()], runStore: store.successor(), limits: LIMITS });
    const resumed = await second.resume("run").finish();
    expect(linesOf(resumed.result.messages).slice(-2)).toEqual(["user recorded", "assistant done"]);
  });

  it("PREP-12, CAN-5: lost while its calls are prepared asks no more hooks, and every call is cancelled", async () => {
    const asked: string[] = [];
    const store = new MortalStore({ kind: "rejects", at: 2, times: Number.POSITIVE_INFINITY });
    let allow: (answer: undefined) => void = () => undefined;
    const hooks = {
      rewriteToolCall: ({ call: { id } }: { readonly call: { readonly id: string } }) => {
        asked.push(id);
        return new Promise<undefined>((resolve) => {
          allow = resolve;
        });
      },
    };
    const script = [ask(callPart("read", "a"), callPart("read", "b"))];
    const bench = openAgentBench({ script, hooks, runStore: store });
    const { run, events } = bench.start();
    await bench.advance();
    run.steer("cannot be recorded");
    await bench.advance(600);
    const result = await run.result;
    allow(undefined);
    await bench.advance();
    expect([endOf({ result }), asked, eventsOf(events, "toolEnded").map(({ outcome }) => outcome)]).toEqual([
      "kernelError",
      ["a"],
      ["cancelled", "cancelled"],
    ]);
    expect(linesOf(result.messages)).toEqual([
      ...["user go", "assistant read#a, read#b", "error a not_executed: cancelled", "error b not_executed: cancelled"],
    ]);
  });
});

describe("a session whose store is lost", () => {
  const BATCH = [call("slow", "{}", "a"), call("slow", "{}", "b"), call("slow", "{}", "c"), call("last", "{}", "d")];

  it("CAN-5: fails the batch with JOURNAL_UNAVAILABLE once running calls have ended, and takes nothing more", async () => {
    const { slow, last, tools } = slowWrites();
    const store = new MortalStore({ kind: "rejects", at: 4, times: Number.POSITIVE_INFINITY });
    const { session, start, advance } = openBench({ tools, runStore: store, limits: LIMITS });
    const { events, result } = await start(BATCH);
    const queued = session.execute([call("last")]);
    slow.pending[0]?.resolve("did a");
    await advance(600);
    slow.pending[0]?.resolve("did b");
    await advance();
    await expect(result).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    await expect(queued.result).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    expect(() => session.execute([call("last")])).toThrow(KernelError);
    expect(eventsOf(events, "toolEnded").map(({ callId, outcome }) => `${callId} ${outcome}`)).toEqual([
      ...["a succeeded", "c cancelled", "b succeeded", "d cancelled"],
    ]);
    await session.close();
    expect([last.runs, store.isClaimed]).toEqual([[], false]);

    const second = openBench({ tools, runStore: store.successor(), limits: LIMITS });
    const again = await second.start(BATCH, { turn: 1 });
    expect(outcomesOf(await again.result)).toEqual(["uncertain", "uncertain", "blocked", "blocked"]);
    await second.session.close();
  });

  it("CAN-5: closed meanwhile, gives running calls the grace and waits for them", async () => {
    const { slow, tools } = slowWrites();
    const store = new MortalStore({ kind: "rejects", at: 4, times: Number.POSITIVE_INFINITY });
    const { session, start, advance } = openBench({ tools, runStore: store, limits: LIMITS });
    const { events, result } = await start(BATCH);
    result.catch(() => undefined);
    slow.pending[0]?.resolve("did a");
    await advance(600);
    let isClosed = false;
    const closed = session.close().then(() => {
      isClosed = true;
    });
    await advance();
    expect([isClosed, slow.pending[0]?.signal.aborted]).toEqual([false, true]);
    slow.pending[0]?.resolve("did b");
    await advance();
    await closed;
    expect(eventsOf(events, "toolEnded").at(-2)).toMatchObject({ callId: "b", outcome: "succeeded" });
    await expect(result).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    expect(store.isClaimed).toBe(false);
  });

  it("CAN-5: a response that cannot be recorded runs nothing", async () => {
    const read = recordingTool();
    const store = new MortalStore({ kind: "rejects", at: 0, times: Number.POSITIVE_INFINITY });
    const { session, start, advance } = openBench({ tools: [read.tool], runStore: store });
    const { events, result } = await start([call("read")]);
    await advance(600);
    await expect(result).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    expect([read.runs, events]).toEqual([[], []]);
    await session.close();
  });

  it("CAN-5: goes on after a failure that did not last, and its results are as ever", async () => {
    const read = recordingTool();
    const store = new MortalStore({ kind: "rejects", at: 2, times: 3 });
    const { session, start, advance } = openBench({ tools: [read.tool], runStore: store });
    const { result } = await start([call("read")]);
    await advance(600);
    expect([verdictsOf(await result), read.runs.length]).toEqual([["succeeded"], 1]);
    await session.close();
  });
});
