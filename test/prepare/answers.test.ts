import { ToolError } from "toolkernel";
import { describe, expect, it } from "vitest";
import { isPromiseLike } from "../../src/domain/promise-like.ts";
import type { StandardSchema } from "../../src/domain/schema.ts";
import { accept, authorize, isUnasked } from "../../src/prepare/authorize.ts";
import { refuse, refuseThrown } from "../../src/prepare/refuse.ts";
import { runSteps, type Steps, takeNow, wait } from "../../src/prepare/steps.ts";
import { validateStandard } from "../../src/prepare/validate-standard.ts";

const validated = (answer: unknown, value: unknown = {}): unknown =>
  validateStandard({ "~standard": { version: 1, vendor: "test", validate: () => answer } } as StandardSchema, value);
const told = (message: string, value: unknown, path: unknown[] = []): unknown =>
  (validated({ issues: [{ message, path }] }, value) as { readonly reason: string }).reason;

describe("PREP-1: what a Standard Schema answers", () => {
  it.each([null, 5, "value", true, () => ({ value: 1 }), { issues: {} }, { issues: "no" }, { issues: 5, value: 1 }])(
    "is no answer where it is %s",
    (answer) => {
      expect(validated(answer)).toEqual({
        ok: false,
        reason: "the validation of the tool's input schema failed",
        threw: true,
      });
    },
  );

  it("is a value, of whatever kind, or issues, even none", () => {
    for (const value of [undefined, null, 0, "", { a: 1 }]) expect(validated({ value })).toEqual({ ok: true, value });
    for (const issues of [undefined, null, 0, false])
      expect(validated({ value: 1, issues })).toEqual({ ok: true, value: 1 });
    const reason = "the tool's input schema refuses the arguments";
    expect(validated({ value: 1, issues: [] })).toEqual({ ok: false, reason, threw: false });
  });

  it("is an answer at once where its then is not a function, and waited for where it is one", async () => {
    const [name, later] = ["then", { value: 2 }];
    expect(validated({ value: 1, [name]: 5 })).toEqual({ ok: true, value: 1 });
    await expect(
      validated({ value: 1, [name]: (settle: (answer: unknown) => void) => settle(later) }),
    ).resolves.toEqual({ ok: true, value: 2 });
  });

  it.each<[message: string, value: unknown, shown: string]>([
    ["was \"abc\", not 'abc', abc", "abc", "was (the value), not (the value), abc"],
    ["was \"abcd\", not 'abcd', abcd", "abcd", "was (the value), not (the value), (the value)"],
    ["was \"\" or ''", "", "was \"\" or ''"],
    ["was -1.25, not 1.25 or 25", -1.25, "was (the value), not 1.25 or 25"],
    ["was 12, not 120 or 1.2", 12, "was (the value), not 120 or 1.2"],
    ['was {"a":1}', { a: 1 }, "was (the value)"],
    ["was [1]", [1], "was (the value)"],
    ["was null", null, "was null"],
    ["was true", true, "was true"],
    ["was undefined", undefined, "was undefined"],
  ])("says %j of %j as %j", (message, value, shown) => {
    expect(told(message, value)).toBe(shown);
  });

  it("says nothing of the value at its path, and leaves what stands elsewhere", () => {
    const value = { list: [{ key: "hunter2" }], none: null, text: "hunter2" };
    expect(told("was hunter2", value, ["list", { key: 0 }, "key"])).toBe("at /list/0/key: was (the value)");
    for (const path of [["none", "key"], ["text", "length", "x"], ["absent"], ["toString"], ["list", 5, "key"]])
      expect(told("was hunter2", value, path)).toBe(`at /${path.join("/")}: was hunter2`);
    expect(told("was 7", value, ["text", "length"])).toBe("at /text/length: was 7");
    expect(told("x".repeat(301), value)).toBe(`${"x".repeat(300)}…`);
  });
});

describe("PREP-6: a refusal", () => {
  it("has what is known of the call, and nothing else", () => {
    const tool = { name: "read" } as never;
    const plain = { kind: "refusal", failureCategory: "conflict", reason: "no", terminate: false, repairs: [] };
    const repairs = [{ step: "wrapSingle", pointer: "/a" }];
    expect(refuse("conflict", "no", {})).toStrictEqual(plain);
    expect(refuse("conflict", "no", { tool: undefined, draft: undefined })).toStrictEqual(plain);
    expect(refuse("conflict", "no", { tool, draft: null, repairs, terminate: true })).toStrictEqual({
      ...plain,
      terminate: true,
      repairs,
      tool,
      draft: null,
    });
    expect(refuse("conflict", "no", { draft: 0 })).toStrictEqual({ ...plain, draft: 0 });
  });

  it("for a throw of the tool's own code says where it was thrown, and of a ToolError what it says", () => {
    const reasonOf = (where: "prepareArguments" | "validate" | "conflictKey", error: unknown): unknown => {
      const { failureCategory, reason } = refuseThrown({ where, error }, {});
      return [failureCategory, reason];
    };
    const failed = (where: string): string => `not_executed: the tool's ${where} failed.`;
    expect(reasonOf("prepareArguments", new Error("x"))).toEqual(["invalidArguments", failed("prepareArguments")]);
    expect(reasonOf("validate", "x")).toEqual(["internal", failed("validate")]);
    expect(reasonOf("conflictKey", undefined)).toEqual(["internal", failed("conflictKey")]);
    expect(reasonOf("validate", new ToolError("full", { failureCategory: "conflict" }))).toEqual(["conflict", "full"]);
  });
});

