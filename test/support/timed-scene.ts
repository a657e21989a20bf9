import { afterAll, beforeAll, beforeEach } from "vitest";
import { type CutPool, openCutPool } from "../journal/cut-pool.ts";
import { startTimedPostgres, type TimedPostgres } from "./faked-time.ts";

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** Other times to set a clock to, and how much later than the true one they are. */
export const JUMPS = [
  ["an hour ahead", HOUR_MS],
  ["an hour back", -HOUR_MS],
  ["a year ahead", YEAR_MS],
  ["a year back", -YEAR_MS],
] as const;
/** Those of them that are earlier. */
export const BACK = JUMPS.filter(([, ms]) => ms < 0);
/** A lease that tests can wait for. */
export const SHORT = { leaseMs: 400, heartbeatMs: 100 };

/** The server of a test file whose clock can be set, and what is in it. */
export interface TimedScene {
  readonly server: Pick<TimedPostgres, "url" | "setClock">;
  /** Options for a schema of the running test's own. */
  here(options?: object): { readonly schema: string };
  /** A pool whose process dies when it is cut off: nothing more is heard of it. */
  mortalPool(): CutPool;
}

/** A server that is started before the tests of a group and stopped behind them; each test finds its clock right. */
export function setTimedScene(): TimedScene {
  let started: TimedPostgres | undefined;
  const pools: CutPool[] = [];
  let schemas = 0;
  const current = (): TimedPostgres => {
    if (started === undefined) throw new Error("the server is there while tests run");
    return started;
  };
  beforeAll(async () => {
    started = await startTimedPostgres();
  });
  afterAll(async () => {
    // First the server: a pool waits for ever for connections that a test which failed has not given back.
    await started?.stop();
    for (const pool of pools) void pool.end();
  });
  beforeEach(() => {
    current().setClock(0);
    schemas += 1;
  });
  return {
    server: {
      get url() {
        return current().url;
      },
      setClock: (aheadMs) => current().setClock(aheadMs),
    },
    here: (options = {}) => ({ schema: `clocks_${schemas}`, ...options }),
    mortalPool: () => {
      const pool = openCutPool(current().url);
      pools.push(pool);
      return pool;
    },
  };
}
