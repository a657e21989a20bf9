import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLanes, firstHoldEnd, headsItsLanes, holdLanes, joinLanes, leaveLanes } from "../../src/plan/lanes.ts";
import { entry, lanesOf, type Named } from "../support/lanes-scene.ts";

const names = (entries: readonly Named[]): string[] => entries.map(({ name }) => name);

describe("EPOCH-4: standing in lanes", () => {
  it("the first of each key heads it; who has no key heads all it needs", () => {
    const [a, b, c, d] = [entry("a", ["k"]), entry("b", ["k"]), entry("c", []), entry("d", ["m"])];
    const lanes = lanesOf(a, b, c, d);
    expect([a, b, c, d].map((one) => headsItsLanes(lanes, one, 0))).toEqual([true, false, true, true]);
  });

  it("an entry with several keys heads its lanes only when it heads them all", () => {
    const [a, both, b] = [entry("a", ["a"]), entry("both", ["b", "a"]), entry("b", ["b"])];
    const lanes = lanesOf(a, both, b);
    expect([a, both, b].map((one) => headsItsLanes(lanes, one, 0))).toEqual([true, false, false]);
    expect(names(leaveLanes(lanes, a, 0))).toEqual(["both"]);
    expect(headsItsLanes(lanes, both, 0)).toBe(true);
    expect(names(leaveLanes(lanes, both, 0))).toEqual(["b"]);
  });

  it("who never joined heads nothing", () => {
    expect(headsItsLanes(lanesOf(entry("a", ["k"])), entry("b", ["k"]), 0)).toBe(false);
    expect(headsItsLanes(lanesOf(), entry("b", ["k"]), 0)).toBe(false);
  });

  it("leaving from the middle lets nobody through, and the place closes", () => {
    const [a, b, c] = [entry("a", ["k"]), entry("b", ["k"]), entry("c", ["k"])];
    const lanes = lanesOf(a, b, c);
    leaveLanes(lanes, b, 0);
    expect(headsItsLanes(lanes, c, 0)).toBe(false);
    expect(names(leaveLanes(lanes, a, 0))).toEqual(["c"]);
    expect(headsItsLanes(lanes, c, 0)).toBe(true);
  });

  it("each that may have become startable is answered once, though it waited by several keys", () => {
    const [a, b] = [entry("a", ["k", "m"]), entry("b", ["k", "m"])];
    expect(names(leaveLanes(lanesOf(a, b), a, 0))).toEqual(["b"]);
  });

  it("nothing is left behind when all have left, in whichever order", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...Array(8).keys()], { minLength: 8 }), (order) => {
        const entries = order.map((_, place) => entry(`${place}`, [["a"], ["b", "a"], ["c", "b"]][place % 3] ?? []));
        const lanes = lanesOf(...entries);
        for (const place of order) leaveLanes(lanes, entries[place] ?? entry("none", []), 0);
        expect([lanes.queues.size, lanes.held.size]).toEqual([0, 0]);
      }),
    );
  });

  it("a lane that is always busy keeps no memory of those who have left", () => {
    const lanes = createLanes<Named>();
    let last = entry("first", ["k"]);
    joinLanes(lanes, last);
    for (let count = 0; count < 10_000; count += 1) {
      const next = entry(`${count}`, ["k"]);
      joinLanes(lanes, next);
      leaveLanes(lanes, last, 0);
      last = next;
    }
    expect(lanes.queues.get("k")?.entries.length).toBeLessThan(100);
  });
});

