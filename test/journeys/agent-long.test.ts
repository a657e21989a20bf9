import type { AgentHooks, Clock, KernelEvent, ModelProvider } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, openAgentBench, say, toldMessages } from "../support/agent-bench.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

const TURNS = 1_000;

const limits = { maxTurns: TURNS + 1, maxMessages: 10_000, maxToolCalls: 10_000 };
const hooks: AgentHooks = { prepareNextTurn: () => undefined, shouldStopAfterTurn: () => false };

/** A model that asks for two reads a turn, each of something else, and tells when it is asked. */
function longModel(onTurn: (turn: number) => void): ModelProvider {
  return {
    generate: async ({ turn }, { emit }) => {
      onTurn(turn);
      if (turn > TURNS) return say("done");
      emit({ type: "text", text: "next" });
      return ask(callPart("read", `a${turn}`, { turn }), callPart("read", `b${turn}`, { turn, again: true }));
    },
  };
}

describe("a run of a thousand turns", () => {
  it("RUN-1, RUN-5: has every message once in its events and once in its transcript, which is valid", async () => {
    const { play } = openAgentBench({ model: longModel(() => undefined), limits, hooks });
    const { result, events } = await play();
    expect(endOf({ result })).toBe("completed by noCalls");
    expect([result.turns, result.toolCalls, result.messages.length]).toEqual([TURNS + 1, TURNS * 2, TURNS * 3 + 2]);
    const told = toldMessages(events);
    expect(told.length).toBe(result.messages.length);
    expect(told.every((message, place) => message === result.messages[place])).toBe(true);
    expect(new Set(told).size).toBe(told.length);
    expect(findTranscriptFaults(result.messages)).toEqual([]);
  });

  it("RUN-1: does the same work in every turn: the same events, looks at the clock and timers", async () => {
    const work: { events: number; looks: number; timers: number }[] = [];
    let now = { events: 0, looks: 0, timers: 0 };
    const clock: Clock = {
      now: () => {
        now.looks += 1;
        return 0;
      },
      setTimer: () => {
        now.timers += 1;
        return () => undefined;
      },
    };
    const model = longModel(() => {
      work.push(now);
      now = { events: 0, looks: 0, timers: 0 };
    });
    const { agent } = openAgentBench({ model, limits, hooks, clock });
    const run = agent.run("go");
    run.subscribe((_event: KernelEvent) => {
      now.events += 1;
    });
    await run.result;
    // The first one is what comes before the first request.
    const [, first, ...others] = work;
    expect(first?.events).toBeGreaterThan(10);
    expect(others.filter(({ events }) => events !== first?.events)).toEqual([]);
    expect(others.filter(({ looks }) => looks !== first?.looks)).toEqual([]);
    expect(others.filter(({ timers }) => timers !== first?.timers)).toEqual([]);
  });
});
