import type { DurableToolPort } from "./action.ts";
import type { DeclaredResult } from "./content.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { ArgumentsOf, InputSchema, JsonSchemaObject } from "./schema.ts";

/** Which prepared calls of a batch may overlap (EPOCH-1). */
export type ToolExecution = "sequential" | "safeParallel" | "parallel";
/** A tool's own mark: `parallel` may overlap under `safeParallel`, `sequential` never overlaps (EPOCH-1). */
export type ExecutionMode = "sequential" | "parallel";
/** What a call can do to the world; an undeclared risk is `nonIdempotentWrite` (EPOCH-7). */
export type ToolRisk = "readOnly" | "idempotentWrite" | "nonIdempotentWrite";

/** What an executor is given beside its arguments. */
export interface ToolContext {
  readonly runId: string;
  /** Turn of the run, first 1. */
  readonly turn: number;
  readonly callId: string;
  /** Place of the call in its response, first 0. */
  readonly callIndex: number;
  readonly conflictKeys: readonly string[];
  /** Stable across resume; use it as idempotency key. */
  readonly operationId: string;
  /** Fires on cancellation and on the time-out of the call; the grace runs from then (CAN-2). */
  readonly signal: AbortSignal;
  /** What the host handed to the session or run, untouched. */
  readonly host: unknown;
  /** Reports progress; after the call has ended it is dropped and counted. Bounded by `limits.maxProgressEventsPerTool`. */
  progress(update: unknown): void;
}

/** What `conflictKey` is given beside the arguments. */
export interface ConflictKeyContext {
  readonly host: unknown;
  readonly runId: string;
}

/** What `conflictKey` may answer (PREP-5). */
export type ConflictKeys = string | readonly string[] | null | undefined;

/**
 * A tool as its author writes it. `Args` are the prepared arguments (a Standard Schema's output),
 * `Result` what the executor answers; it is recorded as `JSON.stringify` sees it.
 */
export interface ToolDefinition<Name extends string, Schema extends InputSchema, Result> {
  /** Exact name the model calls; unique in a session. */
  readonly name: Name;
  /** What the model is told. */
  readonly description: string;
  readonly inputSchema: Schema;
  /** The JSON Schema the model sees, only for a Standard Schema that gives none itself. */
  readonly inputJsonSchema?: JsonSchemaObject | undefined;
  /** Default `nonIdempotentWrite`. */
  readonly risk?: ToolRisk | undefined;
  /** Default unset: the session's `toolExecution` decides. */
  readonly executionMode?: ExecutionMode | undefined;
  /** From dispatch, at least 1 ms; default `limits.toolTimeoutMs` (CAN-3). */
  readonly timeoutMs?: number | undefined;
  /** Default true (REP-8). */
  readonly trackExactRepeats?: boolean | undefined;
  /** Default `uncertain`: a throw of a write leaves its outcome unknown (UNC-1). */
  readonly throwMeans?: "uncertain" | "failed" | undefined;
  /**
   * The only place where a draft changes shape before validation (PREP-7).
   * *Contract*: pure; a throw refuses the call; `undefined` leaves the draft as it is.
   */
  readonly prepareArguments?: ((draft: JsonValue) => JsonValue | undefined) | undefined;
  /** *Contract*: pure; a text refuses the call and is shown to the model; a throw refuses it as `internal`. */
  readonly validate?: ((args: ArgumentsOf<Schema>) => string | undefined) | undefined;
  /** *Contract*: pure; called at most once, with the final arguments (PREP-5); a throw refuses the call as `internal`. */
  readonly conflictKey?: ((args: ArgumentsOf<Schema>, context: ConflictKeyContext) => ConflictKeys) | undefined;
  /**
   * Does the work. *Contract*: may throw `ToolError` (failed, certain) or `OutcomeUnknownError`
   * (uncertain); should end soon after its signal fires. An async iterable's values are progress; its
   * result is the generator's return value, else the last value yielded.
   */
  readonly execute: (
    args: ArgumentsOf<Schema>,
    context: ToolContext,
  ) => Result | Promise<Result> | AsyncIterable<Result>;
  /**
   * Asked once what became of a write whose outcome is unknown (UNC-7). *Contract*: reads the world,
   * changes nothing; `undefined` or a throw leaves the write uncertain.
   */
  readonly recover?:
    | ((
        args: ArgumentsOf<Schema>,
        context: ToolContext,
      ) => DeclaredResult | undefined | Promise<DeclaredResult | undefined>)
    | undefined;
}

/** A registered-ready tool: what `defineTool` gives and a session takes. */
export interface Tool<Name extends string = string, Args = JsonObject, Result = unknown> {
  readonly name: Name;
  readonly description: string;
  readonly inputSchema: InputSchema;
  readonly inputJsonSchema?: JsonSchemaObject | undefined;
  readonly risk?: ToolRisk | undefined;
  readonly executionMode?: ExecutionMode | undefined;
  readonly timeoutMs?: number | undefined;
  readonly trackExactRepeats?: boolean | undefined;
  readonly throwMeans?: "uncertain" | "failed" | undefined;
  readonly prepareArguments?: ((draft: JsonValue) => JsonValue | undefined) | undefined;
  readonly validate?: ((args: Args) => string | undefined) | undefined;
  readonly conflictKey?: ((args: Args, context: ConflictKeyContext) => ConflictKeys) | undefined;
  readonly execute: (args: Args, context: ToolContext) => Result | Promise<Result> | AsyncIterable<Result>;
  readonly recover?:
    | ((args: Args, context: ToolContext) => DeclaredResult | undefined | Promise<DeclaredResult | undefined>)
    | undefined;
  /** Set by importers alone: unknown schema keywords are tolerated and a bad schema makes only this tool unavailable (PREP-8). */
  readonly origin?: "imported" | undefined;
  /** Set by importers alone: the call asks for approval by itself, whatever the host's authorizer says of it. */
  readonly needsApproval?:
    | ((args: Args, context: ConflictKeyContext) => JsonObject | undefined | Promise<JsonObject | undefined>)
    | undefined;
  /** Set by `GameActionTool` alone: what a durable action needs of the kernel beyond being executed. */
  readonly durable?: DurableToolPort | undefined;
}

/** A tool of any argument and result type, for lists that mix them. */
export type AnyTool = Tool<string, never, unknown>;

/** The prepared arguments of a tool: `ToolArgs<typeof edit>`. */
export type ToolArgs<T> = T extends Tool<string, infer Args, unknown> ? Args : never;

/** What an importer lets the host add to a foreign tool; an unknown tool name is `INVALID_OPTIONS`. */
export type ToolPolicy<Args = JsonObject> = Partial<
  Pick<
    Tool<string, Args>,
    | "risk"
    | "executionMode"
    | "timeoutMs"
    | "trackExactRepeats"
    | "throwMeans"
    | "validate"
    | "conflictKey"
    | "prepareArguments"
  >
>;

/** Whether calls of a tool can change the world (EPOCH-7). */
export function isWrite(tool: Pick<AnyTool, "risk">): boolean {
  return tool.risk !== "readOnly";
}
