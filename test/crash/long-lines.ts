/** What the process of the test of long lives is told, and what it says. */
import type { StoreAddress } from "./store.ts";
import type { Counts } from "./store-meter.ts";

/** What a process is told to do. */
export interface LongOrders {
  readonly store: StoreAddress;
  readonly operations: number;
  readonly keys: number;
  readonly seed: number;
}

/** What something cost, and how long it took, which is for people. */
export interface Cost extends Counts {
  readonly ms: number;
  readonly cpuMs: number;
}

/** A line that it says: one thing that it has found. */
export type LongSaid =
  | { readonly cost: string; readonly of: Cost }
  | { readonly heap: number; readonly after: number }
  | { readonly found: string; readonly count: number };

/** Actions whose cost is counted. */
export const COUNTED = 2_000;
/** Actions that are left under way. */
export const LEFT = 1_000;
