import { describe, expect, it } from "vitest";
import type { Connections } from "../../src/journal/postgres/connections.ts";
import { OwnerLease } from "../../src/journal/postgres/owner-lease.ts";
import { trackedClock } from "../support/tracked.ts";

/** A lease of 30 s with a beat every 5 s, whose beats the test answers. */
async function openLease() {
  const simulated = trackedClock();
  const beats: (() => void)[] = [];
  const rows = [{ owner: "owner" }];
  const connections = {
    repeatable: async () => ({ rows }),
    once: () => new Promise((resolve) => beats.push(() => resolve({ rows }))),
  } as unknown as Connections; // as much of it as a lease asks
  const lease = new OwnerLease({
    connections,
    schema: "schema",
    clock: simulated.clock,
    lease: { leaseMs: 30_000, heartbeatMs: 5_000 },
  });
  await lease.owner();
  return { lease, beats, simulated };
}

describe("the heart of a lease", () => {
  it("ACT-5: beats once at a time, though actions end and begin while a beat is under way", async () => {
    const { lease, beats, simulated } = await openLease();
    lease.enter();
    for (let round = 1; round <= 5; round += 1) {
      await simulated.advance(5_000);
      lease.leave();
      lease.enter();
      beats.at(-1)?.();
      await simulated.advance(0);
      expect([round, simulated.pendingTimers(), beats.length]).toEqual([round, 1, round]);
    }
    lease.leave();
  });

  it("ACT-5: stands still when nothing is in flight, though a beat is answered after that", async () => {
    const { lease, beats, simulated } = await openLease();
    lease.enter();
    await simulated.advance(5_000);
    lease.leave();
    beats[0]?.();
    await simulated.advance(30_000);
    expect([simulated.pendingTimers(), beats.length]).toEqual([0, 1]);
    expect(lease.isHeld()).toBe(false);
  });
});
