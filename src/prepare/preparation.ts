import type { Repair, ToolCall } from "../domain/call.ts";
import type { AuthorizeInput, CallHookInput } from "../domain/hooks.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { CompatOption } from "./compat.ts";
import type { HookAnswer } from "./host-policy.ts";
import type { RefusalFacts } from "./refuse.ts";
import type { RegisteredTool, ToolRegistry } from "./register-tools.ts";

/** A model's call with its place in the run. */
export interface DraftCall {
  readonly call: ToolCall;
  readonly callIndex: number;
  readonly operationId: string;
  /** Told of each step once it is behind the call. */
  note(fact: PrepareFact): void;
}

/** What a hook is told of a call; the port adds run, turn, host and signal. */
export type HookFacts<Input extends CallHookInput> = Omit<Input, "runId" | "turn" | "host" | "signal">;

/** A hook, bounded and guarded by the port's owner. */
export type BoundedHook<Input extends CallHookInput> = (
  facts: HookFacts<Input>,
) => HookAnswer<unknown> | Promise<HookAnswer<unknown>>;

/** A step that is behind a call; the chart's events of the same names. */
export type PrepareFact = "FOUND" | "SHAPED" | "VALID" | "KEPT" | "REWRITTEN" | "REFINED" | "KEYED";

/** What preparation needs of its session. */
export interface PreparePort {
  readonly tools: ToolRegistry;
  readonly compat: CompatOption | undefined;
  readonly host: unknown;
  readonly runId: string;
  readonly rewriteToolCall: BoundedHook<CallHookInput> | undefined;
  readonly authorizeToolCall: BoundedHook<AuthorizeInput> | undefined;
  /** Waits for what the tool itself has to say, no longer than for a hook of the host's. */
  readonly bound: <Value>(ask: () => Value | PromiseLike<Value>) => HookAnswer<Value> | Promise<HookAnswer<Value>>;
}

/** A call on its way; the one place where its arguments change, until they are authorized. */
export interface Preparation {
  readonly kind: "preparation";
  readonly registered: RegisteredTool;
  readonly draft: JsonValue;
  readonly repairs: readonly Repair[];
  arguments: JsonObject;
  /** Whether policy replaced the arguments after the tool had validated them. */
  isReplaced: boolean;
  conflictKeys: readonly string[];
}

/** What a hook is told of a call, beside what the port adds. */
export function factsOf(draft: DraftCall, work: Preparation): HookFacts<CallHookInput> {
  const { call, callIndex, operationId } = draft;
  return { call, callIndex, operationId, arguments: work.arguments, tool: work.registered.tool };
}

/** What is known of a call if it is refused now. */
export function aboutOf(work: Preparation): RefusalFacts {
  return { tool: work.registered.tool, draft: work.draft, repairs: work.repairs };
}
