import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/domain/json.ts";
import { type Fingerprint, fingerprintCall, fingerprintText, isSameFingerprint } from "../../src/repeat/fingerprint.ts";
import { countRepeat, isObservingRepeats, NO_REPEATS, type RepeatVerdict } from "../../src/repeat/repeat-tracker.ts";

const same = (one: string, other: string): boolean =>
  isSameFingerprint(
    fingerprintCall("t", JSON.parse(one) as JsonValue),
    fingerprintCall("t", JSON.parse(other) as JsonValue),
  );

describe("isSameFingerprint", () => {
  it.each([
    ['{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['{"a":{"x":[{"p":1,"q":2}]}}', '{"a":{"x":[{"q":2,"p":1}]}}'],
    ["1", "1.0"],
    ["1", "1e0"],
    ["100", "1E2"],
    ["0", "-0"],
    ["0", "-0.0"],
    ['"\\u0061"', '"a"'],
    ['"\\/"', '"/"'],
    ['"\\ud83d\\ude00"', '"😀"'],
    ['{"\\u0061":1}', '{"a":1}'],
  ])("REP-1: %s is equal to %s", (one, other) => {
    expect(same(one, other)).toBe(true);
  });

  it.each([
    ['{"a":"1"}', '{"a":1}'],
    ['{"a":null}', "{}"],
    ['{"a":true}', '{"a":"true"}'],
    ['{"a":[]}', '{"a":{}}'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":""}', '{"a":null}'],
    ['{"a":{"b":1}}', '{"a":"{\\"b\\":1}"}'],
    ['"\\u00e9"', '"e\\u0301"'],
    ['"a"', '"A"'],
    ['"a"', '"a "'],
    ['"\\ud83d"', '"\\ufffd"'],
    ["[]", "{}"],
    ["[]", '{"length":0}'],
    ['{"length":0}', "[]"],
    ['["a"]', '{"0":"a"}'],
    ['{"a":1}', '{"a":1,"b":1}'],
    ['{"toString":1}', '{"a":1}'],
    ['{"a":1}', '{"a":{}}'],
    ['{"a":{}}', '{"a":1}'],
    ['{"a":true}', '{"a":{}}'],
    ['{"a":"b"}', '{"a":{"0":"b"}}'],
    ['{"a":{"0":"b"}}', '{"a":"b"}'],
    ["[1]", "[1,2]"],
    ["[1,2]", "[1]"],
  ])("REP-1: %s is not equal to %s", (one, other) => {
    expect(same(one, other)).toBe(false);
  });

  it("REP-1: the tool's name counts, and cannot be mixed up with the arguments", () => {
    expect(isSameFingerprint(fingerprintCall("a", {}), fingerprintCall("b", {}))).toBe(false);
    expect(isSameFingerprint(fingerprintCall("a:1", "x"), fingerprintCall("a", '1:"x"'))).toBe(false);
    expect(isSameFingerprint(fingerprintCall("", ""), fingerprintText("", '""'))).toBe(false);
    expect(isSameFingerprint(fingerprintText("t", "{}"), fingerprintCall("t", {}))).toBe(false);
    expect(isSameFingerprint(fingerprintText("t", "a"), fingerprintText("t", "b"))).toBe(false);
  });

  it("REP-1: any value is equal to itself in another key order, and to no value with another canonical form", () => {
    const reversed = (value: JsonValue): JsonValue => {
      if (typeof value !== "object" || value === null) return value;
      if (Array.isArray(value)) return value.map(reversed);
      const entries = Object.entries(value as Record<string, JsonValue>).reverse();
      return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]));
    };
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const [left, right] = [one as JsonValue, other as JsonValue];
        expect(isSameFingerprint(fingerprintCall("t", reversed(left)), fingerprintCall("t", left))).toBe(true);
        const areEqual = JSON.stringify(canonical(left)) === JSON.stringify(canonical(right));
        expect(isSameFingerprint(fingerprintCall("t", left), fingerprintCall("t", right))).toBe(areEqual);
      }),
    );
  });
});

/** Keys sorted by pairs, so that objects with equal content are equal lists. */
function canonical(value: JsonValue): unknown {
  if (typeof value !== "object" || value === null) return [typeof value, value];
  if (Array.isArray(value)) return ["list", value.map(canonical)];
  const entries = Object.entries(value as Record<string, JsonValue>);
  return [
    "map",
    entries.map(([key, inner]) => [key, canonical(inner)]).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  ];
}

describe("countRepeat", () => {
  const callOf = (tool: string): Fingerprint => fingerprintCall(tool, { i: 1 });
  const verdictsOf = (tools: readonly string[], advisory: number, termination: number): RepeatVerdict[] => {
    let sequence = NO_REPEATS;
    return tools.map((tool) => {
      const counted = countRepeat(sequence, callOf(tool), { advisory, termination });
      sequence = counted.sequence;
      return counted.verdict;
    });
  };
  const times = (count: number, tool = "a"): string[] => Array<string>(count).fill(tool);

  it("REP-4: advises at exactly the threshold; REP-5: ends at the other and beyond", () => {
    expect(verdictsOf(times(10), 3, 8)).toEqual([
      ...["none", "none", "advisory", "none", "none", "none", "none", "terminated", "terminated", "terminated"],
    ]);
  });

  it("REP-2: an equal fingerprint adds one, another starts at one", () => {
    expect(verdictsOf(["a", "a", "b", "a", "a", "a"], 3, 0)).toEqual([
      "none",
      "none",
      "none",
      "none",
      "none",
      "advisory",
    ]);
    expect(verdictsOf(["a", "b", "a", "b", "a", "b"], 2, 3)).toEqual(times(6, "none"));
  });

  it.each([
    [0, 2, ["none", "terminated", "terminated"]],
    [2, 0, ["none", "advisory", "none"]],
    [0, 0, ["none", "none", "none"]],
    [1, 2, ["advisory", "terminated", "terminated"]],
    [0, 1, ["terminated", "terminated", "terminated"]],
  ])("REP-6: thresholds %i and %i", (advisory, termination, verdicts) => {
    expect(verdictsOf(times(3), advisory, termination)).toEqual(verdicts);
    expect(isObservingRepeats({ advisory, termination })).toBe(advisory + termination > 0);
  });

  it("REP-2: the count is the length of the run of equal fingerprints, whatever came before", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 30 }), (tools) => {
        let sequence = NO_REPEATS;
        for (const [place, tool] of tools.entries()) {
          sequence = countRepeat(sequence, callOf(tool), { advisory: 3, termination: 8 }).sequence;
          const before = tools.slice(0, place + 1).reverse();
          const run = before.findIndex((each) => each !== tool);
          expect(sequence).toEqual({ fingerprint: callOf(tool), count: run === -1 ? before.length : run });
        }
      }),
    );
  });

  it("REP-2: an earlier sequence is left as it was", () => {
    const { sequence } = countRepeat(NO_REPEATS, callOf("a"), { advisory: 3, termination: 8 });
    const before = { ...sequence };
    countRepeat(sequence, callOf("a"), { advisory: 3, termination: 8 });
    expect([sequence, NO_REPEATS]).toEqual([before, { fingerprint: undefined, count: 0 }]);
  });
});
