/**
 * Measures what the gate judges. Every cost is the least of several rounds: noise of a busy machine only
 * ever makes a round slower, and what is really slower is slower in every round. Turns take some thirty
 * microseconds, too few for that, and are judged by what each takes in the middle of many rounds.
 */
import type { BenchCall, Contender, Host } from "../contender.ts";
import { collectYoungGarbage, cpuMicroseconds } from "../measure/cpu.ts";
import { median } from "../measure/statistics.ts";
import type { Sample } from "../measure/workload.ts";
import { playRuns } from "../workloads/long-run.ts";
import { mixedResponse } from "../workloads/mixed-response.ts";
import { draftMaker, noOp } from "../workloads/no-op-calls.ts";
import type { GateFigures } from "./judge.ts";

const ROUNDS = 5;

/** Measures a contender, which is the kernel but in the gate's own test; allocation is measured elsewhere. */
export async function measureGate(contender: Contender): Promise<Omit<GateFigures, "bytesPerCall">> {
  const mixed = await measureMixed(contender, ROUNDS);
  return {
    growth: await measureGrowth(contender, { calls: 10_000, rounds: ROUNDS }),
    lastToFirst: await measureTurns(contender),
    makespanToIdeal: mixed.toIdeal,
    unsafe: mixed.unsafe,
  };
}

/** How much is measured. */
export interface GrowthOptions {
  /** In the large response, and in all small ones together. */
  readonly calls: number;
  readonly rounds: number;
}

/** CPU per call of all calls in one response, in units of as many calls in responses of 100. */
export async function measureGrowth(contender: Contender, { calls, rounds }: GrowthOptions): Promise<number> {
  const host = contender.equip({ tools: [noOp], cap: 8 })();
  const makeDrafts = draftMaker();
  const spend = async (size: number): Promise<number> => {
    const drafts = Array.from({ length: calls / size }, () => makeDrafts(size));
    collectYoungGarbage();
    const before = cpuMicroseconds();
    for (const draft of drafts) await host.respond(draft);
    return cpuMicroseconds() - before;
  };
  for (let warmUp = 0; warmUp < 6; warmUp++) await spend(100);
  await spend(calls);
  const few: number[] = [];
  const many: number[] = [];
  for (let round = 0; round < rounds; round++) {
    few.push(await spend(100));
    many.push(await spend(calls));
  }
  return Math.min(...many) / Math.min(...few);
}

/** How many runs are played, of how many turns. */
export interface TurnsOptions {
  readonly turns: number;
  /** Until all is compiled, and the memory of a whole run is at hand: the first to touch a page pays for it. */
  readonly warmUps: number;
  readonly rounds: number;
}

const TURNS: TurnsOptions = { turns: 1_000, warmUps: 20, rounds: 31 };

/**
 * CPU of the last tenth of a run's turns, in units of the first. A turn costs what it costs in the middle of
 * all rounds, and a tenth the sum of its turns: the clock counts whole microseconds, which the sum evens out,
 * and what happens by chance, in one round at this turn and in another at that, is in the middle of none.
 */
export async function measureTurns(contender: Contender, options = TURNS): Promise<number> {
  const play = playRuns(contender);
  for (let warmUp = 0; warmUp < options.warmUps; warmUp++) await play(options.turns);
  const rounds: (readonly number[])[] = [];
  for (let round = 0; round < options.rounds; round++) rounds.push(await play(options.turns));
  const costOf = (turn: number): number => median(rounds.map((costs) => costs[turn] ?? Number.NaN));
  const tenth = options.turns / 10;
  const sum = (from: number): number =>
    Array.from({ length: tenth }, (_, turn) => costOf(from + turn)).reduce((total, cost) => total + cost, 0);
  return sum(options.turns - tenth) / sum(0);
}

/**
 * Bytes allocated per call: by how much the heap has grown after 2,000 calls, for which the young generation
 * has room. The middle of the rounds, since the engine may still collect in one of them, and that would look
 * like a call that allocates nothing.
 */
export async function measureAllocation(contender: Contender): Promise<number> {
  const host = contender.equip({ tools: [noOp], cap: 8 })();
  const makeDrafts = draftMaker();
  const draft = (responses: number): BenchCall[][] => Array.from({ length: responses }, () => makeDrafts(100));
  // Code that is still interpreted allocates more than code that is compiled.
  await respondAll(host, draft(600));
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const drafts = draft(20);
    collectYoungGarbage();
    const before = process.memoryUsage().heapUsed;
    await respondAll(host, drafts);
    rounds.push((process.memoryUsage().heapUsed - before) / 2_000);
  }
  return median(rounds);
}

async function respondAll(host: Host, drafts: readonly BenchCall[][]): Promise<void> {
  for (const calls of drafts) await host.respond(calls);
}

/** Makespan of the mixed response against its ideal at best, and what was unsafe at worst. */
export async function measureMixed(
  contender: Contender,
  rounds: number,
): Promise<{ readonly toIdeal: number; readonly unsafe: number }> {
  const bout = await mixedResponse.prepare(contender, "60");
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round++) samples.push(await bout.round());
  // What is forbidden may not happen once.
  return { toIdeal: least(samples, "toIdeal"), unsafe: Math.max(...samples.map(countUnsafe)) };
}

function countUnsafe(sample: Sample): number {
  return Object.entries(sample)
    .filter(([field]) => /overlaps|lost|misreported/i.test(field))
    .reduce((sum, [, count]) => sum + count, 0);
}

function least(samples: readonly Sample[], field: string): number {
  return Math.min(...samples.map((sample) => sample[field] ?? Number.NaN));
}
