import { defineTool, type ExecutionMode, ToolError, type ToolExecution, type ToolRisk } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { openBench, peakOf, placesOf, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, outcomesOf } from "../support/run-calls.ts";

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