describe("EPOCH-8: holds", () => {
  it("keep writes back until their time is over, let reads pass, and end to the millisecond", () => {
    const [held, write, read] = [entry("held", ["k"]), entry("write", ["k"]), entry("read", ["k"], false)];
    const lanes = lanesOf(held, write);
    holdLanes(lanes, held, { untilMs: 100, nowMs: 10 });
    joinLanes(lanes, read);
    expect([99, 100].map((nowMs) => headsItsLanes(lanes, write, nowMs))).toEqual([false, true]);
    // The read keeps its place behind the write.
    expect(headsItsLanes(lanes, read, 99)).toBe(false);
    leaveLanes(lanes, write, 50);
    expect(headsItsLanes(lanes, read, 50)).toBe(true);
  });

  it("answer who is next when they begin and when they end", () => {
    const [held, read, write] = [entry("held", ["k"]), entry("read", ["k"], false), entry("write", ["k"])];
    const lanes = lanesOf(held, read, write);
    expect(names(holdLanes(lanes, held, { untilMs: 100, nowMs: 0 }))).toEqual(["read"]);
    expect(names(leaveLanes(lanes, read, 0))).toEqual(["write"]);
    expect(headsItsLanes(lanes, write, 0)).toBe(false);
    expect(names(leaveLanes(lanes, held, 0))).toEqual(["write"]);
    expect(headsItsLanes(lanes, write, 0)).toBe(true);
  });

  it("of an entry without a key hold nothing here", () => {
    const held = entry("held", []);
    const lanes = lanesOf(held);
    expect(holdLanes(lanes, held, { untilMs: 100, nowMs: 0 })).toEqual([]);
    expect(lanes.held.size).toBe(0);
  });

  it("that are over already when they begin hold nobody", () => {
    const [held, write] = [entry("held", ["k"]), entry("write", ["k"])];
    const lanes = lanesOf(held, write);
    expect(names(holdLanes(lanes, held, { untilMs: 100, nowMs: 100 }))).toEqual(["write"]);
    expect(headsItsLanes(lanes, write, 100)).toBe(true);
  });

  it("are each forgotten by those who come later, once they are over", () => {
    const [held, write] = [entry("held", ["k"]), entry("write", ["k"])];
    const lanes = lanesOf(held);
    holdLanes(lanes, held, { untilMs: 100, nowMs: 0 });
    joinLanes(lanes, write);
    expect(headsItsLanes(lanes, write, 200)).toBe(true);
    leaveLanes(lanes, write, 200);
    expect([lanes.queues.size, lanes.held.size]).toEqual([0, 0]);
  });

  it("are forgotten at the latest when another begins, though nobody came for their keys", () => {
    const lanes = createLanes<Named>();
    for (let count = 0; count < 100; count += 1) {
      const held = entry(`${count}`, [`k${count}`, "shared"]);
      joinLanes(lanes, held);
      holdLanes(lanes, held, { untilMs: count * 100 + 50, nowMs: count * 100 });
      expect([[...lanes.queues.keys()].sort(), names([...lanes.held])]).toEqual([
        [`k${count}`, "shared"],
        [`${count}`],
      ]);
    }
  });

  it("are over only once: who leaves after that finds nothing of its own", () => {
    const held = entry("held", ["k"]);
    const lanes = lanesOf(held);
    holdLanes(lanes, held, { untilMs: 10, nowMs: 0 });
    expect(firstHoldEnd(lanes, [entry("late", ["k"])], 10)).toBeUndefined();
    expect(lanes.queues.size).toBe(0);
    expect(leaveLanes(lanes, held, 11)).toEqual([]);
  });

  it("on one key end one after another, and the first end is asked for", () => {
    const [long, short, later] = [entry("long", ["k"]), entry("short", ["k"]), entry("later", ["k"])];
    const lanes = lanesOf(long, short, later);
    holdLanes(lanes, long, { untilMs: 50, nowMs: 0 });
    holdLanes(lanes, short, { untilMs: 30, nowMs: 0 });
    expect([0, 29, 30, 49, 50].map((nowMs) => firstHoldEnd(lanes, [later], nowMs))).toEqual([
      30,
      30,
      50,
      50,
      undefined,
    ]);
    expect(headsItsLanes(lanes, later, 50)).toBe(true);
  });

  it("that are over let in nobody who never joined", () => {
    const held = entry("held", ["k"]);
    const lanes = lanesOf(held);
    holdLanes(lanes, held, { untilMs: 10, nowMs: 0 });
    expect(headsItsLanes(lanes, entry("stranger", ["k"]), 10)).toBe(false);
  });

  it("firstHoldEnd: the first end of a hold on any key that somebody waits for", () => {
    const [a, b, other] = [entry("a", ["a"]), entry("b", ["b", "c"]), entry("other", ["x"])];
    const lanes = lanesOf(a, b, other);
    expect(firstHoldEnd(lanes, [entry("w", ["a"])], 0)).toBeUndefined();
    holdLanes(lanes, a, { untilMs: 300, nowMs: 0 });
    holdLanes(lanes, b, { untilMs: 200, nowMs: 0 });
    holdLanes(lanes, other, { untilMs: 100, nowMs: 0 });
    expect(firstHoldEnd(lanes, [entry("w", ["a"])], 0)).toBe(300);
    expect(firstHoldEnd(lanes, [entry("w", ["a"]), entry("v", ["c"])], 0)).toBe(200);
    expect(firstHoldEnd(lanes, [entry("w", ["free"])], 0)).toBeUndefined();
    expect(firstHoldEnd(lanes, [], 0)).toBeUndefined();
    expect(firstHoldEnd(lanes, [entry("w", ["a", "b"])], 200)).toBe(300);
    // What is over is forgotten on the way.
    expect(names([...lanes.held])).toEqual(["a"]);
  });
});
