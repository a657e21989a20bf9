import { describe, expect, it } from "vitest";
import { durableResult } from "../../src/domain/durable-result.ts";
import { readReturn } from "../../src/settle/settle-call.ts";

/** What is recorded of a durable tool's details where 256 characters are allowed. */
function recorded(details: unknown): unknown {
  const answer = durableResult({ content: "built", details: details as never }, { code: "x" });
  return readReturn(answer, { maxCharacters: 256, isWrite: true }).result.details;
}

describe("details of a durable tool that are larger than allowed", () => {
  const tooLarge = expect.objectContaining({ kind: "fault", fault: "larger than 256 characters" });

  it("PROJ-2: keep what is beside the result even where that alone is larger", () => {
    const head = { operationId: "o".repeat(300), status: "committed" };
    expect(recorded({ ...head, result: "x" })).toEqual({ ...head, result: tooLarge });
  });

  it("UNC-1: are a fault where what is beside the result has no bound, or where they are no receipt", () => {
    expect(recorded({ operationId: "o".repeat(40_000), result: "x" })).toEqual(tooLarge);
    expect(recorded("x".repeat(300))).toEqual(tooLarge);
  });
});
