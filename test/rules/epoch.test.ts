import { defineTool, type ExecutionMode, ToolError, type ToolExecution, type ToolRisk } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, peakOf, placesOf, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, outcomesOf } from "../support/run-calls.ts";

/** Keys as the arguments of a call of a keyed tool. */
const keyed = (name: string, keys: string | readonly string[], id: string) => call(name, { keys: keys as string }, id);

describe("EPOCH-1: which prepared calls may overlap", () => {
  type Row = readonly [ToolExecution, ToolRisk | undefined, ExecutionMode | undefined, "overlap" | "alone"];
  const risks = ["readOnly", "idempotentWrite", "nonIdempotentWrite", undefined] as const;
  const marks = ["sequential", "parallel", undefined] as const;
  const rowsOf = (
    mode: ToolExecution,
    verdict: (risk: (typeof risks)[number], mark: ExecutionMode | undefined) => Row[3],
  ) => risks.flatMap((risk) => marks.map((mark): Row => [mode, risk, mark, verdict(risk, mark)]));

  it.each([
    ...rowsOf("sequential", () => "alone"),
    ...rowsOf("parallel", (_risk, mark) => (mark === "sequential" ? "alone" : "overlap")),
    ...rowsOf("safeParallel", (risk, mark) => {
      if (mark === "sequential") return "alone";
      return mark === "parallel" || risk === "readOnly" ? "overlap" : "alone";
    }),
  ])("run mode %s: a %s tool marked %s runs %s", async (toolExecution, risk, executionMode, verdict) => {
    const tool = controllableTool({ name: "work", risk, executionMode });
    const bench = openBench({ tools: [tool], toolExecution });
    const running = await bench.start([call("work", {}, "a"), call("work", {}, "b")]);
    expect(placesOf(tool)).toEqual(verdict === "overlap" ? [0, 1] : [0]);
    runningCall(tool, 0).resolve();
    await bench.advance();
    runningCall(tool, 1).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "succeeded"]);
    expect(peakOf(running.events)).toBe(verdict === "overlap" ? 2 : 1);
  });

  it("safeParallel is what a session does when the host says nothing", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly" });
    const write = controllableTool({ name: "write", risk: "idempotentWrite" });
    const bench = openBench({ tools: [read, write] });
    const running = await bench.start([
      call("read", {}, "r1"),
      call("read", {}, "r2"),
      call("write", {}, "w1"),
      call("write", {}, "w2"),
    ]);
    expect(running.news()).toEqual(["epoch 0: r1 r2", "r1 starts", "r2 starts"]);
    for (const place of [0, 1]) runningCall(read, place).resolve();
    await bench.advance();
    expect(placesOf(write)).toEqual([2]);
    runningCall(write, 2).resolve();
    await bench.advance();
    runningCall(write, 3).resolve();
    await running.result;
  });

  it("a tool marked sequential overlaps with nobody, whatever its neighbours may do", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly" });
    const alone = controllableTool({ name: "alone", risk: "readOnly", executionMode: "sequential" });
    const bench = openBench({ tools: [read, alone], toolExecution: "parallel" });
    const running = await bench.start([call("read", {}, "a"), call("alone", {}, "b"), call("read", {}, "c")]);
    expect(runningIn(running.events)).toEqual(["a"]);
    runningCall(read, 0).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["b"]);
    runningCall(alone, 1).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["c"]);
    runningCall(read, 2).resolve();
    await running.result;
  });
});

