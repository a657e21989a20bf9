import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IntervalSet } from "../../src/observe/interval-set.ts";

const stretches = fc.array(fc.tuple(fc.nat(40), fc.integer({ min: -2, max: 12 })), { maxLength: 12 });

function setOf(drawn: readonly (readonly [number, number])[]): IntervalSet {
  const set = new IntervalSet();
  for (const [startMs, lengthMs] of drawn) set.add(startMs, startMs + lengthMs);
  return set;
}

function momentsOf(drawn: readonly (readonly [number, number])[]): ReadonlySet<number> {
  return new Set(
    drawn.flatMap(([startMs, lengthMs]) => Array.from({ length: Math.max(0, lengthMs) }, (_, ms) => startMs + ms)),
  );
}

describe("OBS-4: stretches of time", () => {
  it("are as long as the moments that lie in any of them, in whatever order they come", () => {
    fc.assert(
      fc.property(stretches, (drawn) => {
        expect(setOf(drawn).lengthMs()).toBe(momentsOf(drawn).size);
      }),
    );
  });

  it("less others are as long as the moments that lie in none of those", () => {
    fc.assert(
      fc.property(stretches, stretches, (drawn, others) => {
        const outside = [...momentsOf(drawn)].filter((ms) => !momentsOf(others).has(ms));
        expect(setOf(drawn).lengthOutsideMs(setOf(others))).toBe(outside.length);
      }),
    );
  });

  it("are nothing once they are forgotten", () => {
    const set = setOf([[1, 5]]);
    set.clear();
    expect([set.lengthMs(), setOf([[1, 5]]).lengthOutsideMs(set)]).toEqual([0, 5]);
  });
});
