import { describe, expect, it } from "vitest";
import type { JournalState } from "../../src/domain/journal.ts";
import { memoryJournal } from "../../src/journal/memory.ts";
import { MemoryTables } from "../../src/journal/memory-tables.ts";
import { testJournal } from "../../src/testing/journal-suite.ts";
import { trackedClock } from "../support/tracked.ts";
import { chartEdges, JOURNAL_STATES } from "./chart-edges.ts";

describe("the memory journal keeps to the protocol", () => {
  for (const { name, run } of testJournal(async () => memoryJournal())) it(name, run);
});

describe("the memory journal", () => {
  it("refuses an option that is none", () => {
    expect(() => memoryJournal({ clok: trackedClock().clock } as never)).toThrow("clok");
  });

  it("ACT-2: changes an entry along the edges of the chart and refuses every other change itself", () => {
    const allowed = JOURNAL_STATES.flatMap((before) =>
      JOURNAL_STATES.filter((after) => isChangeAllowed(before, after)).map((after) => `${before} -> ${after}`),
    );
    expect(allowed).toEqual(chartEdges().filter((edge) => !edge.startsWith("new ")));
  });

  it("ACT-10: takes its times from the clock it was given", async () => {
    const { clock, advance } = trackedClock();
    const journal = memoryJournal({ clock });
    const startMs = clock.now();
    await journal.protocol.claim({ operationId: "a", claimId: "c", intentHash: "h", intentText: "{}", scopes: [] });
    await advance(1_000);
    await journal.protocol.withdraw({ operationId: "a", claimId: "c", receipt: failedReceipt("a") });
    expect(await journal.find("a")).toMatchObject({ createdAtMs: startMs, updatedAtMs: startMs + 1_000 });
  });
});

function isChangeAllowed(before: JournalState, after: JournalState): boolean {
  const tables = new MemoryTables(trackedClock().clock);
  const request = { operationId: "a", claimId: "c", intentHash: "h", intentText: "{}", scopes: [] };
  tables.put(request, "prepared", 1);
  // The entry as it would stand in each state, however it got there.
  const stored = { ...tables.need("a"), state: before };
  try {
    return tables.change(stored, { state: after }).state === after;
  } catch {
    return false;
  }
}

function failedReceipt(operationId: string) {
  const moment = { timelineId: "main", tick: 1 };
  return { operationId, moment, status: "failed", result: null, code: "no", message: "No." } as const;
}
