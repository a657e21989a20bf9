import { describe, expect, it } from "vitest";
import { type ContentPart, type ToolResult, toolResult } from "../../src/domain/content.ts";
import { ToolError } from "../../src/domain/errors.ts";
import { messageOf } from "../../src/domain/read-thrown.ts";
import { failureResult, readReturn, stoppedResult, uncertainResult } from "../../src/settle/settle-call.ts";

const OPTIONS = { maxCharacters: 1_000, isWrite: true };

/** What is read of a return value that is no failure. */
const success = (content: readonly ContentPart[], rest: object = {}): unknown => ({
  means: "success",
  result: { content, isError: false, outcomeUncertain: false, terminate: false, ...rest },
});

const read = (value: unknown): unknown => readReturn(value, OPTIONS);

const text = (said: string): ContentPart => ({ type: "text", text: said });

const json = (value: never): ContentPart => ({ type: "json", value });

describe("what an executor returned", () => {
  it.each<[string, unknown, ContentPart[]]>([
    ["nothing", undefined, []],
    ["a function", () => 1, []],
    ["null", null, [json(null as never)]],
    ["true", true, [json(true as never)]],
    ["false", false, [json(false as never)]],
    ["a number", 7, [json(7 as never)]],
    ["a text", "said", [text("said")]],
    ["an empty text", "", [text("")]],
    ["a list", [1, "a", null], [json([1, "a", null] as never)]],
    ["an object", { a: { b: 1 } }, [json({ a: { b: 1 } } as never)]],
  ])("UNC-1: %s is content as it is", (_name, value, content) => {
    expect(read(value)).toEqual(success(content));
  });

  it("UNC-1: is copied, so that no later change reaches what was recorded", () => {
    const value = { list: [1] };
    const answer = readReturn(value, OPTIONS);
    value.list.push(2);
    expect(answer).toEqual(success([json({ list: [1] } as never)]));
  });

  it("UNC-1: in MCP's shape says content and error", () => {
    const content = [{ type: "text", text: "found" }];
    expect(read({ content })).toEqual(success([text("found")]));
    expect(read({ content: [] })).toEqual(success([]));
    expect(read({ content, isError: false })).toEqual(success([text("found")]));
    expect(read({ content, isError: true, structuredContent: { a: 1 } })).toEqual({
      means: "failure",
      result: {
        content: [text("found")],
        isError: true,
        failureCategory: "unspecified",
        outcomeUncertain: false,
        terminate: false,
      },
    });
  });

  it.each<[string, unknown]>([
    ["content that is not a list", { content: "found" }],
    ["an error flag that is none", { content: [], isError: "yes" }],
    ["a part that is not an object", { content: [{ type: "text", text: "a" }, "b"] }],
    ["a part that is null", { content: [null] }],
    ["a part without a type", { content: [{ text: "a" }] }],
    ["a part whose type is not a string", { content: [{ type: 1 }] }],
    ["an error flag alone", { isError: true }],
  ])("UNC-1: with %s is a value like any other", (_name, value) => {
    expect(read(value)).toEqual(success([json(value as never)]));
  });

  it("UNC-1: with a content that cannot be looked at is no lost outcome", () => {
    const value = {
      get content(): never {
        throw new Error("hidden");
      },
    };
    expect(read(value)).toEqual(
      success([text("completed; do not repeat. Its result could not be recorded (not representable as JSON).")]),
    );
  });

  it("UNC-1: keeps the flags that can be read when another field cannot", () => {
    const declared = {
      ...toolResult({ isError: true, failureCategory: "conflict", terminate: true, content: "full" }),
    };
    Object.defineProperty(declared, "details", {
      get: () => {
        throw new Error("hidden");
      },
    });
    expect(read(declared)).toEqual({
      means: "failure",
      result: {
        content: [text("full")],
        details: { kind: "fault", fault: "not representable as JSON" },
        isError: true,
        failureCategory: "conflict",
        outcomeUncertain: false,
        terminate: true,
      },
    });
  });

  it("UNC-1: declared, has only what was named: a value, details, flags", () => {
    expect(read(toolResult({ value: 3 }))).toEqual(success([json(3 as never)]));
    expect(read(toolResult({ value: 3, content: "three" }))).toEqual(success([text("three")]));
    expect(read(toolResult({ details: { a: 1 }, terminate: true }))).toEqual(
      success([], { details: { a: 1 }, terminate: true }),
    );
    const plain = readReturn(toolResult({ value: 3 }), OPTIONS).result;
    expect(Object.keys(plain).sort()).toEqual(["content", "isError", "outcomeUncertain", "terminate"]);
    const without = readReturn(toolResult({ value: 3, details: () => 1 }), OPTIONS).result;
    expect(Object.keys(without).sort()).toEqual(["content", "isError", "outcomeUncertain", "terminate"]);
  });

  it("UNC-1: of a write may declare that it is lost; of a read it may not", () => {
    const declared = toolResult({ content: "maybe", outcomeUncertain: true });
    expect(readReturn(declared, OPTIONS)).toEqual({
      means: "lost",
      result: {
        content: [text("maybe")],
        isError: true,
        failureCategory: "unspecified",
        outcomeUncertain: true,
        terminate: false,
      },
    });
    expect(readReturn(declared, { ...OPTIONS, isWrite: false })).toEqual(success([text("maybe")]));
  });

  it("UNC-1: has an unknown category where it names none that is known", () => {
    expect(readReturn(toolResult({ isError: true, failureCategory: "odd" as never }), OPTIONS).result).toMatchObject({
      failureCategory: "unspecified",
    });
  });
});

