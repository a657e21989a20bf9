import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ajvValidator } from "../../src/prepare/ajv-validator.ts";
import { UNIQUE_ITEMS } from "../../src/prepare/unique-items.ts";

const SCHEMA = { type: "array", uniqueItems: true };
const check = ajvValidator().compile(SCHEMA, { dialect: "2020-12", strict: true });

/** A validator whose keyword is this one, or ajv's own. */
function validatorOf(own: boolean) {
  const ajv = new Ajv({ logger: false });
  if (own) {
    ajv.removeKeyword("uniqueItems");
    ajv.addKeyword(UNIQUE_ITEMS);
  }
  return ajv.compile({ type: "array", items: SCHEMA });
}

describe("uniqueItems", () => {
  it("finds what ajv finds, and says it in the same words", () => {
    const [own, stock] = [validatorOf(true), validatorOf(false)];
    const item = fc.oneof(
      fc.constantFrom<unknown>(0, -0, 1, "1", "", null, true, "null", "[]", [], {}, "__proto__", "toString"),
      fc.constantFrom<unknown>({ a: 1, b: [2] }, { b: [2], a: 1 }, [1, 2], [2, 1], [[1], 2], '{"a":1}', { a: 1 }),
    );
    fc.assert(
      fc.property(fc.array(item, { maxLength: 8 }), (items) => {
        const isValid = stock([items]);
        expect(own([items])).toBe(isValid);
        if (isValid) return;
        const [ownError, stockError] = [own.errors?.[0], stock.errors?.[0]];
        expect(ownError).toMatchObject({ keyword: "uniqueItems", instancePath: "/0" });
        // Of several twins either may be named.
        const { i, j } = (ownError?.params ?? {}) as { readonly i: number; readonly j: number };
        expect(stock([[items[j], items[i]]])).toBe(false);
        expect(ownError?.message?.replaceAll(/\d+/g, "n")).toBe(stockError?.message?.replaceAll(/\d+/g, "n"));
      }),
    );
  });

  it("asks nothing where it is false", () => {
    const compiled = ajvValidator().compile(
      { type: "array", uniqueItems: false },
      { dialect: "draft-07", strict: true },
    );
    expect(compiled([1, 1])).toEqual([]);
  });

  it("reads each item a bounded number of times, however long the list is", () => {
    let reads = 0;
    const counted = (n: number): object =>
      Object.defineProperty({}, "n", {
        enumerable: true,
        get: () => {
          reads += 1;
          return n;
        },
      });
    const items = Array.from({ length: 2_000 }, (_, index) => counted(index));
    expect(check(items)).toEqual([]);
    expect(reads).toBeLessThanOrEqual(2 * items.length);
    expect(check([...items, counted(7)])).toEqual([
      {
        pointer: "",
        message: expect.stringContaining("must NOT have duplicate items (items ## 7 and 2000 are identical)"),
      },
    ]);
  });
});
