import { describe, expect, it } from "vitest";
import type { StopReason, ToolCall } from "../../src/domain/call.ts";
import { DEFAULT_LIMITS } from "../../src/domain/limits.ts";
import { type JudgedResponse, judgeResponse } from "../../src/plan/judge-response.ts";

const limits = { ...DEFAULT_LIMITS, maxToolCallsPerTurn: 3, maxToolCalls: 10, maxArgumentCharacters: 8 };
const calls = (count: number): ToolCall[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${index}`, name: "read", arguments: "{}" }));
const response = (more: Partial<JudgedResponse> = {}): JudgedResponse => ({
  calls: calls(1),
  hasDuplicateIds: false,
  stopReason: "toolUse",
  earlierToolCalls: 0,
  ...more,
});
const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;
const withDraft = (draft: unknown) => response({ calls: [{ id: "a", name: "read", arguments: draft as never }] });

describe("judgeResponse", () => {
  it.each([
    [
      "PREP-10: one that was cut off",
      response({ stopReason: "length" }),
      "response_truncated",
      "invalidArguments",
      undefined,
    ],
    ["PREP-10: one that failed", response({ stopReason: "error" }), "response_failed", "internal", "stopReason"],
    [
      "PREP-10: one that was aborted",
      response({ stopReason: "aborted" }),
      "response_aborted",
      "cancelled",
      "stopReason",
    ],
    ["RUN-1: one with a call too many", response({ calls: calls(4) }), "too_many_calls", "invalidArguments", undefined],
    ["RUN-1: long arguments as text", withDraft('{"a":"b"}'), "arguments_too_long", "invalidArguments", undefined],
    ["RUN-1: long arguments as an object", withDraft({ a: "b" }), "arguments_too_long", "invalidArguments", undefined],
    ["PREP-9: one id twice", response({ hasDuplicateIds: true }), "duplicate_ids", "invalidArguments", undefined],
    [
      "RUN-1: more calls than the run may have",
      response({ earlierToolCalls: 10 }),
      "too_many_calls",
      "invalidArguments",
      "maxToolCalls",
    ],
  ] as const)("refuses %s", (_which, judged, code, failureCategory, closedBy) => {
    const refusal = judgeResponse(judged, limits);
    expect(refusal).toMatchObject({ failureCategory, closedBy });
    expect(refusal?.reason).toContain(`not_executed: ${code}`);
  });

  it.each<readonly [string, JudgedResponse]>([
    ["one that asks for tools", response()],
    ["one that just ends", response({ stopReason: "stop" satisfies StopReason })],
    ["as many calls as are allowed", response({ calls: calls(3), earlierToolCalls: 7 })],
    ["arguments that are just short enough", withDraft('{"a":1 }')],
    ["arguments that nobody can measure", withDraft(cyclic)],
    ["arguments that are none", withDraft(undefined)],
  ])("lets %s pass", (_which, judged) => {
    expect(judgeResponse(judged, limits)).toBeUndefined();
  });
});
