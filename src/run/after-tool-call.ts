import type { ToolResult } from "../domain/content.ts";
import type { AfterToolCall } from "../domain/hooks.ts";
import { shapeByHook, withholdResult } from "../settle/shape-result.ts";
import { callHook, type HookBounds } from "./bounded-hook.ts";
import type { CallRun } from "./run-call.ts";

/**
 * Lets `afterToolCall` shape the result of a call whose executor was called; the result itself when the
 * host has no such hook. The hook is given a copy: only what it answers can change anything. After a
 * cancellation it has only the grace (PREP-13).
 */
export function shapeResult(call: CallRun, result: ToolResult): ToolResult | Promise<ToolResult> {
  const { core, turn, cancellation } = call.owner;
  const { hooks, limits, clock, runId } = core.settings;
  const { host } = core;
  if (hooks.afterToolCall === undefined || call.prepared === undefined) return result;
  const { callIndex, operationId, prepared } = call;
  const facts: Omit<Parameters<AfterToolCall>[0], "signal"> = {
    call: call.call,
    callIndex,
    operationId,
    arguments: prepared.arguments,
    tool: prepared.tool,
    result: JSON.parse(JSON.stringify(result)) as ToolResult, // a result is JSON throughout
    runId,
    turn,
    host,
  };
  const bounds: HookBounds = {
    clock,
    deadlines: core.deadlines,
    timeoutMs: limits.hookTimeoutMs,
    cancellation,
    graceMs: limits.cancellationGraceMs,
  };
  const answered = callHook(hooks.afterToolCall, facts, bounds);
  const read = (answer: Awaited<typeof answered>): ToolResult =>
    answer.kind === "answered"
      ? shapeByHook(result, answer.answer, limits.maxResultCharacters)
      : withholdResult(result);
  return "then" in answered ? answered.then(read) : read(answered);
}
