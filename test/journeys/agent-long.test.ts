import { type AgentHooks, type Clock, type KernelEvent, type ModelProvider, systemClock } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, openAgentBench, say, toldMessages } from "../support/agent-bench.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

const TURNS = 1_000;
const WINDOW = 100;
const ROUNDS = 6;
const MOST_GROWTH = 1.2;

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

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}

/** How much more a turn of the last hundred costs than one of the first, by the medians of their CPU time. */
async function measureGrowth(): Promise<number> {
  const startedAt: number[] = [];
  const model = longModel(() => {
    const { user, system } = process.cpuUsage();
    startedAt.push(user + system);
  });
  const { agent } = openAgentBench({ model, limits, hooks, clock: systemClock });
  const { status } = await agent.run("go").result;
  expect([status, startedAt.length]).toEqual(["completed", TURNS + 1]);
  const costs = startedAt.slice(1).map((at, place) => at - (startedAt[place] ?? 0));
  return median(costs.slice(-WINDOW)) / median(costs.slice(0, WINDOW));
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

  // A busy machine makes single rounds slow anywhere; growth would be in all of them.
  it("RUN-1: costs at the end at most a fifth more than at the beginning", { timeout: 120_000 }, async () => {
    await measureGrowth(); // until all of it is compiled
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS && best > MOST_GROWTH; round++) best = Math.min(best, await measureGrowth());
    expect(best).toBeLessThanOrEqual(MOST_GROWTH);
  });
});