describe("EPOCH-2: ordered epochs", () => {
  it("consecutive overlappable calls share one epoch, any other call has one of its own", async () => {
    const quick = (name: string, risk: ToolRisk) =>
      defineTool({ name, description: name, inputSchema: { type: "object" }, risk, execute: () => name });
    const bench = openBench({ tools: [quick("read", "readOnly"), quick("write", "nonIdempotentWrite")] });
    const running = await bench.start([
      call("read", {}, "r1"),
      call("read", {}, "r2"),
      call("write", {}, "w1"),
      call("write", {}, "w2"),
      call("read", {}, "r3"),
    ]);
    await running.result;
    expect(running.log()).toEqual([
      "epoch 0: r1 r2",
      "r1 starts",
      "r2 starts",
      "r1 ends succeeded",
      "r2 ends succeeded",
      "epoch 0 over",
      "epoch 1: w1",
      "w1 starts",
      "w1 ends succeeded",
      "epoch 1 over",
      "epoch 2: w2",
      "w2 starts",
      "w2 ends succeeded",
      "epoch 2 over",
      "epoch 3: r3",
      "r3 starts",
      "r3 ends succeeded",
      "epoch 3 over",
    ]);
    expect((await running.result).settled.map(({ epoch }) => epoch)).toEqual([0, 0, 1, 2, 3]);
  });

  it("the next epoch waits for the last call of this one, in whichever order they end", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly" });
    const write = controllableTool({ name: "write" });
    const bench = openBench({ tools: [read, write] });
    const running = await bench.start([call("read", {}, "a"), call("read", {}, "b"), call("write", {}, "w")]);
    runningCall(read, 1).resolve();
    await bench.advance();
    expect(placesOf(write)).toEqual([]);
    runningCall(read, 0).resolve();
    await bench.advance();
    expect(placesOf(write)).toEqual([2]);
    runningCall(write, 2).resolve();
    await running.result;
  });

  it("a call has settled only when afterToolCall has passed its result on", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly" });
    const write = controllableTool({ name: "write" });
    let pass: () => void = () => undefined;
    const passed = new Promise<void>((resolve) => {
      pass = resolve;
    });
    const afterToolCall = async () => {
      await passed;
      return undefined;
    };
    const bench = openBench({ tools: [read, write], hooks: { afterToolCall } });
    const running = await bench.start([call("read", {}, "r"), call("write", {}, "w")]);
    runningCall(read, 0).resolve();
    await bench.advance(1_000);
    expect(running.log()).toEqual(["epoch 0: r", "r starts"]);
    pass();
    await bench.advance();
    expect(placesOf(write)).toEqual([1]);
    runningCall(write, 1).resolve();
    await running.result;
  });

  it("a failed call is settled like any other and holds nobody up", async () => {
    const write = controllableTool({ name: "write" });
    const bench = openBench({ tools: [write] });
    const running = await bench.start([call("write", {}, "a"), call("write", {}, "b")]);
    runningCall(write, 0).reject(new ToolError("no"));
    await bench.advance();
    runningCall(write, 1).resolve();
    expect(outcomesOf(await running.result)).toEqual(["failed", "succeeded"]);
  });

  it("a refused sequential call is no barrier: only prepared calls are walked", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly" });
    const bench = openBench({ tools: [read] });
    const running = await bench.start([call("read", {}, "a"), call("nowhere", {}, "x"), call("read", {}, "b")]);
    expect(running.news()).toEqual(["x ends refused", "epoch 0: a b", "a starts", "b starts"]);
    for (const place of [0, 2]) runningCall(read, place).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "refused", "succeeded"]);
  });

  it("batches of a session run one after another", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly" });
    const bench = openBench({ tools: [read] });
    const first = await bench.start([call("read", {}, "a")]);
    const second = await bench.start([call("read", {}, "b")]);
    expect([runningIn(first.events), runningIn(second.events)]).toEqual([["a"], []]);
    runningCall(read, 0).resolve();
    await bench.advance();
    expect(runningIn(second.events)).toEqual(["b"]);
    runningCall(read, 0).resolve();
    await second.result;
  });
});

