import { simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";

const START_MS = Date.UTC(2026, 0, 1);

describe("simulatedClock", () => {
  it("starts at the same time always and stands still until it is moved", async () => {
    const { clock, advance } = simulatedClock();
    expect(clock.now()).toBe(START_MS);
    await advance(0);
    expect(clock.now()).toBe(START_MS);
    await advance(1_500);
    expect(clock.now()).toBe(START_MS + 1_500);
  });

  it("runs due timers in order of their time, those of one time in the order they were set", async () => {
    const { clock, advance, pendingTimers } = simulatedClock();
    const ran: string[] = [];
    const note = (name: string) => () => ran.push(`${name} at ${clock.now() - START_MS}`);
    clock.setTimer(START_MS + 20, note("late"));
    clock.setTimer(START_MS + 10, note("first"));
    clock.setTimer(START_MS + 10, note("second"));
    clock.setTimer(START_MS + 21, note("beyond"));
    await advance(20);
    expect(ran).toEqual(["first at 10", "second at 10", "late at 20"]);
    expect(pendingTimers()).toBe(1);
  });

  it("runs what promises alone can reach between two timers", async () => {
    const { clock, advance } = simulatedClock();
    const ran: string[] = [];
    clock.setTimer(START_MS + 1, () => {
      void Promise.resolve()
        .then(() => ran.push("reached"))
        .then(() => ran.push("reached next"));
    });
    clock.setTimer(START_MS + 2, () => ran.push("second timer"));
    await advance(2);
    expect(ran).toEqual(["reached", "reached next", "second timer"]);
  });

  it("runs timers set on the way that come due within the same move", async () => {
    const { clock, advance } = simulatedClock();
    const ranAt: number[] = [];
    const again = (): void => {
      ranAt.push(clock.now() - START_MS);
      clock.setTimer(clock.now() + 10, again);
    };
    clock.setTimer(START_MS + 10, again);
    await advance(35);
    expect(ranAt).toEqual([10, 20, 30]);
  });

  it("never runs a timer that was taken back, and takes back twice without harm", async () => {
    const { clock, advance, pendingTimers } = simulatedClock();
    const ran: string[] = [];
    const takeBack = clock.setTimer(START_MS + 5, () => ran.push("taken back"));
    clock.setTimer(START_MS + 4, () => {
      takeBack();
      takeBack();
    });
    await advance(10);
    expect(ran).toEqual([]);
    expect(pendingTimers()).toBe(0);
  });

  it("runs a timer whose time has passed at the next move, without going back", async () => {
    const { clock, advance } = simulatedClock();
    await advance(100);
    const ranAt: number[] = [];
    clock.setTimer(START_MS + 1, () => ranAt.push(clock.now() - START_MS));
    await advance(0);
    expect(ranAt).toEqual([100]);
  });

  it("moves one after the other when two moves are asked for at once", async () => {
    const { clock, advance } = simulatedClock();
    await Promise.all([advance(10), advance(5)]);
    expect(clock.now()).toBe(START_MS + 15);
  });

  it("passes on what a timer throws, and can be moved again", async () => {
    const { clock, advance } = simulatedClock();
    clock.setTimer(START_MS + 1, () => {
      throw new Error("from the timer");
    });
    await expect(advance(2)).rejects.toThrow("from the timer");
    await advance(1);
    expect(clock.now()).toBe(START_MS + 2);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("refuses to move by %s", async (ms) => {
    await expect(simulatedClock().advance(ms)).rejects.toMatchObject({ code: "INVALID_OPTIONS", subject: "ms" });
  });
});
