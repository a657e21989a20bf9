import type { ModelContext, ModelResponse } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { recordingTool } from "../support/run-calls.ts";
import { modelOf } from "../support/run-model-scene.ts";

describe("the time of a model", () => {
  const hanging = () => {
    const contexts: ModelContext[] = [];
    const model = modelOf((context) => {
      contexts.push(context);
      return new Promise(() => undefined);
    });
    return { model, contexts };
  };

  it.each([
    ["limits.modelTimeoutMs", {}, 120_000],
    ["the host's own", { modelTimeoutMs: 1 }, 1],
  ])("RUN-1: is bounded by %s; past it the run ends providerError, modelTimeout", async (_what, limits, timeoutMs) => {
    const { model, contexts } = hanging();
    const bench = openAgentBench({ model, limits });
    const { run, finish } = bench.start();
    await bench.advance(timeoutMs - 1);
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([false]);
    run.steer("s");
    await bench.advance(1);
    const played = await finish();
    expect(endOf(played)).toBe("providerError by modelTimeout");
    expect(played.result.error?.message).toBe(`The model sent nothing for ${timeoutMs} ms (limits.modelTimeoutMs).`);
    expect(contexts[0]?.signal.reason).toMatchObject({ name: "TimeoutError" });
    expect(linesOf(played.result.undelivered)).toEqual(["user s"]);
    expect(bench.pendingTimers()).toBe(0);
  });

  it("RUN-1: begins anew with every streamed part", async () => {
    const { model, contexts } = hanging();
    const bench = openAgentBench({ model, limits: { modelTimeoutMs: 100 } });
    const { events, finish } = bench.start();
    for (const waited of [99, 99, 50, 99]) {
      await bench.advance(waited);
      contexts[0]?.emit({ type: "text", text: "." });
    }
    await bench.advance(99);
    expect(events.at(-1)?.kind).toBe("messageUpdated");
    await bench.advance(1);
    expect(endOf(await finish())).toBe("providerError by modelTimeout");
  });

  it("RUN-1: is each request's own", async () => {
    let turn = 0;
    const simulatedWait: (() => void)[] = [];
    const model = modelOf(
      () =>
        new Promise<ModelResponse>((resolve) => {
          turn += 1;
          simulatedWait.push(() => resolve(turn === 3 ? say() : ask("read")));
        }),
    );
    const bench = openAgentBench({ model, limits: { modelTimeoutMs: 100 } });
    const { finish } = bench.start();
    for (const request of [0, 1, 2]) {
      await bench.advance(99);
      simulatedWait[request]?.();
      await bench.advance();
    }
    expect(endOf(await finish())).toBe("completed by noCalls");
  });

  it("RUN-1: over, an answer and a failure that come late change nothing", async () => {
    for (const isFailure of [true, false]) {
      let settle: () => void = () => undefined;
      const { tool, runs } = recordingTool();
      const model = modelOf(
        () =>
          new Promise((resolve, reject) => {
            settle = () => (isFailure ? reject(new Error("late")) : resolve(ask("read")));
          }),
      );
      const bench = openAgentBench({ model, tools: [tool], limits: { modelTimeoutMs: 10 } });
      const { events, finish } = bench.start();
      await bench.advance(10);
      settle();
      await bench.advance(10);
      const played = await finish();
      expect([endOf(played), linesOf(played.result.messages), runs]).toEqual([
        ...["providerError by modelTimeout", ["user go"], []],
      ]);
      expect(events.at(-1)?.kind).toBe("runEnded");
    }
  });

  it("RUN-1: does not run while a batch does", async () => {
    const bench = openAgentBench({
      script: [ask("read"), say()],
      limits: { modelTimeoutMs: 10 },
      hooks: {
        afterToolCall: {
          run: () => new Promise<undefined>((resolve) => releases.push(() => resolve(undefined))),
          timeoutMs: null,
        },
      },
    });
    const releases: (() => void)[] = [];
    const { finish } = bench.start();
    await bench.advance(1_000);
    releases[0]?.();
    expect(endOf(await finish())).toBe("completed by noCalls");
  });
});
