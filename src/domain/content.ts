import type { FailureCategory } from "./failure.ts";
import type { JsonValue } from "./json.ts";

/** One piece of what a model sees of a result, or of what a user sends. `data` is base64. */
export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "json"; readonly value: JsonValue }
  | {
      readonly type: "image" | "audio" | "file";
      readonly mediaType: string;
      readonly data: string;
      readonly name?: string | undefined;
    }
  | {
      readonly type: "resource";
      readonly uri: string;
      readonly mediaType?: string | undefined;
      readonly text?: string | undefined;
    };

/**
 * The one result of a call. `content` is what the model sees; `details` is for the host alone.
 * `terminate` asks that no further model request follows (RUN-2). `outcomeUncertain` says that a write
 * may have happened (UNC-1).
 */
export interface ToolResult {
  readonly content: readonly ContentPart[];
  readonly details?: JsonValue;
  readonly isError: boolean;
  readonly failureCategory?: FailureCategory;
  readonly outcomeUncertain: boolean;
  readonly terminate: boolean;
}

/** What a tool, `recover` or `afterToolCall` may say of a result; every field is optional. */
export interface ToolResultFields {
  /** The value to record; without `content` the model sees it as one part. */
  readonly value?: unknown;
  readonly content?: string | readonly ContentPart[] | undefined;
  readonly details?: unknown;
  readonly isError?: boolean | undefined;
  readonly failureCategory?: FailureCategory | undefined;
  readonly terminate?: boolean | undefined;
  readonly outcomeUncertain?: boolean | undefined;
}

const DECLARED: unique symbol = Symbol.for("toolkernel.toolResult") as never;

/** A result a tool declared with {@link toolResult}, told apart from a plain value by its brand. */
export interface DeclaredResult extends ToolResultFields {
  readonly [DECLARED]: true;
}

/**
 * Declares a result with more than a value: content for the model, details for the host, failure,
 * termination, uncertainty. The fields are checked when the call settles, never here: a write that has
 * happened must not fail on the way out (UNC-1).
 */
export function toolResult(fields: ToolResultFields): DeclaredResult {
  return { ...fields, [DECLARED]: true };
}

/** Whether a value was made by {@link toolResult}, by this copy of the package or another. Never throws. */
export function isDeclaredResult(value: unknown): value is DeclaredResult {
  try {
    return typeof value === "object" && value !== null && (value as { [DECLARED]?: unknown })[DECLARED] === true;
  } catch {
    return false;
  }
}
