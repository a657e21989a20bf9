import type { Outcome } from "../../domain/call.ts";
import type { ContentPart, ToolResult } from "../../domain/content.ts";
import type { AfterToolCall } from "../../domain/hooks.ts";
import { WITHHELD_TEXT } from "../../settle/kernel-texts.ts";
import { shapeByHook, withholdResult } from "../../settle/shape-result.ts";
import { callHook, type HookBounds } from "../bounded-hook.ts";
import { projectResult } from "./durable-call.ts";
import type { CallRun } from "./run-call.ts";

/**
 * Lets `afterToolCall` shape the result of a call whose executor was called; the result itself when the
 * host has no such hook. The hook is given a copy: only what it answers can change anything. After a
 * cancellation it has only the grace (PREP-13).
 */
export function shapeResult(call: CallRun, made: ToolResult): ToolResult | Promise<ToolResult> {
  const { core, turn } = call.owner;
  const { hooks, limits, steady, runId } = core.settings;
  const { host } = core;
  const result = projectResult(call, made, finishingOutcome(call));
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
    clock: steady,
    deadlines: core.deadlines,
    timeoutMs: limits.hookTimeoutMs,
    cancellation: call.owner.cancellation,
    graceMs: limits.cancellationGraceMs,
  };
  const answered = callHook(hooks.afterToolCall, facts, bounds);
  const read = (answer: Awaited<typeof answered>): ToolResult => {
    const shaped =
      answer.kind === "answered"
        ? shapeByHook(result, answer.answer, limits.maxResultCharacters)
        : withholdResult(result);
    return protectDurable(call, result, shaped);
  };
  return "then" in answered ? answered.then(read) : read(answered);
}

/** The state a chart finishes in is named after the outcome. */
function finishingOutcome({ state }: CallRun): Outcome {
  const finishing = typeof state === "object" && state !== null && "finishing" in state ? state.finishing : "uncertain";
  return finishing as Outcome;
}

/**
 * No hook changes what is recorded of a durable action, nor a failed projection (PREP-13); and where the
 * host projects, what a failed hook leaves says no more than a status (PROJ-6).
 */
function protectDurable(call: CallRun, result: ToolResult, shaped: ToolResult): ToolResult {
  const durable = call.prepared?.tool.durable;
  if (durable === undefined) return shaped;
  if (call.isProjectionFailed) return result;
  const kept = result.details === undefined ? shaped : { ...shaped, details: result.details };
  const isWithheld = shaped.content.some((part) => part.type === "text" && part.text === WITHHELD_TEXT);
  if (durable.projector === undefined || !isWithheld) return kept;
  const content = shaped.content.map(
    (part): ContentPart =>
      part.type === "text" && part.text === WITHHELD_TEXT
        ? { type: "json", value: { status: "result_withheld" } }
        : part,
  );
  return { ...kept, content };
}
