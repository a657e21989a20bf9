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

/** The names of all fields that a declared result has. */
export const RESULT_FIELDS = [
  "content",
  "value",
  "details",
  "isError",
  "failureCategory",
  "terminate",
  "outcomeUncertain",
] as const satisfies readonly (keyof ToolResultFields)[];

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
 * termination, uncertainty. Never throws: a write that has happened must not fail on the way out (UNC-1). The
 * fields are checked when the call settles; an unknown one, such as a misspelled name, then takes the place of
 * the content, in a text that names it.
 */
export function toolResult(fields: ToolResultFields): DeclaredResult {
  try {
    if (typeof fields === "object" && fields !== null && !Array.isArray(fields)) return { ...fields, [DECLARED]: true };
  } catch {
    // Field by field then, so that one that cannot be read takes none of the others with it.
    return { ...Object.fromEntries(RESULT_FIELDS.map((name) => [name, readField(fields, name)])), [DECLARED]: true };
  }
  return { content: UNREADABLE as string, [DECLARED]: true };
}

/** One field of a declared result; what throws when it is read is {@link UNREADABLE}. Never throws. */
export function readField(fields: ToolResultFields, name: keyof ToolResultFields): unknown {
  try {
    return fields[name];
  } catch {
    return UNREADABLE;
  }
}

/** The name of a field that no result has, such as a misspelled one; undefined where all are known. Never throws. */
export function findUnknownField(declared: DeclaredResult): string | undefined {
  try {
    return Object.keys(declared).find((name) => !RESULT_FIELDS.some((known) => known === name));
  } catch {
    return undefined;
  }
}

/** Stands for a value that throws when it is read: it cannot be recorded, and as a flag it says nothing. */
const UNREADABLE: unknown = Object.freeze({
  toJSON: () => {
    throw new TypeError("The field cannot be read.");
  },
});

/** Whether a value was made by {@link toolResult}, by this copy of the package or another. Never throws. */
export function isDeclaredResult(value: unknown): value is DeclaredResult {
  try {
    return typeof value === "object" && value !== null && (value as { [DECLARED]?: unknown })[DECLARED] === true;
  } catch {
    return false;
  }
}
