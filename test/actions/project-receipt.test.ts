import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { DurableOutcome, ModelReceiptProjector, ProjectionInput } from "../../src/domain/action.ts";
import type { ToolResult } from "../../src/domain/content.ts";
import { UNCERTAIN_TEXT } from "../../src/settle/kernel-texts.ts";
import { type Projected, projectReceipt } from "../../src/settle/project-receipt.ts";
import { intentOf } from "./rig.ts";

const INTENT = intentOf("a");
const RECEIPT = GameActionReceipt.committed(INTENT, { gold: 5 });
const CANONICAL = { operationId: "a", status: "committed" };
const RESULT: ToolResult = {
  content: [{ type: "json", value: CANONICAL }],
  details: CANONICAL,
  isError: false,
  outcomeUncertain: false,
  terminate: false,
};
const FAILED = {
  ...RESULT,
  content: [{ type: "json", value: { status: "projection_failed" } }],
  failureCategory: "internal",
  isError: true,
  terminate: true,
};

function project(
  projector: unknown,
  more: { result?: ToolResult; outcome?: DurableOutcome | undefined; code?: string } = {},
): Projected {
  const { result = RESULT, outcome = { intent: INTENT, receipt: RECEIPT }, code = "refused" } = more;
  return projectReceipt({
    projector: projector as ModelReceiptProjector,
    result,
    outcome: "outcome" in more ? more.outcome : outcome,
    code,
  });
}

/** An object whose JSON text has exactly this many characters. */
function objectOf(characters: number): object {
  return { text: "x".repeat(characters - '{"text":""}'.length) };
}

const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);

