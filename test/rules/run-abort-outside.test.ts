import type { AgentHooks, ModelProvider, Run } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { type AgentBenchOptions, ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { expectAborted } from "../support/run-abort-scene.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

/** A model that never answers, and the signals it was given. */
function hangingModel(): { model: ModelProvider; signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  const model: ModelProvider = {
    generate: (_request, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    },
  };
  return { model, signals };
}

describe("an abort from outside", () => {
  it("CAN-1: during a model request fires its signal with the reason and waits for nothing", async () => {
    const { model, signals } = hangingModel();
    const bench = openAgentBench({ model });
    const { run, finish } = bench.start();
    await bench.advance(5);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    run.abort("enough");
    const played = await finish();
    expectAborted(played, "enough");
    expect(signals.map(({ reason }) => reason)).toEqual(["enough"]);
    expect(bench.pendingTimers()).toBe(0);
  });

  it("CAN-1: drops what a model answers or streams after it", async () => {
    let emit: (delta: { type: "text"; text: string }) => void = () => undefined;
    let answer: (response: ReturnType<typeof ask>) => void = () => undefined;
    const model: ModelProvider = {
      generate: (_request, context) => {
        emit = context.emit;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    };
    const bench = openAgentBench({ model });
    const { run, events, finish } = bench.start();
    await bench.advance();
    emit({ type: "text", text: "I will" });
    run.abort("enough");
    emit({ type: "text", text: "read" });
    answer(ask("read"));
    const played = await finish();
    await bench.advance();
    expectAborted(played, "enough");
    expect(eventsOf(events, "messageUpdated").map(({ delta }) => delta)).toEqual([{ type: "text", text: "I will" }]);
    expect(linesOf(played.result.messages)).toEqual(["user go"]);
    expect(played.events).toEqual(events);
  });

  it("CAN-1: in the same tick in which the model answers takes none of the answer", async () => {
    let answer: (response: ReturnType<typeof ask>) => void = () => undefined;
    const model: ModelProvider = {
      generate: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    };
    const { tool, runs } = recordingTool();
    const bench = openAgentBench({ model, tools: [tool] });
    const { run, finish } = bench.start();
    await bench.advance();
    answer(ask("read"));
    run.abort("enough");
    const played = await finish();
    expectAborted(played, "enough");
    expect([linesOf(played.result.messages), runs]).toEqual([["user go"], []]);
  });

  it.each(["prepareNextTurn", "shouldStopAfterTurn"] as const)(
    "CAN-1: during %s fires its signal, and its answer is dropped",
    async (name) => {
      const signals: AbortSignal[] = [];
      let answer: (said: never) => void = () => undefined;
      const hooks: AgentHooks = {
        [name]: ({ signal }: { signal: AbortSignal }) => {
          signals.push(signal);
          return new Promise<never>((resolve) => {
            answer = resolve;
          });
        },
      };
      const bench = openAgentBench({ hooks, script: [say(), say()] });
      const { run, finish } = bench.start();
      await bench.advance();
      run.abort("enough");
      answer(true as never);
      const played = await finish();
      expectAborted(played, "enough");
      expect(signals.map(({ reason }) => reason)).toEqual(["enough"]);
      expect(bench.requests).toHaveLength(name === "prepareNextTurn" ? 0 : 1);
    },
  );

  it("CAN-1: during preparation settles every call as cancelled before dispatch", async () => {
    const { tool, runs } = recordingTool();
    const hooks: AgentHooks = { authorizeToolCall: () => new Promise(() => undefined) };
    const bench = openAgentBench({ tools: [tool], hooks, script: [ask(callPart("read", "a"), callPart("read", "b"))] });
    const { run, finish } = bench.start();
    await bench.advance();
    run.abort("enough");
    const played = await finish();
    expectAborted(played, "enough");
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant read#a, read#b", "error a not_executed: cancelled", "error b not_executed: cancelled"],
    ]);
    expect(runs).toEqual([]);
  });

  it("CAN-1, CAN-2: during an epoch gives running calls the grace; no later epoch and no request follow", async () => {
    const read = controllableTool({ name: "read", risk: "readOnly" });
    const write = controllableTool({ name: "write" });
    const script = [ask(callPart("read", "a"), callPart("read", "b"), callPart("write", "c")), say()];
    const bench = openAgentBench({ tools: [read, write], script });
    const { run, finish } = bench.start();
    await bench.advance();
    run.abort("enough");
    expect(read.pending.map(({ signal }) => signal.reason)).toEqual(["enough", "enough"]);
    read.pending[0]?.resolve("in time");
    await bench.advance(1_000);
    const played = await finish();
    expectAborted(played, "enough");
    expect(eventsOf(played.events, "toolEnded").map(({ callId, outcome }) => `${callId} ${outcome}`)).toEqual([
      ...["a succeeded", "b cancelled", "c cancelled"],
    ]);
    expect([write.pending.length, bench.requests.length]).toEqual([0, 1]);
    read.pending[0]?.resolve("late");
    await bench.advance();
  });

  it("CAN-1: by a tool of its own run is an abort like any other", async () => {
    let run: Run | undefined;
    const tool = {
      ...recordingTool().tool,
      execute: () => {
        run?.abort("the tool says so");
        return "done";
      },
    };
    const bench = openAgentBench({ tools: [tool], script: [ask(callPart("read", "a"), callPart("read", "b"))] });
    const followed = bench.start();
    run = followed.run;
    const played = await followed.finish();
    expectAborted(played, "the tool says so");
    expect(eventsOf(played.events, "toolEnded").map(({ callId, outcome }) => `${callId} ${outcome}`)).toEqual([
      ...["b cancelled", "a succeeded"],
    ]);
  });

  it("CAN-1: by the model of its own run, or by a hook of it, is one as well", async () => {
    const open = (place: "model" | "hook"): AgentBenchOptions => ({
      model: {
        generate: async () => {
          if (place === "model") run?.abort(place);
          return say();
        },
      },
      hooks: {
        prepareNextTurn: () => {
          if (place === "hook") run?.abort(place);
          return undefined;
        },
      },
    });
    let run: Run | undefined;
    for (const place of ["model", "hook"] as const) {
      const followed = openAgentBench(open(place)).start();
      run = followed.run;
      const played = await followed.finish();
      expectAborted(played, place);
      expect(linesOf(played.result.messages)).toEqual(["user go"]);
    }
  });

  it("CAN-1: the first reason counts, whoever gave it", async () => {
    const { model } = hangingModel();
    const bench = openAgentBench({ model });
    const { signal, abort } = trackedSignal();
    const { run, finish } = bench.start("go", { signal });
    await bench.advance();
    run.abort("first");
    run.abort("second");
    abort("third");
    expectAborted(await finish(), "first");
  });

  it("CAN-1: after the end changes nothing", async () => {
    const bench = openAgentBench({ script: [say()] });
    const { signal, abort } = trackedSignal();
    const { run, events, finish } = bench.start("go", { signal });
    const { result } = await finish();
    run.abort("late");
    abort("late");
    await bench.advance();
    expect([endOf({ result: await run.result }), events.at(-1)?.kind]).toEqual(["completed by noCalls", "runEnded"]);
    expect(result).not.toHaveProperty("abortReason");
  });

  it("CAN-1: without a reason has none, and is an abort", async () => {
    const { model } = hangingModel();
    const { run, finish } = openAgentBench({ model }).start();
    run.abort();
    const { result } = await finish();
    expect([result.status, Object.hasOwn(result, "abortReason"), result.abortReason]).toEqual([
      ...["aborted", true, undefined],
    ]);
  });
});
