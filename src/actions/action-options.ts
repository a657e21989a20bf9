/** The options of durable actions, and how each is checked. */
import {
  checkOptions,
  mayBeAnything,
  mustBeClock,
  mustBeFunction,
  mustBeRecord,
  mustBeSignal,
  mustBeTimeout,
  mustHaveMethods,
  type OptionCheck,
} from "../domain/check-options.ts";
import type { InputSchema } from "../domain/schema.ts";
import type { DispatchOptions, GameActionDispatcherOptions } from "./dispatcher.ts";
import type { GameActionToolOptions } from "./game-action-tool.ts";

const mustBeJournal: OptionCheck = (value) => {
  const given = value as { readonly protocol?: unknown } | null; // looked at, not trusted
  return mustBeRecord(given?.protocol) === undefined ? undefined : "must be a journal returned by an open function";
};

const mustBeHandler: OptionCheck = (value) => {
  const fault = mustHaveMethods("execute")(value);
  if (fault !== undefined) return fault;
  const { recover } = value as { readonly recover?: unknown }; // an object, since it has a method
  return recover === undefined || typeof recover === "function" ? undefined : "must have a recover function, or none";
};

const DISPATCHER_CHECKS: Readonly<Record<keyof GameActionDispatcherOptions, OptionCheck>> = {
  journal: mustBeJournal,
  handler: mustBeHandler,
  receiptCommitTimeoutMs: mustBeTimeout,
  conflictWaitTimeoutMs: mustBeTimeout,
  clock: mustBeClock,
};

/** What every tool has is checked when a session registers it. */
const TOOL_CHECKS: Readonly<Record<keyof GameActionToolOptions<string, InputSchema, never>, OptionCheck>> = {
  input: (value) => (typeof value === "function" ? undefined : mustBeRecord(value)),
  dispatcher: (value) =>
    mustHaveMethods("dispatchCall")(value) === undefined ? undefined : "must be a GameActionDispatcher",
  operationId: mustBeFunction,
  expectedRevision: mustBeFunction,
  modelReceiptProjector: mustBeFunction,
  name: mayBeAnything,
  description: mayBeAnything,
  inputSchema: mayBeAnything,
  inputJsonSchema: mayBeAnything,
  conflictKey: mayBeAnything,
  risk: mayBeAnything,
  executionMode: mayBeAnything,
  timeoutMs: mayBeAnything,
  prepareArguments: mayBeAnything,
  validate: mayBeAnything,
  trackExactRepeats: mayBeAnything,
};

/** @throws KernelError `INVALID_OPTIONS` naming the option of a dispatcher. */
export function checkDispatcherOptions(given: unknown): void {
  checkOptions(given, DISPATCHER_CHECKS, { path: "options", required: ["journal", "handler"] });
}

/** @throws KernelError `INVALID_OPTIONS` naming the option of a dispatch or reconciliation. */
export function checkDispatchOptions(given: unknown): void {
  checkOptions(given, { signal: mustBeSignal } satisfies Record<keyof DispatchOptions, OptionCheck>, {
    path: "options",
  });
}

/**
 * Refuses names that are not known as well: a projector whose name is misspelled would show the model all.
 * @throws KernelError `INVALID_OPTIONS` naming the option of a durable tool.
 */
export function checkToolOptions(given: unknown): void {
  checkOptions(given, TOOL_CHECKS, { path: "options", required: ["input", "dispatcher"] });
}
