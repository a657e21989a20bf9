import type { Contender } from "../contender.ts";
import { collectYoungGarbage, cpuMicroseconds } from "../measure/cpu.ts";
import { median } from "../measure/statistics.ts";
import type { Workload } from "../measure/workload.ts";
import { draftMaker, noOp } from "./no-op-calls.ts";

const CALLS_PER_TURN = 3;

/**
 * W2: a whole run by the runtime's own loop, `size` turns with 3 calls each. CPU time per call, and of the
 * last tenth of the turns against the first.
 */
export const longRun: Workload = {
  name: "W2",
  about: "a run of 1,000 turns with 3 calls each",
  prepare: async (contender, size) => {
    const turns = Number(size);
    const play = playRuns(contender);
    // Compiled before it is measured, or the first turns would pay for that.
    const startUs = cpuMicroseconds();
    for (let done = 0; done < WARM_UP_TURNS && cpuMicroseconds() - startUs < WARM_UP_US; done += turns / 10) {
      await play(turns / 10);
    }
    return { round: async () => read(await play(turns)) };
  },
};

const WARM_UP_TURNS = 20_000;
const WARM_UP_US = 3_000_000;

/** Readies a contender to play runs, and answers what plays one of so many turns: CPU time of each turn, in microseconds. */
export function playRuns(contender: Contender): (turns: number) => Promise<readonly number[]> {
  const host = contender.equip({ tools: [noOp], cap: 8 })();
  if (host.converse === undefined) throw new Error(`${contender.name} has no loop of its own`);
  const converse = host.converse.bind(host);
  const makeDrafts = draftMaker();
  return async (turns) => {
    const marks: number[] = [];
    collectYoungGarbage();
    await converse((turn) => {
      marks.push(cpuMicroseconds());
      return turn > turns ? [] : makeDrafts(CALLS_PER_TURN);
    });
    // Mark n was taken when turn n + 1 began.
    return marks.slice(1).map((mark, index) => mark - (marks[index] ?? Number.NaN));
  };
}

/**
 * A tenth is judged by its middle turn: a collection of garbage falls into one tenth or the other by chance,
 * and costs as much as dozens of turns.
 */
function read(costsUs: readonly number[]): Record<string, number> {
  const tenth = costsUs.length / 10;
  const firstUsPerCall = median(costsUs.slice(0, tenth)) / CALLS_PER_TURN;
  const lastUsPerCall = median(costsUs.slice(-tenth)) / CALLS_PER_TURN;
  return {
    cpuUsPerCall: costsUs.reduce((sum, cost) => sum + cost, 0) / costsUs.length / CALLS_PER_TURN,
    firstUsPerCall,
    lastUsPerCall,
    lastToFirst: lastUsPerCall / firstUsPerCall,
  };
}
