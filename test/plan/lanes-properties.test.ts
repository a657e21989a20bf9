import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLanes, headsItsLanes, holdLanes, joinLanes, leaveLanes } from "../../src/plan/lanes.ts";
import { entry, lanesOf, type Named } from "../support/lanes-scene.ts";

/**
 * The lanes as one would write them without a thought of speed: a list per key; an entry may start when
 * nobody who stands before it on any of its keys is in its way.
 */
class PlainLanes {
  readonly standing: Named[] = [];
  /** Until when those hold that are held. */
  readonly holds = new Map<Named, number>();

  canStart(one: Named, nowMs: number): boolean {
    const place = this.standing.indexOf(one);
    return this.standing.slice(0, place).every((other) => !this.isInTheWay(other, one, nowMs));
  }

  private isInTheWay(other: Named, one: Named, nowMs: number): boolean {
    if (!other.conflictKeys.some((key) => one.conflictKeys.includes(key))) return false;
    const untilMs = this.holds.get(other);
    return untilMs === undefined || (one.isWrite && nowMs < untilMs);
  }
}

describe("EPOCH-4, EPOCH-5, EPOCH-8: lanes under every use", () => {
  const keys = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { maxLength: 3 });
  const steps = fc.array(
    fc.oneof(
      fc.record({ act: fc.constant("join" as const), keys, isWrite: fc.boolean() }),
      fc.record({ act: fc.constantFrom("leave" as const, "hold" as const), place: fc.nat(7) }),
      fc.record({ act: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 60 }) }),
    ),
    { maxLength: 40 },
  );

  it("agree with the plain ones at every moment, and tell everybody who becomes startable without time passing", () => {
    fc.assert(
      fc.property(steps, (given) => {
        const lanes = createLanes<Named>();
        const plain = new PlainLanes();
        let nowMs = 0;
        const startable = () => plain.standing.filter((one) => !plain.holds.has(one) && plain.canStart(one, nowMs));
        for (const [place, step] of given.entries()) {
          const before = new Set(startable());
          let told: Named[] = [];
          if (step.act === "join") {
            const one = entry(`e${place}`, step.keys, step.isWrite);
            joinLanes(lanes, one);
            plain.standing.push(one);
            before.add(one);
          } else if (step.act === "wait") {
            nowMs += step.ms;
            for (const one of startable()) before.add(one);
          } else {
            const one = plain.standing[step.place % Math.max(1, plain.standing.length)];
            const canHold = one?.isWrite === true && !plain.holds.has(one) && plain.canStart(one, nowMs);
            if (one === undefined || (step.act === "hold" && !canHold)) continue;
            if (step.act === "hold") {
              told = holdLanes(lanes, one, { untilMs: nowMs + 50, nowMs });
              plain.holds.set(one, nowMs + 50);
            } else {
              plain.standing.splice(plain.standing.indexOf(one), 1);
              told = leaveLanes(lanes, one, nowMs);
            }
          }
          for (const one of plain.standing) {
            if (!plain.holds.has(one)) expect(headsItsLanes(lanes, one, nowMs)).toBe(plain.canStart(one, nowMs));
          }
          const news = startable().filter((one) => !before.has(one));
          for (const one of news) expect(told).toContain(one);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("are never stuck: while anybody stands, somebody could start once every hold is over", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(keys, fc.boolean()), { minLength: 1, maxLength: 20 }), (given) => {
        const entries = given.map(([conflictKeys, isWrite], place) => entry(`${place}`, conflictKeys, isWrite));
        const lanes = lanesOf(...entries);
        const open = new Set(entries);
        let nowMs = 0;
        while (open.size > 0) {
          const next = [...open].filter((one) => headsItsLanes(lanes, one, nowMs));
          expect(next.length).toBeGreaterThan(0);
          const [first] = next;
          if (first === undefined) break;
          open.delete(first);
          if (first.isWrite) holdLanes(lanes, first, { untilMs: nowMs + 10, nowMs });
          else leaveLanes(lanes, first, nowMs);
          nowMs += 10;
        }
        expect(lanes.held.size <= entries.length).toBe(true);
      }),
    );
  });
});
