import type { AnyTool, ToolExecution } from "../domain/tool.ts";

/** What planning needs to know of a prepared call. */
export interface PlannableCall {
  readonly tool: Pick<AnyTool, "risk" | "executionMode">;
}

/** One epoch of a plan: calls that may overlap, or one call alone. In source order. */
export type EpochPlan<Call> = readonly Call[];

/** Whether a tool's calls may overlap with others under a run mode (EPOCH-1, EPOCH-7). */
export function mayOverlap(tool: PlannableCall["tool"], mode: ToolExecution): boolean {
  if (mode === "sequential" || tool.executionMode === "sequential") return false;
  if (mode === "parallel" || tool.executionMode === "parallel") return true;
  return tool.risk === "readOnly";
}

/**
 * Splits prepared calls, given in source order, into ordered epochs: consecutive calls that may overlap
 * share one, any other call has its own (EPOCH-2). Pure.
 */
export function planEpochs<Call extends PlannableCall>(calls: readonly Call[], mode: ToolExecution): EpochPlan<Call>[] {
  const epochs: Call[][] = [];
  let shared: Call[] | undefined;
  for (const call of calls) {
    if (!mayOverlap(call.tool, mode)) {
      epochs.push([call]);
      shared = undefined;
      continue;
    }
    if (shared === undefined) {
      shared = [];
      epochs.push(shared);
    }
    shared.push(call);
  }
  return epochs;
}
