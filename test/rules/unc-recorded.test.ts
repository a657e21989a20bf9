import { memoryRunStore, type RunClaim, type RunStore } from "toolkernel";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, outcomesOf } from "../support/run-calls.ts";

/** A run store whose appends become durable when the test says so, in order, once it holds them. */
function heldStore(): { readonly store: RunStore; hold(): void; release(): void; releaseAll(): void } {
  const inner = memoryRunStore();
  const waiting: (() => void)[] = [];
  let isHeld = false;
  const holdAppends = (claim: RunClaim): RunClaim => ({
    runId: claim.runId,
    facts: claim.facts,
    release: () => claim.release(),
    append: async (facts, progress) => {
      if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
      await claim.append(facts, progress);
    },
  });
  const store: RunStore = {
    listOpen: (options) => inner.listOpen(options),
    prune: (options) => inner.prune(options),
    close: () => inner.close(),
    [Symbol.asyncDispose]: () => inner.close(),
    claim: async (runId, options) => holdAppends(await inner.claim(runId, options)),
  };
  return {
    store,
    hold: () => {
      isHeld = true;
    },
    release: () => waiting.shift()?.(),
    releaseAll: () => {
      isHeld = false;
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

describe("UNC-4: a call whose dispatch is still being recorded is not dispatched", () => {
  it("so an uncertain write blocks it, and its executor is never called", async () => {
    const { store, hold, release, releaseAll } = heldStore();
    const write = keyedTool({ name: "write", executionMode: "parallel" });
    const read = keyedTool({ name: "read", risk: "readOnly" });
    const bench = openBench({ tools: [write, read], runStore: store, limits: { maxConcurrentTools: 2 } });
    const running = await bench.start([
      call("write", {}, "lost"),
      call("read", { keys: "r" }, "read"),
      call("write", { keys: "k" }, "next"),
    ]);
    expect(runningIn(running.events)).toEqual(["lost", "read"]);
    hold();
    // The result of the read waits to be recorded, then that of the lost write.
    runningCall(read, 1).resolve();
    await bench.advance();
    runningCall(write, 0).reject(new Error("lost"));
    await bench.advance();
    // The read settles: its slot goes to `next`, whose dispatch waits to be recorded behind the lost write.
    release();
    await bench.advance();
    expect(running.log()).toEqual(["epoch 0: lost read next", "lost starts", "read starts", "read ends succeeded"]);
    release();
    await bench.advance();
    expect(running.log().slice(4)).toEqual(["lost ends uncertain", "next blocked by lost"]);
    releaseAll();
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "succeeded", "blocked"]);
    expect(write.pending).toEqual([]);
    await bench.session.close();
    await store.close();
  });
});
