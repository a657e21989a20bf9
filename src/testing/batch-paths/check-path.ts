import type { AnyTool, BatchResult, KernelEvent, Outcome, ToolCall } from "toolkernel";
import { assertOrder } from "../assert-order.ts";
import { RuleViolation } from "../rule-violation.ts";
import type { PathOutcome } from "./path-options.ts";

/** A path that has been gone. */
export interface GonePath {
  readonly calls: readonly ToolCall[];
  readonly tools: readonly AnyTool[];
  readonly result: BatchResult;
  readonly events: readonly KernelEvent[];
  /** How many events there were when the batch was cancelled. */
  readonly eventsBeforeCancel: number | undefined;
  readonly maxConcurrentTools: number;
  readonly outcomes: readonly PathOutcome[];
  /** Places of the calls that were let go before their signal fired. */
  readonly undisturbed: ReadonlySet<number>;
}

/**
 * Holds a path to the rules that do not depend on what the tools do.
 * @throws RuleViolation
 */
export function checkPath(path: GonePath): void {
  assertOrder(path.events);
  checkCap(path);
  checkCancellation(path);
  checkResults(path);
  for (const index of path.undisturbed) checkOutcome(path, index);
}

function checkCap({ events, maxConcurrentTools }: GonePath): void {
  const running = new Set<string>();
  for (const event of events) {
    if (event.kind === "toolDispatched") running.add(event.callId);
    if (event.kind === "toolEnded") running.delete(event.callId);
    if (running.size > maxConcurrentTools) throw new RuleViolation("EPOCH-3", `${running.size} calls ran at once`);
  }
}

function checkCancellation({ events, eventsBeforeCancel }: GonePath): void {
  if (eventsBeforeCancel === undefined) return;
  const late = events.slice(eventsBeforeCancel).find(({ kind }) => kind === "toolDispatched");
  if (late !== undefined && "callId" in late)
    throw new RuleViolation("CAN-1", `call ${late.callId} was dispatched after the cancellation`);
}

function checkResults({ calls, result }: GonePath): void {
  const places = calls.map((_call, index) => index).join();
  const settled = result.settled.map(({ index }) => index).join();
  if (settled !== places) throw new RuleViolation("CAN-4", `of calls ${places} settled ${settled || "none"}`);
  const answered = result.messages.flatMap((message) => (message.role === "toolResult" ? [message.callIndex] : []));
  if (answered.join() !== places)
    throw new RuleViolation("EPOCH-6", `the messages are those of ${answered.join() || "none"}`);
}

/** What a fault of the path makes of a call, where the tool itself has no say in it. */
function checkOutcome({ calls, tools, result, outcomes }: GonePath, index: number): void {
  const tool = tools.find(({ name }) => name === calls[index]?.name);
  const outcome = result.settled[index]?.outcome;
  const fault = outcomes[index];
  if (tool === undefined || outcome === undefined || fault === undefined || fault === "succeeds") return;
  const expected = expectedOutcomes(tool, fault);
  if (!expected.includes(outcome)) {
    const what = `call ${index} (${calls[index]?.id}) of ${tool.name}, which ${fault}, is ${outcome}`;
    throw new RuleViolation(fault === "timesOutAfter" ? "CAN-2" : "UNC-1", what);
  }
}

function expectedOutcomes(tool: AnyTool, fault: Exclude<PathOutcome, "succeeds">): readonly Outcome[] {
  if (fault === "fails") return ["failed"];
  // A body may end by itself before the path's fault comes: as a failure that it declares.
  if (tool.risk === "readOnly" || (fault !== "timesOutAfter" && tool.throwMeans === "failed")) return ["failed"];
  const own: readonly Outcome[] = fault === "throwsBefore" ? [] : ["failed"];
  return tool.recover === undefined ? ["uncertain", ...own] : ["uncertain", "failed", "succeeded"];
}
