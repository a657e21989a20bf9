import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import type { BoutRecord } from "./run-bouts.ts";
import { median, medianRatio } from "./statistics.ts";

/** One workload in one size, with what each contender came to. */
export interface BoutResult {
  readonly workload: string;
  readonly size: string;
  readonly records: readonly BoutRecord[];
}

/** What one run of the bench found. */
export interface BenchResults {
  readonly dateUtc: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGb: number;
    /** Of the last minute, when the run began and when it ended: how busy others kept the machine. */
    readonly loadAverages: readonly number[];
  };
  readonly node: string;
  readonly bouts: readonly BoutResult[];
}

/** Describes this machine, and when it was. */
export function describeRun(startLoad: number, bouts: readonly BoutResult[]): BenchResults {
  return {
    dateUtc: new Date().toISOString().slice(0, 16),
    machine: {
      cpu: cpus()[0]?.model ?? "unknown",
      cores: availableParallelism(),
      memoryGb: Math.round(totalmem() / 2 ** 30),
      loadAverages: [startLoad, loadNow()],
    },
    node: process.version,
    bouts,
  };
}

/** The load of the last minute. */
export function loadNow(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}

/** The median of a figure of a contender; NaN if there is none. */
export function figureOf(bout: BoutResult | undefined, contender: string, field: string): number {
  return median(valuesOf(bout, contender, field));
}

/** The least of a contender's figures: what it takes when nothing comes between. NaN if there is none. */
export function leastOf(bout: BoutResult | undefined, contender: string, field: string): number {
  const values = valuesOf(bout, contender, field);
  return values.length === 0 ? Number.NaN : Math.min(...values);
}

/** The median, over rounds, of a contender's figure in units of another's in the same round. */
export function ratioOf(bout: BoutResult | undefined, contenders: readonly [string, string], field: string): number {
  const [contender, baseline] = contenders;
  return medianRatio(valuesOf(bout, contender, field), valuesOf(bout, baseline, field));
}

function valuesOf(bout: BoutResult | undefined, contender: string, field: string): number[] {
  const record = bout?.records.find((each) => each.contender === contender);
  return (record?.samples ?? []).flatMap((sample) => sample[field] ?? []);
}
