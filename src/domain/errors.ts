import type { FailureCategory } from "./failure.ts";

/** Stable codes of {@link KernelError}; a host may switch on them. */
export type KernelErrorCode =
  | "INVALID_OPTIONS"
  | "INVALID_TOOL_SCHEMA"
  | "DUPLICATE_TOOL"
  | "JOURNAL_UNAVAILABLE"
  | "JOURNAL_FULL"
  | "JOURNAL_CORRUPT"
  | "JOURNAL_VERSION"
  | "JOURNAL_UNSAFE"
  | "INTENT_MISMATCH"
  | "OPERATION_FORGOTTEN"
  | "OPERATION_UNKNOWN"
  | "RECEIPT_MISMATCH"
  | "RECEIPT_IMMUTABLE"
  | "RUN_NOT_FOUND"
  | "RUN_CLAIMED"
  | "KERNEL_STUCK";

/** Structured facts beside a {@link KernelError}'s message. Never arguments, results or secrets. */
export interface KernelErrorFields {
  /** The option, tool or entry the error is about, as a path such as `limits.maxTurns`. */
  readonly subject?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The one error the kernel throws, for misuse and broken invariants only; everything a tool, a hook or
 * a model does wrong is a value instead. The message says what happened, to what, and what to do next.
 */
export class KernelError extends Error {
  override readonly name = "KernelError";
  readonly code: KernelErrorCode;
  readonly subject: string | undefined;

  constructor(code: KernelErrorCode, message: string, fields: KernelErrorFields = {}) {
    super(textOf(message), causeOf(fields));
    this.code = code;
    this.subject = fieldOf(fields, "subject") as string | undefined; // as it was given
  }
}

/** Marks an error of this package, so that another copy of it in the same process knows it too. */
const KIND = Symbol.for("toolkernel.errorKind");

/** Options of {@link ToolError}. */
export interface ToolErrorOptions {
  /** Default `"unspecified"`. */
  readonly failureCategory?: FailureCategory | undefined;
  readonly cause?: unknown;
}

/**
 * A failure that a tool declares: what was asked did not happen, and that is certain (UNC-1). The
 * message is shown to the model. Making one never throws, whatever it is given: the write that did not happen
 * would become an uncertain one.
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
  /** @internal */
  readonly [KIND] = "ToolError";
  readonly failureCategory: FailureCategory;

  constructor(message: string, options: ToolErrorOptions = {}) {
    super(textOf(message), causeOf(options));
    // What it is, is looked at when the call settles.
    this.failureCategory = (fieldOf(options, "failureCategory") as FailureCategory | undefined) ?? "unspecified";
  }
}

/**
 * An uncertainty that a tool declares: the write may or may not have happened (UNC-1). For a read it
 * is an ordinary failure, since a read is never uncertain.
 */
export class OutcomeUnknownError extends Error {
  override readonly name = "OutcomeUnknownError";
  /** @internal */
  readonly [KIND] = "OutcomeUnknownError";

  constructor(message?: string, options?: ErrorOptions) {
    super(message === undefined ? message : textOf(message), causeOf(options));
  }
}

/** Whether a throw is a {@link ToolError}, of this copy of the package or another. Never throws. */
export function isToolError(error: unknown): error is ToolError {
  return kindOf(error) === "ToolError";
}

/** Whether a throw is an {@link OutcomeUnknownError}, of this copy of the package or another. Never throws. */
export function isOutcomeUnknownError(error: unknown): error is OutcomeUnknownError {
  return kindOf(error) === "OutcomeUnknownError";
}

/** An error's message of whatever it was given as one. */
function textOf(message: unknown): string {
  try {
    return String(message);
  } catch {
    return "The error was given a message that cannot be read.";
  }
}

function causeOf(options: unknown): ErrorOptions | undefined {
  const cause = fieldOf(options, "cause");
  return cause === undefined ? undefined : { cause };
}

function fieldOf(options: unknown, name: string): unknown {
  try {
    return (options as Readonly<Record<string, unknown>> | null | undefined)?.[name]; // looked at, not trusted
  } catch {
    return undefined;
  }
}

function kindOf(error: unknown): unknown {
  try {
    return typeof error === "object" && error !== null ? (error as { [KIND]?: unknown })[KIND] : undefined;
  } catch {
    return undefined;
  }
}
