import type { AgentHooks, Clock, RunResult } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, followRun, openAgentBench, say } from "../support/agent-bench.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

describe("an executor that settles after the run", () => {
  it("RUN-4: is told to telemetry alone, changes no result and crashes nothing", async () => {
    const records: string[] = [];
    const write = controllableTool({ name: "write" });
    const bench = openAgentBench({
      tools: [write],
      script: [ask(callPart("write", "a"))],
      telemetry: { record: ({ name }) => records.push(name) },
    });
    const { run, events, finish } = bench.start();
    await bench.advance();
    run.abort("enough");
    await bench.advance(1_000);
    const { result } = await finish();
    const before = structuredClone(result);
    const told = records.length;
    expect(events.at(-1)?.kind).toBe("runEnded");
    write.pending[0]?.resolve("late");
    await bench.advance();
    expect(records.slice(told)).toEqual(["kernel.toollatesettled"]);
    expect(events.at(-1)?.kind).toBe("runEnded");
    expect(structuredClone(await run.result)).toEqual(before);
  });

  it("RUN-4: is told to the run while it goes on", async () => {
    const write = controllableTool({ name: "write", timeoutMs: 10 });
    let answer: () => void = () => undefined;
    const script = [
      ask(callPart("write", "a")),
      () =>
        new Promise<ReturnType<typeof say>>((resolve) => {
          answer = () => resolve(say());
        }),
    ];
    const bench = openAgentBench({ tools: [write], script });
    const { events, finish } = bench.start();
    await bench.advance(10 + 1_000);
    write.pending[0]?.reject(new Error("late"));
    await bench.advance();
    answer();
    await finish();
    expect(eventsOf(events, "toolLateSettled")).toMatchObject([{ callId: "a", returned: false, turn: 1 }]);
    expect(events.at(-1)?.kind).toBe("runEnded");
  });
});

describe("a clock that fails", () => {
  const MOST_LOOKS = 60;

  /** A clock that throws when it is looked at for the nth time. */
  function failingClock(place: number): Clock & { looks(): number } {
    let looks = 0;
    const now = (): number => {
      looks += 1;
      if (looks - 1 === place) throw new Error("no time");
      return 0;
    };
    return { now, setTimer: () => () => undefined, looks: () => looks };
  }

  async function playUnder(clock: Clock) {
    const script = [ask(callPart("read", "a"), callPart("read", "b")), say()];
    const { start } = openAgentBench({ clock, script });
    const { run } = start();
    let result: RunResult | undefined;
    void run.result.then((ended) => {
      result = ended;
    });
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    return result;
  }

  it("RUN-4: is looked at less often than it fails below", async () => {
    const clock = failingClock(-1);
    expect((await playUnder(clock))?.status).toBe("completed");
    expect(clock.looks()).toBeLessThan(MOST_LOOKS);
  });

  it.each(Array.from({ length: MOST_LOOKS }, (_none, place) => place))(
    "RUN-4, RUN-5: at look %i ends the run, never leaves it hanging, and what it leaves is valid",
    async (place) => {
      leaveChartsOpen();
      const result = await playUnder(failingClock(place));
      // What fails where the model is asked is the model's fault, and at the very last nothing is left to spoil.
      expect(["kernelError KERNEL_STUCK", "providerError undefined", "completed undefined"]).toContain(
        `${result?.status} ${result?.error !== undefined && "code" in result.error ? result.error.code : undefined}`,
      );
      expect(findTranscriptFaults(result?.messages ?? [])).toEqual([]);
    },
  );
});

describe("several runs", () => {
  it("RUN-4: of one Agent go side by side, each with its own events, transcript and counts", async () => {
    const bench = openAgentBench({
      model: {
        generate: async ({ messages }) => (messages.length === 1 ? ask("read") : say(JSON.stringify(messages[0]))),
      },
    });
    const runs = ["a", "b", "c"].map((runId) => followRun(bench.agent.run(`say ${runId}`, { runId })));
    for (const [place, followed] of runs.entries()) {
      const { result, events } = await followed.finish();
      const runId = ["a", "b", "c"][place];
      expect(new Set(events.map((event) => event.runId))).toEqual(new Set([runId]));
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index));
      expect([result.runId, result.toolCalls, result.messages.length]).toEqual([runId, 1, 4]);
      expect(result.messages[0]).toEqual({ role: "user", content: `say ${runId}` });
    }
  });

  it("RUN-4: get ids of their own where the host gives none", async () => {
    const bench = openAgentBench({ model: { generate: async () => say() } });
    const ids = [bench.agent.run("a"), bench.agent.run("b")].map(({ runId }) => runId);
    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id) => id !== "")).toBe(true);
    await bench.advance();
  });

  it("RUN-4: may have the id of one that has ended", async () => {
    const bench = openAgentBench({ script: [say("one"), say("two")] });
    expect(endOf(await bench.play())).toBe("completed by noCalls");
    expect(endOf(await bench.play())).toBe("completed by noCalls");
  });

  it("RUN-4: see the host that each was given, and else the Agent's; null is a host", async () => {
    const hosts: unknown[] = [];
    const note = ({ host }: { host: unknown }): undefined => {
      hosts.push(host);
      return undefined;
    };
    const hooks: AgentHooks = { prepareNextTurn: note, authorizeToolCall: note };
    const tool = {
      ...recordingTool().tool,
      execute: (_args: never, { host }: { host: unknown }) => {
        hosts.push(host);
      },
    };
    const bench = openAgentBench({
      tools: [tool],
      hooks,
      host: "agent",
      limits: { maxTurns: 1 },
      model: { generate: async () => ask("read") },
    });
    for (const host of ["run", undefined, null, 0]) await bench.play("go", { host });
    expect(hosts).toEqual(["run", "agent", null, 0].flatMap((host) => [host, host, host]));
  });
});
