import type { ToolContext } from "../domain/tool.ts";
import type { CallRun } from "./run-call.ts";

/** Whoever stands behind a context: the execution of a call, or the question what became of it. */
export interface ContextOwner {
  /** Asked for when the executor first looks at its signal; most never look. */
  readonly signal: AbortSignal;
  progress(update: unknown): void;
}

/** Makes what one call of an executor, or of `recover`, is given. */
export function createToolContext(call: CallRun, owner: ContextOwner): ToolContext {
  const { core, turn } = call.owner;
  return {
    runId: core.settings.runId,
    turn,
    callId: call.callId,
    callIndex: call.callIndex,
    conflictKeys: call.conflictKeys,
    operationId: call.operationId,
    get signal() {
      return owner.signal;
    },
    host: core.host,
    progress: (update) => owner.progress(update),
  };
}
