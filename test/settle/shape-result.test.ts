import { describe, expect, it } from "vitest";
import { type ToolResult, toolResult } from "../../src/domain/content.ts";
import { freezeResult } from "../../src/settle/freeze-result.ts";
import { blockedText, showName, UNCERTAIN_TEXT, WITHHELD_TEXT } from "../../src/settle/kernel-texts.ts";
import { shapeByHook, withholdResult } from "../../src/settle/shape-result.ts";
import { toolMessages } from "../../src/settle/tool-messages.ts";

const DONE: ToolResult = {
  content: [{ type: "text", text: "done" }],
  isError: false,
  outcomeUncertain: false,
  terminate: false,
};
const FAILED: ToolResult = {
  ...DONE,
  isError: true,
  failureCategory: "transient",
  details: { at: 1 },
  terminate: true,
};
const WARNING = { type: "text" as const, text: UNCERTAIN_TEXT };
const LOST: ToolResult = {
  content: [{ type: "text", text: "sent?" }, WARNING],
  isError: true,
  failureCategory: "timeout",
  outcomeUncertain: true,
  terminate: false,
};
const shape = (result: ToolResult, answer: unknown): ToolResult => shapeByHook(result, answer, 1_000);
const said = (text: string): ToolResult["content"] => [{ type: "text", text }];

describe("what afterToolCall answers", () => {
  it("PREP-13: changes the fields it names, and leaves the others", () => {
    expect(shape(DONE, undefined)).toBe(DONE);
    for (const result of [DONE, FAILED]) {
      expect(shape(result, {})).toStrictEqual(result);
      expect(shape(result, { content: undefined, isError: undefined, oddity: undefined })).toStrictEqual(result);
      expect(shape(result, { content: "shown" })).toStrictEqual({ ...result, content: said("shown") });
      expect(shape(result, { value: "shown" })).toStrictEqual({ ...result, content: said("shown") });
      expect(shape(result, { details: [2] })).toStrictEqual({ ...result, details: [2] });
      expect(shape(result, { terminate: true })).toStrictEqual({ ...result, terminate: true });
      expect(shape(result, { terminate: false })).toStrictEqual({ ...result, terminate: false });
    }
  });

  it("PREP-13: makes an error of a success, and a success of an error, with the category that goes with it", () => {
    expect(shape(DONE, { isError: true })).toStrictEqual({ ...DONE, isError: true, failureCategory: "unspecified" });
    expect(shape(DONE, { isError: true, failureCategory: "conflict" })).toStrictEqual({
      ...DONE,
      isError: true,
      failureCategory: "conflict",
    });
    expect(shape(DONE, { failureCategory: "conflict" })).toStrictEqual(DONE);
    const { failureCategory: _category, ...success } = FAILED;
    expect(shape(FAILED, { isError: false })).toStrictEqual({ ...success, isError: false });
    expect(shape(FAILED, { isError: true, failureCategory: "conflict" })).toStrictEqual({
      ...FAILED,
      failureCategory: "conflict",
    });
  });

  it("PREP-13, UNC-1: makes nothing uncertain, and nothing uncertain certain", () => {
    expect(shape(DONE, { outcomeUncertain: true })).toStrictEqual(DONE);
    expect(shape(DONE, { outcomeUncertain: true, isError: false })).toStrictEqual(DONE);
    expect(shape(LOST, { outcomeUncertain: false, isError: false, failureCategory: "conflict" })).toStrictEqual(LOST);
    expect(shape(LOST, { content: "fine" })).toStrictEqual({ ...LOST, content: [...said("fine"), WARNING] });
    expect(shape(LOST, { content: [WARNING, { type: "text", text: "fine" }] })).toStrictEqual({
      ...LOST,
      content: [WARNING, ...said("fine")],
    });
    expect(shape(LOST, { content: [{ type: "json", value: UNCERTAIN_TEXT }] }).content).toStrictEqual([
      { type: "json", value: UNCERTAIN_TEXT },
      WARNING,
    ]);
    const { failureCategory: _category, ...plain } = LOST;
    expect(shape(plain, { content: "fine" }).failureCategory).toBe("unspecified");
  });

  it("PREP-13: may be declared, or have no prototype", () => {
    expect(shape(DONE, toolResult({ content: "shown" }))).toStrictEqual({ ...DONE, content: said("shown") });
    const bare: unknown = Object.assign(Object.create(null), { content: "shown" });
    expect(shape(DONE, bare)).toStrictEqual({ ...DONE, content: said("shown") });
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["a text", "shown"],
    ["a number", 7],
    ["true", true],
    ["a function", () => ({ content: "shown" })],
    ["an error", new Error("shown")],
    ["a map", new Map([["content", "shown"]])],
    ["a list", []],
    ["an object with a field of no result", { content: "shown", note: 1 }],
    [
      "an object that cannot be looked into",
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("hidden");
          },
        },
      ),
    ],
  ])("PREP-13: that is %s is no result: what was made is withheld", (_name, answer) => {
    expect(shape(FAILED, answer)).toStrictEqual({
      ...FAILED,
      content: said(WITHHELD_TEXT),
      failureCategory: "internal",
    });
  });

  it("PREP-13, UNC-8: withheld, keeps its details, its end and its warning", () => {
    expect(withholdResult(DONE)).toStrictEqual({
      ...DONE,
      content: said(WITHHELD_TEXT),
      isError: true,
      failureCategory: "internal",
    });
    expect(withholdResult(LOST)).toStrictEqual({
      ...LOST,
      content: [...said(WITHHELD_TEXT), WARNING],
      failureCategory: "internal",
    });
  });
});

describe("a settled result", () => {
  it("EPOCH-6: is frozen throughout, lists and objects within", () => {
    const details = { list: [{ a: [1] }], none: null };
    const result: ToolResult = { ...DONE, details };
    expect(freezeResult(result)).toBe(result);
    for (const part of [
      result,
      result.content,
      result.content[0],
      details,
      details.list,
      details.list[0],
      details.list[0]?.a,
    ])
      expect(Object.isFrozen(part)).toBe(true);
  });

  it("EPOCH-6: is told to the model with what it has, and no field that it has not", () => {
    const call = { id: "a", name: "read", arguments: {} };
    const told = { role: "toolResult", callId: "a", toolName: "read", callIndex: 2 };
    const settledAs = (result: ToolResult, more: object): unknown =>
      toolMessages([{ call: { ...call, ...more }, index: 2, result } as never]);
    expect(settledAs(DONE, {})).toStrictEqual([{ ...told, ...DONE }]);
    expect(settledAs(FAILED, { providerData: { kept: 1 } })).toStrictEqual([
      { ...told, ...FAILED, providerData: { kept: 1 } },
    ]);
  });
});

describe("a name that is shown", () => {
  it("UNC-5: is well-formed, without control characters, and at most 128 characters long", () => {
    expect(showName("read")).toBe('"read"');
    expect(showName("a\nb\u0000c\ud800")).toBe('"a\ufffdb\ufffdc\ufffd"');
    expect(showName("x".repeat(128))).toBe(`"${"x".repeat(128)}"`);
    expect(showName("x".repeat(129))).toBe(`"${"x".repeat(128)}…"`);
    expect(showName(`${"x".repeat(127)}\u{1f600}`)).toBe(`"${"x".repeat(127)}\ufffd…"`);
    expect(blockedText({ callId: "a\n", toolName: "send" })).toBe(
      'not_executed: the outcome of call "a\ufffd" ("send") is unknown and this call could touch the same thing. Find out what became of it first.',
    );
  });
});
