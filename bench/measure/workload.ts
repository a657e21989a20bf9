import type { Contender } from "../contender.ts";

/** What one round of a workload measured, by name; units stand in the names. */
export type Sample = Readonly<Record<string, number>>;

/** A workload with one contender, ready to be measured again and again. */
export interface Bout {
  /** One measured round; the first ones are thrown away. */
  round(): Promise<Sample>;
}

/** A workload. `size` says how much of it, and of what unit `sizes` are the workload's own affair. */
export interface Workload {
  readonly name: string;
  /** What it does, in a line. */
  readonly about: string;
  prepare(contender: Contender, size: string): Promise<Bout>;
}
