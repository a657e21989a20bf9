import type { BenchCall, Host } from "../contender.ts";
import type { Workload } from "../measure/workload.ts";
import { idealMakespan } from "../safety/ideal.ts";
import { mixedCalls, mixedTools } from "../safety/mixed-calls.ts";
import { type Damage, World, wait } from "../safety/world.ts";

const CAP = 8;
/** How long every call takes, in milliseconds. */
export const CALL_MS = 10;
/** When the response is aborted, where it is: while the first calls are at work. */
const ABORT_AFTER_MS = 5;

/**
 * W3: 40 reads, 12 writes on 4 keys and 8 barriers of 10 ms each, at fixed places, against the makespan
 * that the rules allow at best for the time that each call really took; and what overlapped or was lost.
 */
export const mixedResponse: Workload = {
  name: "W3",
  about: "60 calls of 10 ms: reads, writes on 4 keys, barriers",
  prepare: async (contender) => {
    const world = new World();
    const host = contender.equip({ tools: mixedTools(world, CALL_MS), cap: CAP })();
    let run = 0;
    return {
      round: async () => {
        const whole = await play(host, world, ++run, undefined);
        const durationMs = ({ id }: BenchCall): number => world.durationsMs.get(id) ?? CALL_MS;
        const idealMs = idealMakespan(mixedCalls(run), { cap: CAP, durationMs });
        const aborted = await play(host, world, ++run, ABORT_AFTER_MS);
        return {
          makespanMs: whole.makespanMs,
          idealMs,
          toIdeal: whole.makespanMs / idealMs,
          keyOverlaps: whole.keyOverlaps,
          barrierOverlaps: whole.barrierOverlaps,
          lostUpdates: whole.lostUpdates,
          lostResults: whole.lostResults,
          abortLostResults: aborted.lostResults,
          abortMisreported: aborted.misreported,
          abortKeyOverlaps: aborted.keyOverlaps,
          abortBarrierOverlaps: aborted.barrierOverlaps,
        };
      },
    };
  },
};

interface Play extends Damage {
  readonly makespanMs: number;
}

async function play(host: Host, world: World, run: number, abortAfterMs: number | undefined): Promise<Play> {
  world.reset();
  const calls = mixedCalls(run);
  const controller = new AbortController();
  const abort = abortAfterMs === undefined ? undefined : wait(abortAfterMs).then(() => controller.abort());
  const startedMs = performance.now();
  let results: unknown;
  let makespanMs: number;
  try {
    results = await host.respond(calls, abort === undefined ? undefined : controller.signal);
  } catch {
    // A runtime that throws when it is aborted has no results to show.
  } finally {
    makespanMs = performance.now() - startedMs;
  }
  await abort;
  // What was started goes on, whatever the runtime has answered.
  await world.settled();
  return { makespanMs, ...world.count(calls, results === undefined ? [] : host.answers(results)) };
}
