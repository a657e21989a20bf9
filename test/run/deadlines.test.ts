import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { steadyClock, systemClock } from "../../src/run/clock.ts";
import { type Deadline, Deadlines } from "../../src/run/deadlines.ts";

/** A clock that is moved by hand, and tells which timers it was asked for. */
function handClock() {
  const timers: { readonly atMs: number; readonly run: () => void; isOpen: boolean }[] = [];
  let nowMs = 0;
  return {
    asked: timers,
    open: (): number[] => timers.filter(({ isOpen }) => isOpen).map(({ atMs }) => atMs),
    now: () => nowMs,
    setTimer(atMs: number, run: () => void) {
      const timer = { atMs, run, isOpen: true };
      timers.push(timer);
      return () => {
        timer.isOpen = false;
      };
    },
    /** Moves to a time and runs the timers that are due by then. */
    moveTo(toMs: number): void {
      nowMs = toMs;
      const due = (): (typeof timers)[number] | undefined =>
        timers.find((timer) => timer.isOpen && timer.atMs <= nowMs);
      for (let timer = due(); timer !== undefined; timer = due()) {
        timer.isOpen = false;
        timer.run();
      }
    },
  };
}

describe("the deadlines of a session", () => {
  it("CAN-2: run once each, by time and then by arming, on one timer for the first of them", () => {
    const clock = handClock();
    const deadlines = new Deadlines(clock);
    const ran: string[] = [];
    for (const [name, atMs] of [
      ["c", 30],
      ["a", 10],
      ["b", 20],
      ["a2", 10],
    ] as const)
      deadlines.arm(atMs, () => ran.push(name));
    expect(clock.asked.map(({ atMs }) => atMs)).toEqual([30, 10]);
    expect(clock.open()).toEqual([10]);
    clock.moveTo(9);
    expect(ran).toEqual([]);
    clock.moveTo(10);
    expect([ran, clock.open()]).toEqual([["a", "a2"], [20]]);
    clock.moveTo(40);
    expect([ran, clock.open()]).toEqual([["a", "a2", "b", "c"], []]);
    expect(clock.asked).toHaveLength(3);
  });

  it("CAN-2: taken back, run no more, and the last of them takes the timer with it", () => {
    const clock = handClock();
    const deadlines = new Deadlines(clock);
    const run = vi.fn();
    const [first, second] = [deadlines.arm(10, run), deadlines.arm(20, run)];
    deadlines.disarm(first);
    deadlines.disarm(first);
    deadlines.disarm(undefined);
    expect(clock.open()).toEqual([10]);
    deadlines.disarm(second);
    expect(clock.open()).toEqual([]);
    deadlines.arm(30, run);
    expect(clock.open()).toEqual([30]);
    clock.moveTo(25);
    expect(run).not.toHaveBeenCalled();
    clock.moveTo(30);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("CAN-2: armed while one runs, ask for one timer, and for none beside it", () => {
    const clock = handClock();
    const deadlines = new Deadlines(clock);
    const ran: string[] = [];
    deadlines.arm(10, () => {
      deadlines.arm(15, () => ran.push("inner"));
      deadlines.arm(5, () => ran.push("due"));
    });
    deadlines.arm(40, () => ran.push("outer"));
    clock.moveTo(10);
    expect([ran, clock.open()]).toEqual([["due"], [15]]);
    clock.moveTo(15);
    expect([ran, clock.open()]).toEqual([["due", "inner"], [40]]);
    clock.moveTo(40);
    expect([ran, clock.open()]).toEqual([["due", "inner", "outer"], []]);
  });

  it("CAN-2: hundreds of them, armed and taken back at random, run as a plain list of them would", () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ arm: fc.nat(300) }) },
      { weight: 3, arbitrary: fc.record({ takeBack: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ wait: fc.nat(20) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 100, maxLength: 400, size: "max" }), (steps) => {
        const clock = handClock();
        const deadlines = new Deadlines(clock);
        const armed: { readonly deadline: Deadline; readonly name: number }[] = [];
        let live: { readonly atMs: number; readonly name: number }[] = [];
        const ran: number[] = [];
        const expected: number[] = [];
        for (const one of steps) {
          if ("arm" in one) {
            const [name, atMs] = [armed.length, clock.now() + one.arm];
            armed.push({ deadline: deadlines.arm(atMs, () => ran.push(name)), name });
            live.push({ atMs, name });
          } else if ("takeBack" in one) {
            const given = armed[one.takeBack % Math.max(1, armed.length)];
            deadlines.disarm(given?.deadline);
            live = live.filter(({ name }) => name !== given?.name);
          } else {
            const nowMs = clock.now() + one.wait;
            clock.moveTo(nowMs);
            const due = live.filter(({ atMs }) => atMs <= nowMs);
            expected.push(
              ...due.sort((left, right) => left.atMs - right.atMs || left.name - right.name).map(({ name }) => name),
            );
            live = live.filter(({ atMs }) => atMs > nowMs);
            expect(clock.open()).toHaveLength(live.length > 0 ? 1 : 0);
          }
          expect(ran).toEqual(expected);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe("the clock of the platform", () => {
  beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => vi.useRealTimers());

  const LONGEST_MS = 2_147_483_647;

  it.each([
    ["a moment", 5],
    ["the longest delay that a timer of the platform takes", LONGEST_MS],
    ["a longer delay, by several timers", LONGEST_MS + 5],
    ["no time, where the time has passed", -5],
  ])("CAN-2: runs after %s, not before", (_name, delayMs) => {
    const set = vi.spyOn(globalThis, "setTimeout");
    const run = vi.fn();
    systemClock.setTimer(1_000_000 + delayMs, run);
    expect(set.mock.calls.map(([, askedMs]) => askedMs)).toEqual([Math.min(Math.max(0, delayMs), LONGEST_MS)]);
    if (delayMs > 0) {
      vi.advanceTimersByTime(delayMs - 1);
      expect(run).not.toHaveBeenCalled();
    }
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledTimes(1);
    expect(set).toHaveBeenCalledTimes(delayMs > LONGEST_MS ? 2 : 1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("CAN-2: runs nothing that was taken back, however far away it was", () => {
    for (const delayMs of [5, LONGEST_MS + 5]) {
      const run = vi.fn();
      systemClock.setTimer(systemClock.now() + delayMs, run)();
      expect(vi.getTimerCount()).toBe(0);
      const late = systemClock.setTimer(systemClock.now() + LONGEST_MS + 5, run);
      vi.advanceTimersByTime(LONGEST_MS);
      late();
      vi.advanceTimersByTime(LONGEST_MS);
      expect(run).not.toHaveBeenCalled();
    }
  });

  it("CAN-2: is measured by time that passes, and an injected one by itself", () => {
    const own = { now: () => 7, setTimer: () => () => undefined };
    expect(steadyClock(own)).toBe(own);
    expect(steadyClock()).toBe(steadyClock(systemClock));
    expect(steadyClock()).not.toBe(systemClock);
    const beforeMs = steadyClock().now();
    vi.setSystemTime(9_000_000);
    expect(steadyClock().now()).toBe(beforeMs);
    vi.advanceTimersByTime(12);
    expect(steadyClock().now()).toBe(beforeMs + 12);
  });
});
