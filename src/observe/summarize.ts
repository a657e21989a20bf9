import { readGiven } from "../domain/check-options.ts";
import type { KernelEvent } from "../domain/event.ts";
import { addSummaries, type GameAgentPerformanceSummary } from "./performance-summary.ts";
import { PerformanceTally } from "./performance-tally.ts";
import type { RecordedEvent } from "./recorded-event.ts";

/**
 * Sums up what runs did, from live events and from recordings alike (OBS-4): counts and times of all runs
 * are added.
 * **shape**: events of different runs may stand in one list, and one run's batches in several; they are told
 * apart by run id.
 * **order**: the events of a run in the order they were emitted.
 * @throws KernelError `INVALID_OPTIONS` for anything but lists of events.
 */
export function summarize(runs: Iterable<Iterable<KernelEvent | RecordedEvent>>): GameAgentPerformanceSummary {
  return readGiven("runs", () => {
    const tallies = new Map<string, PerformanceTally>();
    for (const events of runs) {
      for (const event of events) {
        const tally = tallies.get(event.runId) ?? new PerformanceTally();
        tallies.set(event.runId, tally);
        tally.add(event);
      }
    }
    return addSummaries([...tallies.values()].map((tally) => tally.summary()));
  });
}