describe("EPOCH-3: how many run at once", () => {
  const reads = (count: number) => Array.from({ length: count }, (_, place) => call("read", {}, `r${place}`));

  it("eight, when the host says nothing", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
    const bench = openBench({ tools: [read] });
    const running = await bench.start(reads(20));
    expect(placesOf(read)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    while (read.pending.length > 0) {
      read.pending[0]?.resolve();
      await bench.advance();
    }
    expect(outcomesOf(await running.result)).toEqual(Array.from({ length: 20 }, () => "succeeded"));
    expect(peakOf(running.events)).toBe(8);
  });

  it.each([1, 2, 5])("limits.maxConcurrentTools %i is never passed and always used", async (maxConcurrentTools) => {
    const read = controllableTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
    const bench = openBench({ tools: [read], limits: { maxConcurrentTools } });
    const running = await bench.start(reads(7));
    for (let open = 7; open > 0; open -= 1) {
      expect(read.pending).toHaveLength(Math.min(open, maxConcurrentTools));
      read.pending.at(-1)?.resolve();
      await bench.advance();
    }
    await running.result;
  });

  it("the limit also holds in run mode parallel", async () => {
    const write = controllableTool({ name: "write", trackExactRepeats: false });
    const bench = openBench({ tools: [write], toolExecution: "parallel", limits: { maxConcurrentTools: 2 } });
    const running = await bench.start([call("write", {}, "a"), call("write", {}, "b"), call("write", {}, "c")]);
    expect(placesOf(write)).toEqual([0, 1]);
    for (const place of [0, 1]) runningCall(write, place).resolve();
    await bench.advance();
    runningCall(write, 2).resolve();
    await running.result;
  });

  it("a call that is being recovered or shaped still holds its slot", async () => {
    const write = controllableTool({
      name: "write",
      executionMode: "parallel",
      trackExactRepeats: false,
      recover: () => new Promise<undefined>(() => undefined),
      timeoutMs: 100,
      conflictKey: ({ at }) => at as string,
    });
    const bench = openBench({ tools: [write], limits: { maxConcurrentTools: 1 } });
    const running = await bench.start([call("write", { at: "a" }, "a"), call("write", { at: "b" }, "b")]);
    runningCall(write, 0).reject(new Error("lost"));
    await bench.advance(99);
    expect(placesOf(write)).toEqual([]);
    await bench.advance(1);
    expect(placesOf(write)).toEqual([1]);
    runningCall(write, 1).resolve();
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "succeeded"]);
  });
});

