import { describe, expect, it } from "vitest";
import { toSchemaFaults } from "../../src/prepare/ajv-faults.ts";
import { findSchemaFault } from "../../src/prepare/find-schema-fault.ts";
import { findTextFault } from "../../src/prepare/find-text-fault.ts";
import { readAuthorization, readRewrite } from "../../src/prepare/host-policy.ts";
import { clipText, formatPointer, showPlace, showPointer } from "../../src/prepare/json-pointer.ts";

const INEXACT = "a whole number too large to be held exactly (send it as a string)";

describe("PREP-11: JSON text", () => {
  it.each([
    ...[
      "true",
      "false",
      "null",
      " [true , false,null] ",
      "[]",
      "{}",
      '{"a":[],"b":{}}',
      '"a\\u0041\\n"',
      "-0",
      "1.5e-3",
    ],
    ...['{"prototype":1}', '{"constructor":{"x":1}}', '{"constructor":1,"prototype":2}', '[["a"],["a"]]'],
    ...["9007199254740991", "-9007199254740991", "9007199254740992", "9007199254740994.0", "-9007199254740994.00"],
    ...["1e21", "-1e21", "1.0e21", "10e20", "0.001e24", "1000000000000000000000.0", "1E+21", "123e300"],
  ])("%s can be taken", (text) => {
    expect(findTextFault(text)).toBeUndefined();
  });

  it.each<[text: string, kind: string, fault: string, position: number, path: (string | number)[]]>([
    ["", "syntax", "the text ends where a value was expected,", 0, []],
    ["nul", "syntax", "a value was expected", 0, []],
    ["[tru]", "syntax", "a value was expected", 1, [0]],
    ["xtrue", "syntax", "a value was expected", 0, []],
    ["/", "syntax", "a value was expected", 0, []],
    [":", "syntax", "a value was expected", 0, []],
    ["```json", "syntax", "a code fence where bare JSON was expected,", 0, []],
    ["1 2", "syntax", "unexpected text after the end of the value", 2, []],
    ["01", "syntax", "a number that is not written as JSON allows", 0, []],
    ["-", "syntax", "a number that is not written as JSON allows", 0, []],
    ["[1", "syntax", "the text ends where a comma or ] after the array element was expected,", 2, []],
    ["[1}", "syntax", "a comma or ] after the array element was expected", 2, []],
    ["[1,]", "syntax", "a value was expected", 3, [1]],
    ["{", "syntax", "the text ends where a property name in double quotes was expected,", 1, []],
    ['{"a', "syntax", "the text ends inside a string", 3, []],
    ['{"a\n":1}', "syntax", "a control character that is not escaped in a string", 3, []],
    ['{"a\\x":1}', "syntax", "a bad escape in a string", 3, []],
    ['{"a" 1}', "syntax", "a colon after the property name was expected", 5, ["a"]],
    ['{"a":1 "b":2}', "syntax", "a comma or } after the property was expected", 7, []],
    ['{"a":1,"a":2}', "content", "a duplicate key", 7, ["a"]],
    ['{"a":1,"\\u0061":2}', "content", "a duplicate key", 7, ["a"]],
    ['[{"__proto__":1}]', "content", "the forbidden key __proto__", 2, [0, "__proto__"]],
    [
      '{"constructor":{"prototype":1}}',
      "content",
      "the forbidden key prototype under constructor",
      16,
      ["constructor", "prototype"],
    ],
    ["9007199254740993", "content", INEXACT, 0, []],
    ["-9007199254740993", "content", INEXACT, 0, []],
    ["[9007199254740993.0]", "content", INEXACT, 1, [0]],
    ["12345678901234567890.5", "content", INEXACT, 0, []],
    ["100000000000000000000001e3", "content", INEXACT, 0, []],
    ["1e400", "content", "a number too large to be held (send it as a string)", 0, []],
    [`${"[".repeat(65)}${"]".repeat(65)}`, "content", "containers nested deeper than 64", 64, Array(64).fill(0)],
  ])("%s cannot", (text, kind, fault, position, path) => {
    expect(findTextFault(text)).toEqual({ kind, fault, position, path });
  });
});

describe("PREP-11: the place of a fault", () => {
  it("is an exact pointer where it is kept, and a bounded one where it is shown", () => {
    expect([formatPointer([]), formatPointer(["a/b", 0, "~"])]).toEqual(["", "/a~1b/0/~0"]);
    expect([showPointer([]), showPointer(["a/b", 0]), showPlace([]), showPlace(["a"])]).toEqual([
      ...["", "/a~1b/0", "at the top level", 'at "/a"'],
    ]);
    const key = "k".repeat(63);
    expect(showPointer(Array(5).fill(key))).toBe(`/${key}`.repeat(5));
    expect(showPointer([...Array(5).fill(key), "x"])).toBe(`${`/${key}`.repeat(5)}…`);
    expect([clipText("x".repeat(64)), clipText("x".repeat(65)), clipText("abc", 2)]).toEqual([
      ...["x".repeat(64), `${"x".repeat(64)}…`, "ab…"],
    ]);
    expect(clipText("a\u0000\u007f\u2028\ud800b")).toBe("a\ufffd\ufffd\ufffd\ufffdb");
  });
});

