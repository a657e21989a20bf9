import { describe, expect, it } from "vitest";
import { type JsonWalkMode, walkJson } from "../../src/prepare/walk-json.ts";

const FRESH: JsonWalkMode = { containers: "fresh", freeze: false, integers: "any" };
const SAME: JsonWalkMode = { containers: "same", freeze: false, integers: "any" };

describe.each([
  ["copied", FRESH],
  ["kept", SAME],
] as const)("PREP-11: JSON that is %s", (_name, mode) => {
  it("is told with whether a number in it is 0, which may have been rounded to it", () => {
    const zeros = [0, -0, [1, 0], { a: { b: [0] } }];
    const others = [1, "0", [1], { 0: 1 }, {}, null, false];
    const tell = (value: unknown) => walkJson(value, mode);
    expect(zeros.map(tell)).toEqual(zeros.map(() => expect.objectContaining({ hasZero: true })));
    expect(others.map(tell)).toEqual(others.map(() => expect.objectContaining({ hasZero: false })));
  });

  it("is told with the number of its keys", () => {
    for (const [value, keys] of [
      [null, 0],
      ["a", 0],
      [[], 0],
      [{}, 0],
      [{ a: 1, b: [{ c: 2 }, { d: null }] }, 4],
      [{ constructor: { x: 1 }, prototype: { y: 1 } }, 4],
      [{ constructor: 1, other: { prototype: 1 } }, 3],
      [[{ prototype: 1 }], 1],
      [Object.assign(Object.create(null), { a: 1 }), 1],
    ] as const)
      expect(walkJson(value, mode)).toEqual({ ok: true, value, keys, hasZero: false });
  });

  it.each<[string, unknown, string, (string | number)[]]>([
    ["at the top", undefined, "", []],
    ["in a list", [1, [2, undefined]], "", [1, 1]],
    ["behind what has been left", { a: { b: { c: 1 } }, d: () => 1 }, "", ["d"]],
    ["a forbidden key", JSON.parse('{"a":1,"b":{"__proto__":1}}'), "the forbidden key __proto__", ["b", "__proto__"]],
    [
      "a forbidden pair of keys",
      { a: [{ constructor: { b: 1, prototype: 1 } }] },
      "the forbidden key prototype under constructor",
      ["a", 0, "constructor", "prototype"],
    ],
    ["an instance", { a: new Date(0) }, "an object that is not plain JSON", ["a"]],
    ["a number that is none", { a: [Number.NaN] }, "", ["a", 0]],
  ])("has its first fault %s told with its place", (_where, value, fault, path) => {
    const walked = walkJson(value, mode);
    expect(walked).toMatchObject({ ok: false, path });
    expect(walked).toHaveProperty("fault", fault === "" ? expect.stringMatching(/./) : fault);
  });

  it("that throws when it is read is told as such", () => {
    const value = {
      get a(): never {
        throw new Error("hidden");
      },
    };
    expect(walkJson([value], mode)).toEqual({
      ok: false,
      fault: "a value that threw when it was read",
      path: [0, "a"],
    });
  });

  it("may hold whole numbers as far as it is asked to hold them", () => {
    const taken = (value: number): boolean[] =>
      (["any", "safe", "exact"] as const).map((integers) => walkJson(value, { ...mode, integers }).ok);
    const most = Number.MAX_SAFE_INTEGER;
    expect([taken(most), taken(-most), taken(1.5)]).toEqual(Array(3).fill([true, true, true]));
    expect([taken(most + 1), taken(-most - 1), taken(1e20)]).toEqual(Array(3).fill([true, false, false]));
    expect([taken(1e21), taken(-1e300)]).toEqual(Array(2).fill([true, true, false]));
  });
});

describe("PREP-3: a walk", () => {
  it("leaves out what is undefined where it copies, and refuses it where it keeps", () => {
    expect(walkJson({ a: undefined, b: 1 }, FRESH)).toEqual({
      ok: true,
      value: { b: 1 },
      keys: 1,
      hasZero: false,
    });
    expect(walkJson({ a: undefined, b: 1 }, SAME)).toMatchObject({ ok: false, path: ["a"] });
  });

  it("copies or keeps every container, and freezes it where it is asked to", () => {
    const value = { a: [{ b: 1 }] };
    const walked = (mode: Partial<JsonWalkMode>): { a: [object] } => {
      const walk = walkJson(value, { ...FRESH, ...mode });
      if (!walk.ok) throw new Error(walk.fault);
      return walk.value as never;
    };
    const frozen = walked({ freeze: true });
    expect([frozen, frozen.a, frozen.a[0]].map((part) => Object.isFrozen(part))).toEqual([true, true, true]);
    expect([frozen === value, frozen.a === value.a, Object.isFrozen(value)]).toEqual([false, false, false]);
    expect([walked({ containers: "same" }) === value, Object.isFrozen(value)]).toEqual([true, false]);
    walked({ containers: "same", freeze: true });
    expect([value, value.a, value.a[0]].map((part) => Object.isFrozen(part))).toEqual([true, true, true]);
  });
});