describe("what was thrown", () => {
  it("UNC-1: is told up to 10,000 characters of it", () => {
    expect(messageOf("x".repeat(10_000))).toBe("x".repeat(10_000));
    expect(messageOf("x".repeat(10_001))).toBe(`${"x".repeat(10_000)}…`);
  });

  it("UNC-1: is told by its message, else its name, else as what it is", () => {
    expect(messageOf(new Error("broken"))).toBe("broken");
    expect(messageOf(new RangeError(""))).toBe("RangeError");
    expect(messageOf("said")).toBe("said");
    expect(messageOf({ message: "said" })).toBe("The tool threw a value that is not an Error.");
    const hidden = Object.defineProperty(new Error("x"), "message", {
      get: () => {
        throw new Error("hidden");
      },
    });
    expect(messageOf(hidden)).toBe("The tool threw an error that cannot be read.");
  });

  it("UNC-1: has the category it names, where it can be read and is known", () => {
    const error = new ToolError("full", { failureCategory: "conflict" });
    expect(failureResult(error, "transient").failureCategory).toBe("conflict");
    const hidden = Object.defineProperty(new ToolError("full"), "failureCategory", {
      get: () => {
        throw new Error("hidden");
      },
    });
    expect(failureResult(hidden, "transient").failureCategory).toBe("unspecified");
    expect(failureResult(new Error("broken"), "transient").failureCategory).toBe("transient");
  });
});

describe("an executor that gave no answer", () => {
  const result = (said: string, failureCategory: string): unknown => ({
    content: [text(said)],
    isError: true,
    failureCategory,
    outcomeUncertain: false,
    terminate: false,
  });

  it("CAN-2: is told as a time-out or a cancellation, with the host's reason for that one alone", () => {
    expect(stoppedResult("timeout")).toEqual(result("The call did not answer within its time-out.", "timeout"));
    expect(stoppedResult("timeout", "tired")).toEqual(
      result("The call did not answer within its time-out.", "timeout"),
    );
    expect(stoppedResult("cancelled")).toEqual(result("The call was cancelled while it ran.", "cancelled"));
    expect(stoppedResult("cancelled", "tired")).toEqual(
      result("The call was cancelled while it ran. Reason: tired", "cancelled"),
    );
  });

  it("UNC-8: of a write is uncertain, whatever was said of it, with its details and its wish to end", () => {
    const said: ToolResult = {
      content: [text("half")],
      details: { a: 1 },
      isError: false,
      outcomeUncertain: false,
      terminate: true,
    };
    const warning = expect.objectContaining({ text: expect.stringMatching(/^The outcome of this call is unknown/) });
    const rest = { isError: true, failureCategory: "timeout", outcomeUncertain: true };
    expect(uncertainResult("timeout", said)).toEqual({
      ...rest,
      content: [text("half"), warning],
      details: { a: 1 },
      terminate: true,
    });
    expect(uncertainResult("timeout", "half")).toEqual({ ...rest, content: [text("half"), warning], terminate: false });
    expect(uncertainResult("timeout")).toEqual({ ...rest, content: [warning], terminate: false });
    const { details: _details, ...plain } = said;
    expect(Object.keys(uncertainResult("timeout", plain))).not.toContain("details");
  });
});
