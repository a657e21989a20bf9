import type { ToolContext } from "../domain/tool.ts";
import type { CallRun } from "./run-call.ts";

/**
 * What one executor is given. Its signal is made when the executor first looks at it, or when it has to
 * fire; most executors never look.
 */
export interface ExecutorContext {
  readonly context: ToolContext;
  /** Fires the signal. */
  abort(reason: unknown): void;
}

/** Makes the context of one call of an executor or of `recover`. */
export function createToolContext(call: CallRun, onProgress: (update: unknown) => void): ExecutorContext {
  const { settings } = call.owner.core;
  let controller: AbortController | undefined;
  const control = (): AbortController => {
    controller ??= new AbortController();
    return controller;
  };
  const context: ToolContext = {
    runId: settings.runId,
    turn: call.owner.turn,
    callId: call.call.id,
    callIndex: call.callIndex,
    conflictKeys: call.conflictKeys,
    operationId: call.operationId,
    get signal() {
      return control().signal;
    },
    host: call.owner.core.host,
    progress: onProgress,
  };
  return { context, abort: (reason) => control().abort(reason) };
}
