import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, peakOf, placesOf, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, outcomesOf } from "../support/run-calls.ts";

/** Keys as the arguments of a call of a keyed tool. */
const keyed = (name: string, keys: string | readonly string[], id: string) => call(name, { keys: keys as string }, id);

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
