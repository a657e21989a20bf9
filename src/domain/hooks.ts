import type { ToolCall } from "./call.ts";
import type { DeclaredResult, ToolResult } from "./content.ts";
import type { JsonObject } from "./json.ts";
import type { AnyTool } from "./tool.ts";

/** A host hook: a function, or one with its own time-out (`null`: no limit) in place of `limits.hookTimeoutMs`. */
export type Hook<Run> = Run | { readonly run: Run; readonly timeoutMs: number | null };

/** What every hook about a call is given. `signal` fires when the run is cancelled or the hook's time is over. */
export interface CallHookInput {
  readonly call: ToolCall;
  readonly callIndex: number;
  readonly operationId: string;
  /** Deep-frozen (PREP-3). */
  readonly arguments: JsonObject;
  readonly tool: AnyTool;
  readonly runId: string;
  readonly turn: number;
  readonly host: unknown;
  readonly signal: AbortSignal;
}

/** What `authorizeToolCall` is given: the final arguments and every conflict key (PREP-4). */
export interface AuthorizeInput extends CallHookInput {
  readonly conflictKeys: readonly string[];
}

/** What `afterToolCall` is given. */
export interface AfterToolCallInput extends Omit<CallHookInput, "callIndex" | "operationId"> {
  readonly callIndex: number;
  readonly operationId: string;
  readonly result: ToolResult;
}

/** Host policy's answer: leave it, refuse it, or replace the arguments (which are then validated again). */
export type RewriteDecision =
  | undefined
  | { readonly block: string; readonly terminate?: boolean | undefined }
  | { readonly arguments: JsonObject };

/** The authorizer's answer; every other value refuses the call (PREP-4). */
export type AuthorizeDecision =
  | undefined
  | true
  | { readonly block: string; readonly terminate?: boolean | undefined }
  | { readonly ask: JsonObject };

/** *Contract*: a throw, a time-out or any other answer refuses the call (PREP-13). */
export type RewriteToolCall = (input: CallHookInput) => RewriteDecision | Promise<RewriteDecision>;
/** *Contract*: a throw, a time-out or any other answer refuses the call (PREP-13). */
export type AuthorizeToolCall = (input: AuthorizeInput) => AuthorizeDecision | Promise<AuthorizeDecision>;
/** *Contract*: `undefined` keeps the result; a throw or time-out withholds it, never the fact that it ran (PREP-13). */
export type AfterToolCall = (
  input: AfterToolCallInput,
) => undefined | DeclaredResult | Partial<ToolResult> | Promise<undefined | DeclaredResult | Partial<ToolResult>>;

/** The hooks of a session. */
export interface SessionHooks {
  readonly rewriteToolCall?: Hook<RewriteToolCall> | undefined;
  readonly authorizeToolCall?: Hook<AuthorizeToolCall> | undefined;
  readonly afterToolCall?: Hook<AfterToolCall> | undefined;
}
