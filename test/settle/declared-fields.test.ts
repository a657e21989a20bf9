import { OutcomeUnknownError, ToolError, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { readReturn } from "../../src/settle/settle-call.ts";

function settle(value: unknown) {
  return readReturn(value, { maxCharacters: 1_000, isWrite: true });
}

function textOf(value: unknown): unknown {
  return settle(value).result.content;
}

const THROWING = new Proxy({}, { get: thrower, ownKeys: thrower, getOwnPropertyDescriptor: thrower });

function thrower(): never {
  throw new Error("no");
}

describe("what a tool declares on its way out", () => {
  it("UNC-1: a field that no result has is named in place of the content, and what can be read stands", () => {
    const { means, result } = settle(toolResult({ vlaue: 1, terminate: true, details: { kept: 1 } } as never));
    expect([means, result.terminate, result.details]).toEqual(["success", true, { kept: 1 }]);
    expect(result.content).toEqual([
      {
        type: "text",
        text: 'completed; do not repeat. Its result could not be recorded (toolResult has no field "vlaue"; check its spelling).',
      },
    ]);
    expect(settle(toolResult({ vlaue: 1, isError: true } as never)).means).toBe("failure");
    expect(settle(toolResult({ vlaue: 1, outcomeUncertain: true } as never)).means).toBe("lost");
  });

  it("UNC-1: what holds no fields, or throws when it is read, is no lost outcome either", () => {
    for (const given of [undefined, null, 5, "text", ["list"], THROWING]) {
      const declared = toolResult(given as never);
      expect(settle(declared).means).toBe("success");
      expect(JSON.stringify(textOf(declared))).toMatch(/could not be recorded/);
    }
    const half = {
      value: "seen",
      isError: true,
      get details(): unknown {
        return thrower();
      },
    };
    expect(settle(toolResult(half)).means).toBe("failure");
    expect(textOf(toolResult(half))).toEqual([{ type: "text", text: "seen" }]);
  });

  it("UNC-1: errors and receipts can be made of anything, and say what can be read", () => {
    for (const given of [null, 5, THROWING]) {
      expect(new ToolError("no", given as never)).toMatchObject({ message: "no", failureCategory: "unspecified" });
      expect(new OutcomeUnknownError("maybe", given as never).message).toBe("maybe");
      const subject = { operationId: "o", moment: { timelineId: "t", tick: 1 } };
      expect(GameActionReceipt.committed(subject, 1, given as never)).toMatchObject({ status: "committed", result: 1 });
    }
    expect(new ToolError(THROWING as never).message).toBe("The error was given a message that cannot be read.");
  });
});
