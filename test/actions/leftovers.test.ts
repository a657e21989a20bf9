import { describe, expect, it } from "vitest";
import { Leftovers } from "../../src/actions/leftovers.ts";
import { trackedClock } from "../support/tracked.ts";
import { gate } from "./rig.ts";

describe("what nobody waits for any more", () => {
  it("ACT-6: is done one after another, and all of it dropped once it is of no use", async () => {
    const simulated = trackedClock();
    let isUseful = true;
    const leftovers = new Leftovers(simulated.clock, () => isUseful);
    const taken: string[] = [];
    const first = gate();
    const step = (name: string) => async () => void taken.push(name);
    leftovers.add(async () => {
      taken.push("a");
      await first.opened;
    });
    for (const name of ["b", "c", "d"]) leftovers.add(step(name));
    await simulated.advance(0);
    expect(taken).toEqual(["a"]);
    isUseful = false;
    first.open();
    await simulated.advance(0);
    // Never so with a journal, which stays closed; it shows what is still kept.
    isUseful = true;
    leftovers.add(step("e"));
    await simulated.advance(0);
    expect(taken).toEqual(["a", "e"]);
  });
});
