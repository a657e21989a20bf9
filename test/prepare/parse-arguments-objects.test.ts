import { describe, expect, it } from "vitest";
import { parseArguments } from "../../src/prepare/parse-arguments.ts";

const SECRET = "hunter2-payload";

function reasonOf(raw: unknown): string {
  const parsed = parseArguments(raw);
  return parsed.ok ? "accepted" : parsed.reason;
}

/** Nested arrays, `depth` containers deep. */
function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

describe("parseArguments: nesting", () => {
  it("PREP-11: 64 containers deep is taken, 65 is refused", () => {
    expect(parseArguments(nested(64)).ok).toBe(true);
    expect(reasonOf(nested(65))).toMatch(/^arguments hold containers nested deeper than 64 at position 64 /);
    expect(parseArguments(JSON.parse(nested(64))).ok).toBe(true);
    expect(reasonOf(JSON.parse(nested(65)))).toMatch(
      /^arguments must be plain JSON, but hold containers nested deeper than 64 /,
    );
  });

  it.each([["["], ['{"a":'], ['[{"b":']])("PREP-11: 100,000 times %s is a refusal, not a crash", (opening) => {
    const reason = reasonOf(opening.repeat(100_000));
    expect(reason).toMatch(/^arguments hold containers nested deeper than 64/);
    expect(reason.length).toBeLessThan(500);
  });
});

describe("parseArguments: objects that an SDK has parsed", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const throwing = Object.defineProperty({}, "a", {
    enumerable: true,
    get: () => {
      throw new Error(SECRET);
    },
  });
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();

  it.each([
    ["a getter that throws", throwing, "a value that threw when it was read"],
    [
      "a proxy that throws",
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error(SECRET);
          },
        },
      ),
      "a value that threw when it was read",
    ],
    ["a revoked proxy", revoked, "a value that threw when it was read"],
    ["a toJSON", { toJSON: () => ({}) }, "a function"],
    ["a date", new Date(0), "an object that is not plain JSON"],
    ["a cycle", cycle, "containers nested deeper than 64"],
    ["a bigint", { n: 1n }, "a bigint"],
    ["a symbol", [Symbol("s")], "a symbol"],
    ["a hole", new Array(3), "undefined"],
    ["not a number", { n: Number.NaN }, "a number that is not finite"],
    ["infinity", { n: Number.POSITIVE_INFINITY }, "a number that is not finite"],
    ["a number that may have been rounded", { n: 2 ** 53 }, "a whole number beyond 2^53-1"],
    ["an own __proto__", JSON.parse('{"__proto__":1}'), "the forbidden key __proto__"],
    [
      "a prototype under constructor",
      { constructor: { prototype: {} } },
      "the forbidden key prototype under constructor",
    ],
  ])("PREP-11: %s is a refusal that names the fault, not the payload", (_name, raw, fault) => {
    const reason = reasonOf(raw);
    expect(reason.startsWith(`arguments must be plain JSON, but hold ${fault}`)).toBe(true);
    expect(reason).not.toContain(SECRET);
  });

  it("PREP-11: numbers from 1e21 on, written with an exponent, pass", () => {
    expect(parseArguments({ n: 1e21, m: -1.5e300 })).toEqual({ ok: true, draft: { n: 1e21, m: -1.5e300 } });
  });

  it("PREP-11: objects without a prototype or of another realm are plain, and come out with this one's", () => {
    const bare = Object.assign(Object.create(null), { a: 1 });
    const foreign = Object.assign(Object.create(Object.create(null)), { a: 1 });
    for (const raw of [bare, foreign]) {
      const parsed = parseArguments(raw);
      expect(parsed).toEqual({ ok: true, draft: { a: 1 } });
      expect(parsed.ok && Object.getPrototypeOf(parsed.draft)).toBe(Object.prototype);
    }
  });

  it("PREP-11: an object whose parts are shared over and over is refused before it unfolds", {
    timeout: 60_000,
  }, () => {
    let value: unknown = [0];
    for (let level = 0; level < 50; level += 1) value = [value, value];
    expect(reasonOf(value)).toMatch(/^arguments must be plain JSON, but hold more values than can be copied/);
  });
});
