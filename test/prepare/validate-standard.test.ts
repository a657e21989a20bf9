import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { StandardSchema } from "../../src/domain/schema.ts";
import { validateStandard } from "../../src/prepare/validate-standard.ts";

function answering(validate: (value: unknown) => unknown): StandardSchema {
  // Schemas under test answer nonsense too, which the type forbids.
  return { "~standard": { version: 1, vendor: "test", validate: validate as StandardSchema["~standard"]["validate"] } };
}

const THREW = { ok: false, reason: "the validation of the tool's input schema failed", threw: true };

describe("validateStandard", () => {
  it("PREP-1: the output of the schema is answered, and its validation runs once", () => {
    let runs = 0;
    const schema = z.object({
      n: z.string().transform((text) => {
        runs += 1;
        return Number(text);
      }),
      mode: z.string().default("fast"),
    });
    expect(validateStandard(schema, Object.freeze({ n: "3" }))).toEqual({ ok: true, value: { n: 3, mode: "fast" } });
    expect(runs).toBe(1);
  });

  it("PREP-1: an asynchronous validation is waited for", async () => {
    const schema = z.object({ a: z.string().refine(async (text) => text === "good", "is not good") });
    await expect(validateStandard(schema, { a: "good" })).resolves.toEqual({ ok: true, value: { a: "good" } });
    await expect(validateStandard(schema, { a: "bad" })).resolves.toEqual({
      ok: false,
      reason: "at /a: is not good",
      threw: false,
    });
  });

  it("PREP-11: issues are told by path, at most eight of them", () => {
    const issues = Array.from({ length: 10 }, (_, index) => ({ message: "is wrong", path: ["list", { key: index }] }));
    const verdict = validateStandard(
      answering(() => ({ issues })),
      {},
    );
    expect(verdict).toMatchObject({ ok: false, threw: false });
    expect((verdict as { reason: string }).reason.split("; ")).toEqual([
      ...Array.from({ length: 8 }, (_, index) => `at /list/${index}: is wrong`),
      "and 2 more",
    ]);
    expect(
      validateStandard(
        answering(() => ({ issues: [{ message: "no" }] })),
        {},
      ),
    ).toEqual({ ok: false, reason: "no", threw: false });
  });

  it.each<[unknown, string, string]>([
    [
      "hunter2",
      'Invalid type: Expected number but received "hunter2"',
      "Invalid type: Expected number but received (the value)",
    ],
    ["hunter2", "must be a number (was hunter2)", "must be a number (was (the value))"],
    [5, "Invalid value: Expected >=50 but received 5", "Invalid value: Expected >=50 but received (the value)"],
    [{ a: 1 }, 'must be a string (was {"a":1})', "must be a string (was (the value))"],
  ])("PREP-11: a value that a library quotes is taken out of its message (%#)", (value, message, shown) => {
    const schema = answering(() => ({ issues: [{ message, path: ["field"] }] }));
    expect(validateStandard(schema, { field: value })).toEqual({
      ok: false,
      reason: `at /field: ${shown}`,
      threw: false,
    });
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("hunter2");
      },
    ],
    ["answers nothing", () => undefined],
    ["answers neither value nor issues", () => ({})],
    ["answers issues that are no list", () => ({ issues: 5 })],
    [
      "answers what throws when read",
      () => ({
        get issues() {
          throw new Error("hunter2");
        },
      }),
    ],
  ])("PREP-1: a schema that %s is at fault itself", (_name, validate) => {
    expect(validateStandard(answering(validate), {})).toEqual(THREW);
  });

  it("PREP-1: a validation that rejects is a verdict too", async () => {
    await expect(
      validateStandard(
        answering(() => Promise.reject(new Error("hunter2"))),
        {},
      ),
    ).resolves.toEqual(THREW);
  });
});