describe("EPOCH-4: calls that share a key", () => {
  it("run one at a time, in source order, while others pass", async () => {
    const write = keyedTool({ name: "write", executionMode: "parallel" });
    const bench = openBench({ tools: [write] });
    const running = await bench.start([
      keyed("write", "k", "k1"),
      keyed("write", "k", "k2"),
      keyed("write", "other", "o1"),
      keyed("write", "k", "k3"),
    ]);
    expect(running.news()).toEqual(["epoch 0: k1 k2 o1 k3", "k1 starts", "o1 starts"]);
    runningCall(write, 2).resolve();
    await bench.advance();
    expect(running.news()).toEqual(["o1 ends succeeded"]);
    runningCall(write, 0).resolve();
    await bench.advance();
    expect(running.news()).toEqual(["k1 ends succeeded", "k2 starts"]);
    runningCall(write, 1).resolve();
    await bench.advance();
    runningCall(write, 3).resolve();
    await running.result;
    expect(running.news()).toEqual(["k2 ends succeeded", "k3 starts", "k3 ends succeeded", "epoch 0 over"]);
  });

  it("reads included, and whichever tool they are of", async () => {
    const read = keyedTool({ name: "read", risk: "readOnly" });
    const write = keyedTool({ name: "write", executionMode: "parallel" });
    const bench = openBench({ tools: [read, write] });
    const running = await bench.start([keyed("read", "k", "r1"), keyed("write", "k", "w"), keyed("read", "k", "r2")]);
    expect(runningIn(running.events)).toEqual(["r1"]);
    runningCall(read, 0).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["w"]);
    runningCall(write, 1).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["r2"]);
    runningCall(read, 2).resolve();
    await running.result;
  });

  it("with 2 slots and keys k, k, other: other starts while the second k waits", async () => {
    const write = keyedTool({ name: "write", executionMode: "parallel" });
    const bench = openBench({ tools: [write], limits: { maxConcurrentTools: 2 } });
    const running = await bench.start([
      keyed("write", "k", "a"),
      keyed("write", "k", "b"),
      keyed("write", "other", "c"),
    ]);
    expect(runningIn(running.events)).toEqual(["a", "c"]);
    runningCall(write, 2).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["a"]);
    runningCall(write, 0).resolve();
    await bench.advance();
    runningCall(write, 1).resolve();
    await running.result;
  });

  it("a call takes all its keys at once or none: one that waits keeps nobody of a key it could have", async () => {
    const write = keyedTool({ name: "write", executionMode: "parallel" });
    const bench = openBench({ tools: [write] });
    const running = await bench.start([
      keyed("write", "a", "first"),
      keyed("write", ["a", "b"], "both"),
      keyed("write", "b", "last"),
    ]);
    // `last` stands behind `both` in lane b: source order of each key comes before use.
    expect(runningIn(running.events)).toEqual(["first"]);
    runningCall(write, 0).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["both"]);
    runningCall(write, 1).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["last"]);
    runningCall(write, 2).resolve();
    await running.result;
  });

  it("crossed keys in whatever order they are named end in no deadlock", async () => {
    const write = keyedTool({ name: "write", executionMode: "parallel" });
    const bench = openBench({ tools: [write] });
    const running = await bench.start([
      keyed("write", ["a", "b"], "ab"),
      keyed("write", ["b", "a"], "ba"),
      keyed("write", ["b", "c"], "bc"),
      keyed("write", ["c", "a"], "ca"),
    ]);
    for (const id of ["ab", "ba", "bc", "ca"]) {
      expect(runningIn(running.events)).toEqual([id]);
      write.pending[0]?.resolve();
      await bench.advance();
    }
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "succeeded", "succeeded", "succeeded"]);
  });

  it("calls whose key sets are apart overlap", async () => {
    const write = keyedTool({ name: "write", executionMode: "parallel" });
    const bench = openBench({ tools: [write] });
    const running = await bench.start([keyed("write", ["a", "b"], "ab"), keyed("write", ["c", "d"], "cd")]);
    expect(runningIn(running.events)).toEqual(["ab", "cd"]);
    for (const place of [0, 1]) runningCall(write, place).resolve();
    await running.result;
  });

  it("a key named twice by one call is one key", async () => {
    const write = keyedTool({ name: "write", executionMode: "parallel" });
    const bench = openBench({ tools: [write] });
    const running = await bench.start([keyed("write", ["a", "a"], "aa"), keyed("write", "a", "a")]);
    expect(runningIn(running.events)).toEqual(["aa"]);
    runningCall(write, 0).resolve();
    await bench.advance();
    runningCall(write, 1).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "succeeded"]);
  });

  it.each(["__proto__", "constructor", "hasOwnProperty"])("the key %s is a key like any other", async (key) => {
    const write = keyedTool({ name: "write", executionMode: "parallel" });
    const bench = openBench({ tools: [write] });
    const running = await bench.start([keyed("write", key, "a"), keyed("write", key, "b"), keyed("write", "k", "c")]);
    expect(runningIn(running.events)).toEqual(["a", "c"]);
    for (const place of [0, 2]) runningCall(write, place).resolve();
    await bench.advance();
    runningCall(write, 1).resolve();
    await running.result;
  });
});

