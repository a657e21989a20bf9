import { describe, expect, it } from "vitest";
import type { ContentPart } from "../../src/domain/content.ts";
import {
  blockedResult,
  cancelledResult,
  readReturn,
  refusedResult,
  repeatTerminatedResult,
} from "../../src/settle/settle-call.ts";

/** What is read of a return value that is no failure. */
const success = (content: readonly ContentPart[], rest: object = {}): unknown => ({
  means: "success",
  result: { content, isError: false, outcomeUncertain: false, terminate: false, ...rest },
});

const text = (said: string): ContentPart => ({ type: "text", text: said });

describe("a call that was not executed", () => {
  const result = (said: string, failureCategory: string, terminate = false): unknown => ({
    content: [text(said)],
    isError: true,
    failureCategory,
    outcomeUncertain: false,
    terminate,
  });

  it("PREP-6, UNC-5, CAN-1, REP-5: is told so, by what kept it back", () => {
    expect(refusedResult({ reason: "no", failureCategory: "authorization", terminate: true })).toStrictEqual(
      result("no", "authorization", true),
    );
    expect(refusedResult({ reason: "no", failureCategory: "conflict", terminate: false })).toStrictEqual(
      result("no", "conflict"),
    );
    expect(blockedResult({ callId: "a", toolName: "send" })).toStrictEqual(
      result(
        'not_executed: the outcome of call "a" ("send") is unknown and this call could touch the same thing. Find out what became of it first.',
        "conflict",
      ),
    );
    const cancelled = "not_executed: cancelled before dispatch. Nothing happened.";
    expect(cancelledResult(undefined)).toStrictEqual(result(cancelled, "cancelled"));
    expect(cancelledResult("tired")).toStrictEqual(result(`${cancelled} Reason: tired`, "cancelled"));
    expect(repeatTerminatedResult("send", 3)).toStrictEqual(
      result(
        'not_executed: "send" was called 3 times in a row with equal arguments. Nothing was executed.',
        "conflict",
        true,
      ),
    );
  });

  it("UNC-1: or whose result is too large, is told how large it was and its hash", () => {
    expect(readReturn("abc", { maxCharacters: 4, isWrite: true })).toEqual(
      success([
        text(
          "completed; do not repeat. Its result could not be recorded (larger than 4 characters, 5 characters, sha256 6cc43f858fbb763301637b5af970e2a46b46f461f27e5a0f41e009c59b827b25).",
        ),
      ]),
    );
  });
});