describe("PREP-2: the place of a schema's fault", () => {
  const unknown = new Error('unknown keyword: "odd"');
  const missing = Object.assign(new Error("can't resolve reference"), { missingRef: "base#/$defs/b" });
  const pattern = new Error("Invalid regular expression");
  const of = (schema: object, error: unknown): unknown => findSchemaFault(schema as never, error);

  it.each<[string, object, Error, (string | number)[]]>([
    ["an unknown keyword", { odd: 1 }, unknown, ["odd"]],
    ["one inside a property", { properties: { a: { odd: 1 } } }, unknown, ["properties", "a", "odd"]],
    ["one inside a list", { allOf: [{}, { items: { odd: 1 } }] }, unknown, ["allOf", 1, "items", "odd"]],
    ["one beside a property of its name", { properties: { odd: {} }, not: { odd: 1 } }, unknown, ["not", "odd"]],
    [
      "one in a value",
      { enum: [{ odd: 1 }], const: { odd: 1 }, default: { odd: 1 }, examples: [{ odd: 1 }] },
      unknown,
      [],
    ],
    [
      "one behind nothing",
      { properties: null, items: null, $defs: [{ odd: 1 }], not: { odd: 1 } },
      unknown,
      ["not", "odd"],
    ],
    ["one in definitions", { definitions: { odd: { odd: 1 } } }, unknown, ["definitions", "odd", "odd"]],
    ["a reference", { $defs: { b2: {} }, items: { $ref: "#/$defs/b" } }, missing, ["items", "$ref"]],
    ["a reference without a fragment", { $ref: "/$defs/b" }, missing, ["$ref"]],
    ["a reference by name", { items: [{ $ref: "x" }, { $dynamicRef: "b" }] }, missing, ["items", 1, "$dynamicRef"]],
    ["a reference that is not a string", { $ref: 5, not: { $ref: "#/$defs/b" } }, missing, ["not", "$ref"]],
    ["a pattern", { pattern: "a", items: { pattern: "(" } }, pattern, ["items", "pattern"]],
    ["a pattern of keys", { patternProperties: { a: {}, "(": {} } }, pattern, ["patternProperties", "("]],
    ["a pattern that is none", { pattern: 5, patternProperties: { a: {} } }, pattern, []],
    ["what is not found", { items: { a: 1 } }, pattern, []],
  ])("is found for %s", (_name, schema, error, path) => {
    expect(of(schema, error)).toEqual({ path, message: error.message });
  });

  it("is read from the error where it says so, and is the whole where nothing is known", () => {
    const named = new Error('must be object at path "#/properties/a~1b/x%20y/%E0%A4%A" here');
    expect(of({}, named)).toEqual({ path: ["properties", "a/b", "x y", "%E0%A4%A"], message: "must be object here" });
    expect(of({ odd: 1 }, new Error('broken at "#"'))).toEqual({ path: [], message: "broken" });
    for (const error of [null, undefined, "text", 5, {}])
      expect(of({ odd: 1 }, error)).toEqual({ path: [], message: "the schema could not be compiled" });
    expect(of({ $ref: "b" }, { missingRef: "b" })).toEqual({
      path: ["$ref"],
      message: "the schema could not be compiled",
    });
  });
});

