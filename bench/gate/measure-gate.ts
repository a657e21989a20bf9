/**
 * Measures what the gate judges. Every figure is the best of several rounds: noise of a busy machine only
 * ever makes a round slower, and what is really slower is slower in every round.
 */
import type { BenchCall, Contender, Host } from "../contender.ts";
import { collectYoungGarbage, cpuMicroseconds } from "../measure/cpu.ts";
import type { Sample } from "../measure/workload.ts";
import { longRun } from "../workloads/long-run.ts";
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

/** CPU of the last tenth of 1,000 turns, in units of the first. */
export async function measureTurns(contender: Contender): Promise<number> {
  const bout = await longRun.prepare(contender, "1000");
  const samples: Sample[] = [];
  for (let round = 0; round < ROUNDS; round++) samples.push(await bout.round());
  return least(samples, "lastUsPerCall") / least(samples, "firstUsPerCall");
}

/**
 * Bytes allocated per call: by how much the heap has grown after 2,000 calls during which nothing was
 * collected; the young generation has to have room for them all.
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
  return Math.min(...rounds);
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
