import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { freezeArguments } from "../../src/prepare/freeze-arguments.ts";

const jsonObject = fc.dictionary(
  fc.string().filter((key) => key !== "__proto__"),
  fc.jsonValue({ maxDepth: 4 }).filter((value) => !JSON.stringify(value).includes("__proto__")),
  { noNullPrototype: true },
);

function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}

describe("freezeArguments", () => {
  it("PREP-3: what comes out is deep-frozen, equal, in the same key order, and nothing of what came in", () => {
    fc.assert(
      fc.property(jsonObject, (value) => {
        const before = JSON.stringify(value);
        const frozen = freezeArguments(value);
        expect(frozen.ok && isDeepFrozen(frozen.arguments)).toBe(true);
        expect(frozen.ok && JSON.stringify(frozen.arguments)).toBe(before);
        expect(Object.isFrozen(value)).toBe(false);
        expect(JSON.stringify(value)).toBe(before);
      }),
    );
  });

  it("PREP-3: a value that nobody else holds is frozen in place", () => {
    const value = { list: [{ a: 1 }] };
    const frozen = freezeArguments(value, { owned: true });
    expect(frozen).toEqual({ ok: true, arguments: { list: [{ a: 1 }] } });
    expect(frozen.ok && frozen.arguments).toBe(value);
    expect(isDeepFrozen(value)).toBe(true);
  });

  it("PREP-3: later changes of a copied value are not seen, and changes of the arguments throw", () => {
    const value = { list: [1] };
    const frozen = freezeArguments(value);
    value.list.push(2);
    expect(frozen).toEqual({ ok: true, arguments: { list: [1] } });
    expect(() => {
      // The types forbid it; what is tested is that the object does too.
      if (frozen.ok) (frozen.arguments.list as number[]).push(3);
    }).toThrow(TypeError);
  });

  it("PREP-3: arguments have the ordinary prototype, whatever they were made of", () => {
    const frozen = freezeArguments(Object.assign(Object.create(null), { a: Object.create(null) }));
    expect(frozen.ok && Object.getPrototypeOf(frozen.arguments)).toBe(Object.prototype);
    expect(frozen.ok && Object.getPrototypeOf(frozen.arguments.a)).toBe(Object.prototype);
  });

  it.each([
    [null, "null"],
    [undefined, "undefined"],
    [5, "a number"],
    ["text", "a string"],
    [true, "a boolean"],
    [[1], "an array"],
    [() => 1, "a function"],
    [1n, "a bigint"],
  ])("C37: a top level that is not an object is refused (%#)", (value, kind) => {
    expect(freezeArguments(value)).toEqual({ ok: false, reason: `arguments must be a JSON object, not ${kind}` });
  });

  it.each([
    [{ a: [undefined] }, 'undefined at "/a/0"'],
    [{ a: { b: 1n } }, 'a bigint at "/a/b"'],
    [{ when: new Date(0) }, 'an object that is not plain JSON at "/when"'],
    [{ n: Number.NaN }, 'a number that is not finite at "/n"'],
    [new Map(), "an object that is not plain JSON at the top level"],
    [Promise.resolve({}), "an object that is not plain JSON at the top level"],
    [{ constructor: { prototype: 1 } }, 'the forbidden key prototype under constructor at "/constructor/prototype"'],
    [{ "a/b~c": Symbol("x") }, 'a symbol at "/a~1b~0c"'],
  ])("PREP-11: what JSON cannot hold is refused with its place (%#)", (value, fault) => {
    expect(freezeArguments(value)).toEqual({ ok: false, reason: `arguments must be plain JSON, but hold ${fault}` });
  });

  it("PREP-3: a property that is undefined counts as absent", () => {
    expect(freezeArguments({ a: 1, b: undefined })).toStrictEqual({ ok: true, arguments: { a: 1 } });
  });

  it("PREP-11: a whole number that the parser took from text is not refused later", () => {
    expect(freezeArguments({ n: 10 ** 18 })).toEqual({ ok: true, arguments: { n: 10 ** 18 } });
  });

  it("PREP-3: each property is read once", () => {
    let reads = 0;
    const value = {
      get a() {
        reads += 1;
        return reads;
      },
    };
    expect(freezeArguments(value)).toEqual({ ok: true, arguments: { a: 1 } });
    expect(reads).toBe(1);
  });
});