describe("PREP-2: a fault of arguments", () => {
  const faultsOf = (...errors: object[]): unknown =>
    toSchemaFaults(errors.map((error) => ({ instancePath: "", params: {}, schemaPath: "", ...error })) as never);
  const told = (message: string, pointer = ""): object => ({ pointer, message });

  it.each<[object, string]>([
    [{ keyword: "required", params: { missingProperty: "a" } }, "missing required property 'a'"],
    [{ keyword: "additionalProperties", params: { additionalProperty: "a" } }, "property 'a' is not allowed"],
    [{ keyword: "unevaluatedProperties", params: { unevaluatedProperty: "a" } }, "property 'a' is not allowed"],
    [{ keyword: "enum", params: { allowedValues: ["a", 1] } }, 'must be one of "a", 1'],
    [{ keyword: "enum", params: { allowedValues: 5 } }, "must be one of the values allowed"],
    [
      { keyword: "enum", params: { allowedValues: Array(16).fill(1) } },
      `must be one of ${Array(16).fill(1).join(", ")}`,
    ],
    [
      { keyword: "enum", params: { allowedValues: Array(18).fill(1) } },
      `must be one of ${Array(16).fill(1).join(", ")} or one of 2 more`,
    ],
    [{ keyword: "const", params: { allowedValue: "a" } }, 'must be "a"'],
    [{ keyword: "anyOf" }, "must match one of the forms allowed"],
    [{ keyword: "oneOf", params: { passingSchemas: null } }, "must match one of the forms allowed"],
    [{ keyword: "oneOf", params: { passingSchemas: [0, 1] } }, "must match exactly one of the forms allowed"],
    [{ keyword: "not", message: "x" }, "has a form that is not allowed"],
    [{ keyword: "false schema", message: "x" }, "is not allowed"],
    [{ keyword: "minimum", message: "must be >= 3" }, "must be >= 3"],
    [{ keyword: "odd" }, "breaks odd"],
    [{ keyword: "type", params: { type: ["string", "null"] } }, "must be string or null"],
  ])("%j is told as %j", (error, message) => {
    expect(faultsOf(error)).toEqual([told(message)]);
  });

  it("is told once, a union whose branches differ by type alone by its types", () => {
    const type = (name: string, instancePath = "/a"): object => ({
      keyword: "type",
      params: { type: name },
      instancePath,
    });
    const union = { keyword: "anyOf", instancePath: "/a" };
    const bound = { keyword: "minimum", message: "must be >= 3", instancePath: "/a" };
    expect(faultsOf(type("string"), type("number"), type("string"), union)).toEqual([
      told("must be string or number", "/a"),
    ]);
    expect(faultsOf(type("string"), union, { ...union, keyword: "oneOf" })).toEqual([told("must be string", "/a")]);
    expect(faultsOf(type("string"), bound, union)).toEqual([
      ...[told("must be string", "/a"), told("must be >= 3", "/a"), told("must match one of the forms allowed", "/a")],
    ]);
    expect(faultsOf(type("string", "/b"), union)).toEqual([
      ...[told("must be string", "/b"), told("must match one of the forms allowed", "/a")],
    ]);
  });
});

describe("PREP-13: the answer of a hook", () => {
  const answered = (answer: unknown) => ({ kind: "answered", answer }) as const;
  const nonsense = (hook: string): object => ({
    kind: "refuse",
    reason: `not_executed: the host's ${hook} gave no valid answer, so the call was refused.`,
    terminate: false,
  });

  it("is nothing, a decision, or a block, with or without an end", () => {
    expect([readRewrite(answered(undefined)), readAuthorization(answered(undefined))]).toEqual([
      ...[{ kind: "keep" }, { kind: "allow" }],
    ]);
    expect(readAuthorization(answered(true))).toEqual({ kind: "allow" });
    expect(readRewrite(answered({ arguments: { a: 1 }, block: undefined }))).toEqual({
      kind: "replace",
      arguments: { a: 1 },
    });
    expect(readAuthorization(answered({ ask: { a: 1 } }))).toEqual({ kind: "ask", ask: { a: 1 } });
    for (const [hook, read] of [
      ["policy", readRewrite],
      ["authorization", readAuthorization],
    ] as const) {
      const refuse = (reason: string, terminate: boolean): object => ({ kind: "refuse", reason, terminate });
      expect(read(answered({ terminate: true, block: "no" }))).toEqual(refuse("no", true));
      expect(read(answered({ block: "no", terminate: false }))).toEqual(refuse("no", false));
      expect(read(answered({ block: "" }))).toEqual(refuse(`refused by the host's ${hook}`, false));
      expect(read({ kind: "threw", error: new Error("hidden") })).toEqual(
        refuse(`not_executed: the host's ${hook} failed, so the call was refused.`, false),
      );
      expect(read({ kind: "timedOut" })).toEqual(
        refuse(`not_executed: the host's ${hook} did not answer in time, so the call was refused.`, false),
      );
    }
  });

  it.each<[string, unknown]>([
    ...[null, 5, "no", false, [], ["block"], {}, { terminate: true }].map((answer): [string, unknown] => [
      JSON.stringify(answer),
      answer,
    ]),
    ["a block that is not a string", { block: 1 }],
    ["an end that is no flag", { block: "no", terminate: "yes" }],
    ["two decisions", { block: "no", arguments: {}, ask: {} }],
    ["arguments that are no object", { arguments: [1] }],
    ["a question that is not an object", { ask: "sure?" }],
    [
      "a getter that throws",
      Object.defineProperty({}, "block", {
        enumerable: true,
        get: () => {
          throw new Error("hidden");
        },
      }),
    ],
  ])("is refused where it is %s", (_name, answer) => {
    expect([readRewrite(answered(answer)), readAuthorization(answered(answer))]).toEqual([
      ...[nonsense("policy"), nonsense("authorization")],
    ]);
  });
});
