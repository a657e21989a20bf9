/**
 * Whether a pool can spare a connection for good.
 * Owns: how many connections of each pool were given away like that. Invariant: one is left for
 * statements; whoever would take that one has to do without.
 */
import type { PostgresPool } from "./pool.ts";

const taken = new WeakMap<PostgresPool, number>();

/** Takes a connection's place out of a pool, and returns whether there was one to spare; see {@link returnSpare}. */
export function takeSpare(pool: PostgresPool): boolean {
  const count = taken.get(pool) ?? 0;
  if (count + 1 >= sizeOf(pool)) return false;
  taken.set(pool, count + 1);
  return true;
}

/** Puts back what {@link takeSpare} took. */
export function returnSpare(pool: PostgresPool): void {
  taken.set(pool, Math.max(0, (taken.get(pool) ?? 0) - 1));
}

/** As the pool says it; one that does not say may have no more than the one that statements need. */
function sizeOf({ options }: PostgresPool): number {
  const max: unknown = options?.max;
  return typeof max === "number" ? max : 1;
}
