import type { ToolContext } from "../../domain/tool.ts";
import type { CallRun } from "./run-call.ts";

/** Whoever stands behind a context: the execution of a call, or the question what became of it. */
export interface ContextOwner {
  /** Asked for when the executor first looks at its signal; most never look. */
  readonly signal: AbortSignal;
  progress(update: unknown): void;
}

/** Makes what one call of an executor, or of `recover`, is given. */
export function createToolContext(call: CallRun, owner: ContextOwner): ToolContext {
  return new CallContext(call, owner);
}

class CallContext implements ToolContext {
  readonly runId: string;
  readonly turn: number;
  readonly callId: string;
  readonly callIndex: number;
  readonly conflictKeys: readonly string[];
  readonly operationId: string;
  declare readonly signal: AbortSignal;
  readonly host: unknown;
  readonly progress: (update: unknown) => void;
  readonly #owner: ContextOwner;

  constructor(call: CallRun, owner: ContextOwner) {
    const { core, turn } = call.owner;
    this.runId = core.settings.runId;
    this.turn = turn;
    this.callId = call.callId;
    this.callIndex = call.callIndex;
    this.conflictKeys = call.conflictKeys;
    this.operationId = call.operationId;
    this.host = core.host;
    this.progress = (update) => owner.progress(update);
    this.#owner = owner;
    // An own property, so that a tool that spreads its context keeps the signal.
    Object.defineProperty(this, "signal", CallContext.#SIGNAL);
  }

  /** One for all contexts: with a getter of its own each would have a shape of its own. */
  static readonly #SIGNAL: PropertyDescriptor & ThisType<CallContext> = {
    get() {
      return this.#owner.signal;
    },
    enumerable: true,
    configurable: true,
  };
}
