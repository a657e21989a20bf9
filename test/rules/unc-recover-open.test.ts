import { toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, placesOf, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, outcomesOf, textsOf, verdictsOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

/** A question to `recover` that waits for the test. */
interface Question {
  readonly signal: AbortSignal;
  answer(result: unknown): void;
  fail(error: unknown): void;
}

describe("UNC-7: while the question is open", () => {
  /** Writes whose recovery the test answers; they time out after 100 ms, the question as well. */
  function openAsking(options: Partial<Parameters<typeof openBench>[0]> = {}) {
    const questions: Question[] = [];
    const write = keyedTool({
      name: "write",
      executionMode: "parallel",
      timeoutMs: 100,
      trackExactRepeats: false,
      recover: (_args, { signal }) =>
        new Promise((answer, fail) => questions.push({ signal, answer: answer as (result: unknown) => void, fail })),
    });
    return { ...openBench({ tools: [write], ...options }), write, questions };
  }
  const keyed = (keys: string, id: string) => call("write", { keys }, id);
  const happened = toolResult({ value: "it did" });
  const didNot = toolResult({ content: "it did not", isError: true });

  it("the call keeps its lanes and its slot, and its result waits", async () => {
    const bench = openAsking({ limits: { maxConcurrentTools: 2 } });
    const running = await bench.start([keyed("k", "lost"), keyed("k", "same"), keyed("x", "x"), keyed("y", "y")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    expect(running.log()).toEqual(["epoch 0: lost same x y", "lost starts", "x starts"]);
    bench.questions[0]?.answer(happened);
    await bench.advance();
    expect(running.log().slice(3)).toEqual(["lost ends succeeded", "same starts"]);
    for (const place of [1, 2]) runningCall(bench.write, place).resolve();
    await bench.advance();
    runningCall(bench.write, 3).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "succeeded", "succeeded", "succeeded"]);
  });

  it("nobody is judged yet; the answer decides", async () => {
    for (const [answer, outcomes] of [
      [happened, ["succeeded", "succeeded"]],
      [didNot, ["failed", "succeeded"]],
      [undefined, ["uncertain", "blocked"]],
    ] as const) {
      const bench = openAsking();
      const running = await bench.start([keyed("k", "lost"), keyed("k", "next")]);
      runningCall(bench.write, 0).reject(new Error("lost"));
      await bench.advance(50);
      expect(placesOf(bench.write)).toEqual([]);
      bench.questions[0]?.answer(answer);
      await bench.advance();
      for (const one of [...bench.write.pending]) one.resolve();
      expect(outcomesOf(await running.result)).toEqual(outcomes);
    }
  });

  it("it did not happen counts only once the executor has ended", async () => {
    for (const [ending, outcome] of [
      ["never", "uncertain"],
      ["returns before the answer", "failed"],
      ["throws before the answer", "failed"],
    ] as const) {
      const bench = openAsking();
      const running = await bench.start([keyed("k", "lost")]);
      await bench.advance(1_100);
      expect(bench.questions).toHaveLength(1);
      const executor = runningCall(bench.write, 0);
      if (ending === "returns before the answer") executor.resolve("late");
      if (ending === "throws before the answer") executor.reject(new Error("late"));
      await bench.advance();
      bench.questions[0]?.answer(didNot);
      const result = await running.result;
      expect([ending, outcomesOf(result)]).toEqual([ending, [outcome]]);
    }
  });

  it("it happened counts whether or not the executor may be alive", async () => {
    const bench = openAsking();
    const running = await bench.start([keyed("k", "lost")]);
    await bench.advance(1_100);
    bench.questions[0]?.answer(happened);
    const result = await running.result;
    expect([outcomesOf(result), textsOf(result)]).toEqual([["succeeded"], ["it did"]]);
  });

  it("what the executor answers late is no answer to the question, but ends its life", async () => {
    const bench = openAsking();
    const running = await bench.start([keyed("k", "lost")]);
    await bench.advance(1_100);
    runningCall(bench.write, 0).resolve("too late");
    await bench.advance();
    expect(running.log()).toEqual(["epoch 0: lost", "lost starts"]);
    bench.questions[0]?.answer(undefined);
    expect(verdictsOf(await running.result)).toEqual(["uncertain:timeout"]);
    // Told behind the result, as of any executor that ends late.
    const told = running.events.map(({ kind }) => kind);
    expect(told.slice(-3)).toEqual(["toolEnded", "toolLateSettled", "epochSettled"]);
    // Its executor has ended, so it holds nothing.
    const next = await bench.start([keyed("k", "next")]);
    expect(runningIn(next.events)).toEqual(["next"]);
    runningCall(bench.write, 0).resolve();
    await next.result;
  });

  it("an uncertain answer leaves a live executor its key, by EPOCH-8", async () => {
    const bench = openAsking();
    const running = await bench.start([keyed("k", "lost")]);
    await bench.advance(1_100);
    bench.questions[0]?.answer(undefined);
    await running.result;
    const next = await bench.start([keyed("k", "next")]);
    await bench.advance(28_999);
    expect(runningIn(next.events)).toEqual([]);
    await bench.advance(1);
    expect(runningIn(next.events)).toEqual(["next"]);
    runningCall(bench.write, 0).resolve();
    await next.result;
  });

  it("a time-out category is kept through the question", async () => {
    const bench = openAsking();
    const running = await bench.start([keyed("k", "lost")]);
    await bench.advance(1_200);
    expect(bench.questions[0]?.signal.aborted).toBe(true);
    expect(verdictsOf(await running.result)).toEqual(["uncertain:timeout"]);
  });

  it("it is not asked once the run is cancelled", async () => {
    const bench = openAsking();
    const { signal, abort } = trackedSignal();
    const running = await bench.start([keyed("a", "throws"), keyed("b", "hangs")], { signal });
    abort();
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance(1_000);
    expect(verdictsOf(await running.result)).toEqual(["uncertain:cancelled", "uncertain:cancelled"]);
    expect(bench.questions).toEqual([]);
  });

  it("nor when the cancellation came during the grace of its time-out", async () => {
    const bench = openAsking();
    const { signal, abort } = trackedSignal();
    const running = await bench.start([keyed("a", "lost")], { signal });
    await bench.advance(500);
    abort();
    await bench.advance(600);
    expect(verdictsOf(await running.result)).toEqual(["uncertain:timeout"]);
    expect(bench.questions).toEqual([]);
  });

  it("a cancellation fires its signal and gives it the grace", async () => {
    const reason = new Error("enough");
    for (const [answer, verdict] of [
      [happened, "succeeded"],
      [didNot, "failed:unspecified"],
      [undefined, "uncertain:cancelled"],
      ["none", "uncertain:cancelled"],
    ] as const) {
      const bench = openAsking();
      const { signal, abort } = trackedSignal();
      const running = await bench.start([keyed("k", "lost")], { signal });
      runningCall(bench.write, 0).reject(new Error("lost"));
      await bench.advance(50);
      abort(reason);
      expect([bench.questions[0]?.signal.aborted, bench.questions[0]?.signal.reason]).toEqual([true, reason]);
      // Its own time-out would have been over 50 ms after this.
      await bench.advance(999);
      expect(running.log()).toHaveLength(2);
      if (answer !== "none") bench.questions[0]?.answer(answer);
      await bench.advance(answer === "none" ? 1 : 0);
      expect(verdictsOf(await running.result)).toEqual([verdict]);
      bench.questions[0]?.answer(happened);
      await bench.advance();
    }
  });

  it("an answer or a failure after its time changes nothing", async () => {
    for (const late of ["answer", "fail"] as const) {
      const bench = openAsking();
      const running = await bench.start([keyed("k", "lost")]);
      runningCall(bench.write, 0).reject(new Error("lost"));
      await bench.advance(100);
      const result = await running.result;
      if (late === "answer") bench.questions[0]?.answer(happened);
      else bench.questions[0]?.fail(new Error("late"));
      await bench.advance();
      expect(verdictsOf(result)).toEqual(["uncertain:internal"]);
    }
  });

  it("a tool's own text of the failure is told, not what it had answered before", async () => {
    const bench = openAsking();
    const running = await bench.start([keyed("k", "lost")]);
    runningCall(bench.write, 0).resolve(toolResult({ content: "sent, perhaps", outcomeUncertain: true }));
    await bench.advance();
    bench.questions[0]?.answer(didNot);
    expect(textsOf(await running.result)).toEqual(["it did not"]);
  });

  it("closing the session ends the question", async () => {
    const bench = openAsking();
    const running = await bench.start([keyed("k", "lost")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    const closing = bench.session.close();
    expect(bench.questions[0]?.signal.aborted).toBe(true);
    await bench.advance(1_000);
    await closing;
    expect(verdictsOf(await running.result)).toEqual(["uncertain:cancelled"]);
  });
});