describe("PREP-1: steps", () => {
  function* sum(...values: unknown[]): Steps<unknown[]> {
    const seen: unknown[] = [];
    for (const value of values) seen.push(yield* wait(value));
    return seen;
  }

  it("end at once where nothing is waited for, else by a promise, each value in its place", async () => {
    const then = "then";
    const noPromises = [null, undefined, 1, "a", {}, { [then]: 5 }, () => 1];
    expect(runSteps(sum(...noPromises))).toEqual(noPromises);
    const foreign = Object.assign(() => 1, { [then]: (settle: (value: number) => void) => settle(3) });
    await expect(runSteps(sum(1, Promise.resolve(2), foreign, 4, Promise.resolve(5)))).resolves.toEqual([
      1, 2, 3, 4, 5,
    ]);
    expect([...noPromises, Promise.resolve(), foreign].map((value) => isPromiseLike<unknown>(value))).toEqual([
      ...noPromises.map(() => false),
      true,
      true,
    ]);
  });

  it("see what they wait for reject where they wait", async () => {
    function* caught(): Steps<string> {
      try {
        yield* wait(Promise.reject(new Error("x")));
        return "none";
      } catch (error) {
        return (error as Error).message;
      }
    }
    await expect(runSteps(caught())).resolves.toBe("x");
    await expect(runSteps(sum(Promise.reject(new Error("y"))))).rejects.toThrow("y");
  });

  it("pass on what may not wait as it is; that it rejects ends nothing", async () => {
    const rejected = Promise.reject(new Error("x"));
    expect([takeNow(5), takeNow(rejected), takeNow(undefined)]).toEqual([5, rejected, undefined]);
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe("APP-1: the last word on a call", () => {
  const call = (needsApproval?: unknown): never =>
    ({
      registered: { tool: { name: "write", ...(needsApproval !== undefined && { needsApproval }) } },
      draft: { d: 1 },
      arguments: { a: 1 },
      conflictKeys: ["k"],
      repairs: [],
    }) as never;
  const port = (authorizeToolCall?: unknown): never =>
    ({
      host: 7,
      runId: "r",
      bound: (ask: () => unknown) => {
        try {
          return { kind: "answered", answer: ask() };
        } catch (error) {
          return { kind: "threw", error };
        }
      },
      ...(authorizeToolCall !== undefined && { authorizeToolCall }),
    }) as never;
  const draft = { call: { id: "c", name: "write", arguments: {} }, callIndex: 0 } as never;
  const accepted = {
    kind: "prepared",
    tool: expect.objectContaining({ name: "write" }),
    draft: { d: 1 },
    arguments: { a: 1 },
    conflictKeys: ["k"],
    repairs: [],
  };
  const judge = (work: never, by: never): unknown => runSteps(authorize(draft, work, by));

  it("is nobody's where neither the host nor the tool asks", () => {
    const [tool, host] = [() => undefined, () => ({ kind: "answered", answer: undefined })];
    expect([isUnasked(call(), port()), isUnasked(call(tool), port()), isUnasked(call(), port(host))]).toEqual([
      ...[true, false, false],
    ]);
    expect(accept(call())).toStrictEqual({ ...accepted, tool: { name: "write" } });
    expect([judge(call(), port()), judge(call(tool), port(host))]).toEqual([accepted, accepted]);
  });

  it("is the host's, and of what the host allows the tool's", () => {
    const seen: unknown[] = [];
    const asks = (args: unknown, facts: unknown): unknown => {
      seen.push([args, facts]);
      return { about: 1 };
    };
    const answers = (answer: unknown) => () => ({ kind: "answered", answer });
    expect(judge(call(asks), port())).toEqual({ ...accepted, ask: { about: 1 } });
    expect(judge(call(asks), port(answers(undefined)))).toEqual({ ...accepted, ask: { about: 1 } });
    expect(judge(call(asks), port(answers({ ask: { by: "host" } })))).toEqual({ ...accepted, ask: { by: "host" } });
    expect(seen).toEqual(Array(2).fill([{ a: 1 }, { host: 7, runId: "r" }]));
    expect(judge(call(asks), port(answers({ block: "no", terminate: true })))).toMatchObject({
      kind: "refusal",
      failureCategory: "authorization",
      reason: "no",
      terminate: true,
    });
    expect(seen).toHaveLength(2);
  });

  it("refuses where the tool's own question fails or is none", () => {
    const thrower = (): never => {
      throw new Error("hidden");
    };
    expect(judge(call(thrower), port())).toMatchObject({
      kind: "refusal",
      reason: "not_executed: the host's authorization failed, so the call was refused.",
    });
    expect(
      judge(
        call(() => "sure?"),
        port(),
      ),
    ).toMatchObject({
      kind: "refusal",
      reason: "not_executed: the host's authorization gave no valid answer, so the call was refused.",
    });
  });
});
