import { defineTool } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, placesOf, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, outcomesOf } from "../support/run-calls.ts";

/** Keys as the arguments of a call of a keyed tool. */
const keyed = (name: string, keys: string | readonly string[], id: string) => call(name, { keys: keys as string }, id);

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