describe("EPOCH-5: no idle slot while work is ready", () => {
  it("of the startable calls the first in source order starts, not the one that was startable first", async () => {
    const write = keyedTool({ name: "write", executionMode: "parallel" });
    const bench = openBench({ tools: [write], limits: { maxConcurrentTools: 2 } });
    const running = await bench.start([
      keyed("write", "k", "a"),
      keyed("write", "k", "b"),
      keyed("write", "x", "c"),
      keyed("write", "y", "d"),
    ]);
    expect(runningIn(running.events)).toEqual(["a", "c"]);
    // d has been ready all the time, b becomes so now; b comes first.
    runningCall(write, 0).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["c", "b"]);
    runningCall(write, 1).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["c", "d"]);
    for (const place of [2, 3]) runningCall(write, place).resolve();
    await running.result;
  });

  it("calls that end together are all followed up at once", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
    const bench = openBench({ tools: [read], limits: { maxConcurrentTools: 3 } });
    const calls = ["a", "b", "c", "d", "e", "f"].map((id) => call("read", {}, id));
    const running = await bench.start(calls);
    for (const one of [...read.pending]) one.resolve();
    await bench.advance();
    expect(placesOf(read)).toEqual([3, 4, 5]);
    for (const one of [...read.pending]) one.resolve();
    await running.result;
  });

  it("a slot is free in the turn in which its call settles, without any time passing", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
    const bench = openBench({ tools: [read], limits: { maxConcurrentTools: 1 } });
    const running = await bench.start([call("read", {}, "a"), call("read", {}, "b")]);
    await bench.advance(40);
    runningCall(read, 0).resolve();
    await bench.advance();
    runningCall(read, 1).resolve();
    const { settled } = await running.result;
    expect((settled[1]?.startedAtMs ?? 0) - (settled[0]?.endedAtMs ?? 1)).toBe(0);
    const waited = running.events.flatMap((event) => (event.kind === "toolDispatched" ? [event.waitedMs] : []));
    expect(waited).toEqual([0, 40]);
  });

  it("a storm of executors that answer at once is run to its end, the cap kept", async () => {
    let atOnce = 0;
    let peak = 0;
    const storm = defineTool({
      name: "storm",
      description: "Answers at once.",
      inputSchema: { type: "object" },
      risk: "readOnly",
      trackExactRepeats: false,
      execute: () => {
        atOnce += 1;
        peak = Math.max(peak, atOnce);
        queueMicrotask(() => {
          atOnce -= 1;
        });
        return "ok";
      },
    });
    const bench = openBench({ tools: [storm], limits: { maxToolCallsPerTurn: 500 } });
    const running = await bench.start(Array.from({ length: 500 }, (_, place) => call("storm", {}, `s${place}`)));
    const { settled } = await running.result;
    expect(settled.filter(({ outcome }) => outcome === "succeeded")).toHaveLength(500);
    expect(peak).toBe(8);
  });
});

describe("EPOCH-6: two orders", () => {
  it("toolEnded comes in completion order, messages and settled calls in source order", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
    const bench = openBench({ tools: [read] });
    const running = await bench.start(["a", "b", "c"].map((id) => call("read", {}, id)));
    for (const place of [2, 0, 1]) {
      runningCall(read, place).resolve(place);
      await bench.advance();
    }
    const { messages, settled } = await running.result;
    expect(running.events.flatMap((event) => (event.kind === "toolEnded" ? [event.callId] : []))).toEqual([
      "c",
      "a",
      "b",
    ]);
    expect(messages.map((message) => "callId" in message && message.callId)).toEqual(["a", "b", "c"]);
    expect(settled.map(({ index, result }) => [index, result.content])).toEqual([
      [0, [{ type: "json", value: 0 }]],
      [1, [{ type: "json", value: 1 }]],
      [2, [{ type: "json", value: 2 }]],
    ]);
  });

  it("refused, blocked and cancelled calls stand at their own places among the messages", async () => {
    const write = controllableTool({ name: "write" });
    const bench = openBench({ tools: [write] });
    const running = await bench.start([call("write", {}, "a"), call("nowhere", {}, "b"), call("write", {}, "c")]);
    runningCall(write, 0).reject(new Error("lost"));
    const { messages } = await running.result;
    expect(messages.map((message) => "callId" in message && [message.callId, message.failureCategory])).toEqual([
      ["a", "internal"],
      ["b", "invalidArguments"],
      ["c", "conflict"],
    ]);
  });
});

describe("EPOCH-7: a tool without a declared risk", () => {
  it("is a barrier among reads", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly" });
    const unmarked = controllableTool({ name: "unmarked" });
    const bench = openBench({ tools: [read, unmarked] });
    const running = await bench.start([call("read", {}, "a"), call("unmarked", {}, "u"), call("read", {}, "b")]);
    expect(runningIn(running.events)).toEqual(["a"]);
    runningCall(read, 0).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["u"]);
    runningCall(unmarked, 1).resolve();
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["b"]);
    runningCall(read, 2).resolve();
    await running.result;
  });

  it("is a write: its lost outcome is uncertain", async () => {
    const unmarked = controllableTool({ name: "unmarked" });
    const bench = openBench({ tools: [unmarked] });
    const running = await bench.start([call("unmarked")]);
    runningCall(unmarked, 0).reject(new Error("lost"));
    expect(outcomesOf(await running.result)).toEqual(["uncertain"]);
  });
});
