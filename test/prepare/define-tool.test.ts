import { KernelError } from "toolkernel";
import { describe, expect, it } from "vitest";
import { compileToolSchema } from "../../src/prepare/compile-schema.ts";
import { defineTool } from "../../src/prepare/define-tool.ts";

const define = (more: object): unknown => {
  try {
    const { timeoutMs } = defineTool({
      ...{ name: "read", description: "", inputSchema: {}, execute: () => 1 },
      ...more,
    });
    return timeoutMs;
  } catch (error) {
    return error instanceof KernelError ? [error.subject, error.message] : error;
  }
};

describe("PREP-1: a tool", () => {
  it.each([1, 30_000, 2_147_483_647])("may have a time-out of %s ms", (timeoutMs) => {
    expect(define({ timeoutMs })).toBe(timeoutMs);
  });

  it.each([0, 0.5, 1.5, -1, 2_147_483_648, Number.NaN, Number.POSITIVE_INFINITY, "5", [5], true, null, {}])(
    "may not have a time-out of %s",
    (timeoutMs) => {
      expect(define({ timeoutMs })).toEqual([
        "timeoutMs",
        'Tool "read": timeoutMs must be a whole number from 1 to 2147483647.',
      ]);
    },
  );

  it("with an option that nobody knows is told its name, as far as it may be shown", () => {
    const name = "x".repeat(65);
    expect(define({ [name]: 1 })).toEqual([
      name.slice(0, 64),
      `Tool "read": ${name.slice(0, 64)} is not an option of a tool; check its spelling.`,
    ]);
  });

  it.each<[string, unknown, string]>([
    ["an error", new Error("odd"), "Correct the schema."],
    ["nothing", null, "Correct the schema."],
    ["nothing at all", undefined, "Correct the schema."],
    ["an error of another realm that code is forbidden", { name: "EvalError" }, "pass a jsonSchemaValidator"],
    ["an error that code is forbidden", new EvalError("odd"), "pass a jsonSchemaValidator"],
  ])("PREP-2: whose schema a validator refuses by throwing %s is told what to change", (_name, thrown, advice) => {
    const validator = {
      compile: (): never => {
        throw thrown;
      },
    };
    const compile = (): unknown =>
      compileToolSchema({ toolName: "read", schema: {}, validator, strict: true, imported: false } as never);
    expect(compile).toThrow(KernelError);
    expect(compile).toThrow(advice);
  });
});
