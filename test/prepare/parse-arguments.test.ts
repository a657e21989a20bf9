import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseArguments } from "../../src/prepare/parse-arguments.ts";

const SECRET = "hunter2-payload";

function reasonOf(raw: unknown): string {
  const parsed = parseArguments(raw);
  return parsed.ok ? "accepted" : parsed.reason;
}

describe("parseArguments: absent and plain drafts", () => {
  it.each([[undefined], [null], [""], ["  \n"], ["{}"]])("C36: %j means no arguments", (raw) => {
    expect(parseArguments(raw)).toEqual({ ok: true, draft: {} });
  });

  it.each([["null"], ["5"], ["[1]"], ["true"], ['"text"']])("C37: the text %s is the JSON value it spells", (text) => {
    expect(parseArguments(text)).toEqual({ ok: true, draft: JSON.parse(text) });
  });

  it("PREP-11: the draft belongs to the caller alone and is not frozen", () => {
    const raw = { list: [1] };
    const parsed = parseArguments(raw);
    expect(parsed).toEqual({ ok: true, draft: { list: [1] } });
    if (!parsed.ok) return;
    expect(parsed.draft).not.toBe(raw);
    expect([Object.isFrozen(parsed.draft), Object.isFrozen(raw), Object.isFrozen(raw.list)]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it("C48: text that is valid JSON is taken byte for byte", () => {
    const text = '{"code":"if(a){b}{c}","nested":"{\\"a\\": [1,2]}","bad":"\\ud83d"}';
    const parsed = parseArguments(text);
    expect(parsed.ok && JSON.stringify(parsed.draft)).toBe(text);
  });

  it("PREP-11: any value whose numbers are exact comes back from its own text", () => {
    const number = fc.oneof(
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
    );
    const key = fc.string().filter((name) => !["__proto__", "constructor", "prototype"].includes(name));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(fc.string({ unit: "binary" }), number, fc.boolean(), fc.constant(null)),
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(key, tie("tree"), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(parseArguments(text)).toEqual({ ok: true, draft: JSON.parse(text) });
      }),
    );
  });
});

describe("parseArguments: text that is not JSON", () => {
  it.each([
    ['{path: "a"}', "a property name in double quotes was expected at position 1"],
    ['{{"path":"a"}}', "a property name in double quotes was expected at position 1"],
    ['{"path":"a",}', "a property name in double quotes was expected at position 12"],
    ['{"re":"\\*"}', 'a bad escape in a string at position 7 (at "/re")'],
    ['```json\n{"path":"a"}\n```', "a code fence where bare JSON was expected, at position 0"],
    ['{"path":"a', 'the text ends inside a string at position 10 (at "/path")'],
    ['{"path"', 'the text ends where a colon after the property name was expected, at position 7 (at "/path")'],
    ['{"list":[1 2]}', 'a comma or ] after the array element was expected at position 11 (at "/list")'],
    ['{"a":1 "b":2}', "a comma or } after the property was expected at position 7"],
    ['{"a":"x\ny"}', 'a control character that is not escaped in a string at position 7 (at "/a")'],
    ["{} {}", "unexpected text after the end of the value at position 3"],
    ['{"n":01}', 'a number that is not written as JSON allows at position 5 (at "/n")'],
    ['{"n":-}', 'a number that is not written as JSON allows at position 5 (at "/n")'],
    ['{"n":tru}', 'a value was expected at position 5 (at "/n")'],
    ["{'a':1}", "a property name in double quotes was expected at position 1"],
    ["[", 'the text ends where a value was expected, at position 1 (at "/0")'],
  ])("C49: %s is refused with what is wrong and where", (text, fault) => {
    expect(parseArguments(text)).toEqual({ ok: false, reason: `arguments are not valid JSON: ${fault}` });
  });

  it("PREP-11: a refusal never quotes the text", () => {
    const texts = [`${SECRET}`, `{"a":"${SECRET}`, `{"a":"${SECRET}"} ${SECRET}`, `{"a":"${SECRET}",}`, `[${SECRET}]`];
    for (const text of texts) expect(reasonOf(text)).not.toContain("hunter2");
  });

  it("PREP-11: whatever text JSON.parse refuses is refused with a position, and the rest is not", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"\\n"',
      '"',
      "\\",
      "1",
      "-",
      "0",
      ".5",
      "e3",
      "true",
      "null",
      " ",
      "\t",
      "x",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        fc.pre(text.trim() !== "");
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        const reason = reasonOf(text);
        if (isJson) expect(reason).toMatch(/^accepted$|^arguments hold a duplicate key at position \d+/);
        else
          expect(reason).toMatch(
            /^arguments are not valid JSON: .* at position \d+|^arguments hold a duplicate key at position \d+/,
          );
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("parseArguments: keys", () => {
  it("C54: a duplicate key is refused", () => {
    expect(reasonOf('{"path":"safe","path":"evil"}')).toBe(
      'arguments hold a duplicate key at position 15 (at "/path")',
    );
  });

  it("PREP-11: keys are compared decoded, and only within one object", () => {
    expect(reasonOf('{"list":[{"a":1},{"a":1,"\\u0061":2}]}')).toBe(
      'arguments hold a duplicate key at position 24 (at "/list/1/a")',
    );
    expect(reasonOf('{"a":{"a":{"a":"a"}},"b":["a","a"]}')).toBe("accepted");
  });

  it("PREP-11: object text with one key repeated anywhere is refused", () => {
    const entries = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 2 }), {
      minKeys: 1,
      maxKeys: 6,
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(entries, fc.nat(), fc.nat(), (object, which, where) => {
        const keys = Object.keys(object);
        const members = keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(object[key])}`);
        const key = keys[which % keys.length] ?? "";
        const escaped = [...key]
          .map((unit) => (unit.length === 1 ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}` : unit))
          .join("");
        members.splice(where % (members.length + 1), 0, `"${escaped}":0`);
        expect(parseArguments(`{"outer":{${members.join(",")}}}`).ok).toBe(false);
      }),
    );
  });

  it.each([
    ['{"__proto__":{"isAdmin":true},"path":"a"}', 'the forbidden key __proto__ at position 1 (at "/__proto__")'],
    ['{"a":[{"\\u005f_proto__":1}]}', 'the forbidden key __proto__ at position 7 (at "/a/0/__proto__")'],
    [
      '{"constructor":{"prototype":{"x":1}}}',
      'the forbidden key prototype under constructor at position 16 (at "/constructor/prototype")',
    ],
  ])("C51: %s is refused and reaches no prototype", (text, fault) => {
    expect(parseArguments(text)).toEqual({ ok: false, reason: `arguments hold ${fault}` });
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  it("C51: other names of prototypes are keys like any other", () => {
    const text = '{"constructor":1,"prototype":2,"toString":{"prototype":3},"hasOwnProperty":4}';
    expect(parseArguments(text)).toEqual({ ok: true, draft: JSON.parse(text) });
  });

  it("PREP-11: a long key is cut where a message names it", () => {
    const reason = reasonOf(`{"${"k".repeat(100_000)}":1e400}`);
    expect(reason).toContain(`"/${"k".repeat(64)}…"`);
    expect(reason.length).toBeLessThan(300);
  });
});

describe("parseArguments: numbers", () => {
  it.each([
    ["9007199254740993"],
    ["-9007199254740993"],
    ["2512292042121000001"],
    ["9007199254740993.0"],
    ["90071992547409930e-1"],
    ["1.00000000000000000001e30"],
  ])("C52: %s is refused because a double cannot hold it", (literal) => {
    expect(reasonOf(`{"x":${literal}}`)).toBe(
      'arguments hold a whole number too large to be held exactly (send it as a string) at position 5 (at "/x")',
    );
  });

  it.each([["1e400"], ["-1e400"], ["1".repeat(400)]])("C52: %s is refused because it overflows", (literal) => {
    expect(reasonOf(`[{"x":${literal}}]`)).toBe(
      'arguments hold a number too large to be held (send it as a string) at position 6 (at "/0/x")',
    );
  });

  it.each([["1e-400"], ["-1E-330"], ["2e-324"], [`0.${"0".repeat(330)}7`], [`0.${"0".repeat(250)}1e-99`]])(
    "C52: %s is refused because it would become zero",
    (literal) => {
      expect(reasonOf(`[{"x":${literal}}]`)).toBe(
        'arguments hold a number too small to be told from zero (send it as a string) at position 6 (at "/0/x")',
      );
    },
  );

  it.each([
    ["-0"],
    ["1.0"],
    ["9007199254740991"],
    ["9007199254740992"],
    ["1000000000000000000"],
    ["1e23"],
    ["1.5E+300"],
    ["0.1"],
    ["12.50"],
    ["0e-400"],
    ["0.000e-999"],
    ["5e-324"],
    ["-1e-307"],
    [`0.${"0".repeat(300)}1`],
  ])("C52: %s is taken", (literal) => {
    expect(parseArguments(`{"x":${literal}}`)).toEqual({ ok: true, draft: { x: Number(literal) } });
  });

  it("PREP-11: a whole number is taken from text exactly when a double holds it", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (value) => {
        expect(parseArguments(`{"x":${value}}`).ok).toBe(BigInt(Number(value)) === value);
      }),
    );
  });
});