describe("a projected receipt", () => {
  it("PROJ-2: changes what the model sees, and nothing else", () => {
    const projector = ({ intent, receipt }: ProjectionInput) => ({
      did: intent.action,
      gold: (receipt.result as { gold: number }).gold,
    });
    expect(project(projector)).toEqual({
      result: { ...RESULT, content: [{ type: "json", value: { did: "build", gold: 5 } }] },
      isFailed: false,
    });
    expect(project(() => ' { "a" : [1, {"a": 2}], "b": {"a": 3} } ').result.content).toEqual([
      { type: "json", value: { a: [1, { a: 2 }], b: { a: 3 } } },
    ]);
  });

  it("PROJ-2: the projector gets the stable intent and receipt, frozen, and no disposition or timing", () => {
    const projector = vi.fn((_input: ProjectionInput) => ({}));
    project(projector, {
      outcome: {
        intent: INTENT,
        receipt: RECEIPT,
        disposition: "replayed",
        timings: { totalMs: 1, hostMs: 1, frameworkMs: 0 },
      },
    });
    const [input] = projector.mock.calls[0] ?? [];
    expect(input).toEqual({ intent: INTENT, receipt: RECEIPT });
    expect(
      [input?.intent, input?.intent.arguments, input?.receipt, input?.receipt.result, input?.receipt.moment].every(
        Object.isFrozen,
      ),
    ).toBe(true);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("secret");
      },
    ],
    ["answers null", () => null],
    ["answers undefined", () => undefined],
    ["answers a number", () => 5],
    ["answers a list", () => [1]],
    ["answers a promise", async () => ({ a: 1 })],
    [
      "answers something that will answer later",
      () => Object.assign({}, ...["then"].map((name) => ({ [name]: () => undefined }))),
    ],
    ["answers a map", () => new Map([["a", 1]])],
    ["answers what is not JSON", () => ({ n: 1n })],
    [
      "answers a cycle",
      () => {
        const value: { self?: unknown } = {};
        value.self = value;
        return value;
      },
    ],
    [
      "answers a getter that throws",
      () => ({
        get a() {
          throw new Error("secret");
        },
      }),
    ],
    ["answers text that is not JSON", () => "{a: 1}"],
    ["answers text with more behind the JSON", () => "{} {}"],
    ["answers the text of a list", () => "[1]"],
    ["answers the text of a number", () => "1"],
    ["answers the text of a text", () => '"a"'],
    ["answers the text of null", () => "null"],
    ["answers empty text", () => ""],
    ["answers a text object", () => Object("{}")],
    ["answers text with a key twice", () => '{"a":1,"b":{"c":1},"a":2}'],
    ["answers text with a key twice, spelt otherwise", () => '{"a":1,"\\u0061":2}'],
    ["answers text with a key twice deep inside", () => '{"list":[{"x":1},{"y":{"k":1, "k" :2}}]}'],
    ["answers text with a number that cannot be held", () => '{"n":1e400}'],
    ["answers too much", () => objectOf(64_001)],
    ["answers too much text", () => `${JSON.stringify(objectOf(63_999))}  `],
    ["answers too deep an object", () => nested(65)],
    ["answers too deep a text", () => JSON.stringify(nested(65))],
    ["changes what it was given", ({ receipt }: ProjectionInput) => Object.assign(receipt, { status: "failed" })],
  ])("PROJ-4: a projector that %s gives a fixed, terminating result and leaks nothing", (_name, projector) => {
    const { result, isFailed } = project(projector);
    expect([result, isFailed]).toEqual([FAILED, true]);
    expect(JSON.stringify(result)).not.toContain("secret");
  });

  it("PROJ-3: exactly 64,000 characters and 64 containers are allowed", () => {
    for (const answer of [objectOf(64_000), JSON.stringify(objectOf(64_000)), nested(64), JSON.stringify(nested(64))]) {
      expect(project(() => answer).isFailed).toBe(false);
    }
  });

  it("PROJ-3: any object is shown as it is, as an object or as its text", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const shown = JSON.parse(JSON.stringify(value));
        for (const answer of [value, JSON.stringify(value), JSON.stringify(value, null, 2)]) {
          const { result, isFailed } = project(() => answer);
          expect(isFailed).toBe(false);
          expect(JSON.stringify(result.content)).toBe(JSON.stringify([{ type: "json", value: wellFormed(shown) }]));
        }
      }),
    );
  });

  it("PROJ-3: text with a key repeated anywhere is refused", () => {
    const key = fc.string({ minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(key, fc.jsonValue({ maxDepth: 2 }), fc.integer({ min: 0, max: 5 }), (name, value, depth) => {
        const twice = `{${JSON.stringify(name)}:${JSON.stringify(value)},${JSON.stringify(name)}:1}`;
        const text = `${'{"in":['.repeat(depth)}${twice}${"]}".repeat(depth)}`;
        expect(project(() => text).isFailed).toBe(true);
      }),
    );
  });

  it("PROJ-6: an uncertain result carries the kernel's text beside its projection, and beside a failed one", () => {
    const { operationId, moment } = INTENT;
    const receipt = {
      operationId,
      moment,
      status: "uncertain",
      result: null,
      code: "no_answer",
      message: "x",
    } as const;
    const uncertain: ToolResult = { ...RESULT, isError: true, failureCategory: "timeout", outcomeUncertain: true };
    const outcome = { intent: INTENT, receipt };
    const text = { type: "text", text: UNCERTAIN_TEXT };
    expect(project(() => ({ all: "well" }), { result: uncertain, outcome })).toEqual({
      result: { ...uncertain, content: [{ type: "json", value: { all: "well" } }, text] },
      isFailed: false,
    });
    expect(project(() => null, { result: uncertain, outcome })).toEqual({
      result: {
        ...uncertain,
        content: [{ type: "json", value: { status: "projection_failed" } }, text],
        terminate: true,
      },
      isFailed: true,
    });
  });

  it("PROJ-6: without a receipt the projector is not called, the content is a fixed status, and the text goes to the details", () => {
    const projector = vi.fn();
    const refused: ToolResult = {
      content: [{ type: "text", text: "Plot 9 does not exist." }],
      isError: true,
      failureCategory: "invalidArguments",
      outcomeUncertain: false,
      terminate: false,
    };
    expect(project(projector, { result: refused, outcome: undefined, code: "refused" })).toEqual({
      result: {
        ...refused,
        content: [{ type: "json", value: { status: "refused" } }],
        details: { status: "refused", message: "Plot 9 does not exist." },
      },
      isFailed: false,
    });
    const blocked = { ...refused, details: { operationId: "a", status: "conflict_blocked" } };
    expect(
      project(projector, { result: blocked, outcome: { intent: INTENT, code: "conflict_blocked" }, code: "failed" }),
    ).toEqual({
      result: { ...blocked, content: [{ type: "json", value: { status: "conflict_blocked" } }] },
      isFailed: false,
    });
    const content = [...refused.content, { type: "json" as const, value: 1 }, { type: "text" as const, text: "Ask." }];
    expect(
      project(projector, { result: { ...refused, content }, outcome: { receipt: RECEIPT } }).result.details,
    ).toEqual({
      status: "refused",
      message: "Plot 9 does not exist.\nAsk.",
    });
    expect(projector).not.toHaveBeenCalled();
  });

  it("PROJ-7: a failed projection of a committed write stays certain", () => {
    expect(project(() => null).result.outcomeUncertain).toBe(false);
  });
});

function wellFormed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, inner: unknown) =>
    typeof inner === "string" ? inner.toWellFormed() : inner,
  );
}
