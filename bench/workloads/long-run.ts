import { collectYoungGarbage, cpuMicroseconds } from "../measure/cpu.ts";
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
    const host = contender.equip({ tools: [noOp], cap: 8 })();
    if (host.converse === undefined) throw new Error(`${contender.name} has no loop of its own`);
    const converse = host.converse.bind(host);
    const makeDrafts = draftMaker();
    const play = async (length: number): Promise<readonly number[]> => {
      const marks: number[] = [];
      collectYoungGarbage();
      await converse((turn) => {
        marks.push(cpuMicroseconds());
        return turn > length ? [] : makeDrafts(CALLS_PER_TURN);
      });
      return marks;
    };
    // Compiled before it is measured, or the first turns would pay for that.
    const startUs = cpuMicroseconds();
    for (let done = 0; done < WARM_UP_TURNS && cpuMicroseconds() - startUs < WARM_UP_US; done += turns / 10) {
      await play(turns / 10);
    }
    return { round: async () => read(await play(turns), turns) };
  },
};

const WARM_UP_TURNS = 20_000;
const WARM_UP_US = 3_000_000;

/** `marks[n]` was taken when turn n + 1 began. */
function read(marks: readonly number[], turns: number): Record<string, number> {
  const spent = (from: number, to: number): number => (marks[to] ?? Number.NaN) - (marks[from] ?? Number.NaN);
  const tenth = turns / 10;
  const firstUs = spent(0, tenth);
  const lastUs = spent(turns - tenth, turns);
  return {
    cpuUsPerCall: spent(0, turns) / (turns * CALLS_PER_TURN),
    firstUsPerCall: firstUs / (tenth * CALLS_PER_TURN),
    lastUsPerCall: lastUs / (tenth * CALLS_PER_TURN),
    lastToFirst: lastUs / firstUs,
  };
}
