import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../src/domain/limits.ts";
import { findPassedLimit } from "../../src/plan/passed-limit.ts";

const limits = { ...DEFAULT_LIMITS, maxTurns: 5, maxTotalTokens: 100, maxMessages: 50, maxToolCallsPerTurn: 8 };

describe("findPassedLimit", () => {
  it.each([
    [{ turns: 4, totalTokens: 99, messages: 40 }, undefined],
    [{ turns: 5, totalTokens: 100, messages: 41 }, "maxTurns"],
    [{ turns: 4, totalTokens: 100, messages: 41 }, "maxTotalTokens"],
    [{ turns: 4, totalTokens: 99, messages: 41 }, "maxMessages"],
  ] as const)("RUN-1: of %o is %s", (use, expected) => {
    expect(findPassedLimit(use, limits)).toBe(expected);
  });
});
