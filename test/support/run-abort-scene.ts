import { expect } from "vitest";
import type { PlayedRun } from "./agent-bench.ts";
import { eventsOf } from "./run-calls.ts";
import { findTranscriptFaults } from "./valid-transcript.ts";

/** What holds after every abort, whenever it came. */
export function expectAborted({ result, events }: PlayedRun, reason: unknown): void {
  expect([result.status, result.endedBy, result.abortReason]).toEqual(["aborted", "abort", reason]);
  expect(result).not.toHaveProperty("error");
  expect(findTranscriptFaults(result.messages)).toEqual([]);
  expect(eventsOf(events, "runStarted")).toHaveLength(1);
  expect(eventsOf(events, "runEnded")).toMatchObject([{ status: "aborted", endedBy: "abort" }]);
  expect(events.at(-1)?.kind).toBe("runEnded");
  const dispatched = eventsOf(events, "toolDispatched").map(({ callId }) => callId);
  expect(eventsOf(events, "toolEnded").map(({ callId }) => callId)).toEqual(expect.arrayContaining(dispatched));
}
