import type { ApprovalDecisions } from "../domain/approval.ts";
import type { DraftResponse, StopReason, ToolCall } from "../domain/call.ts";
import {
  checkOptions,
  mayBeAnything,
  mustBeBoolean,
  mustBeList,
  mustBeRecord,
  mustBeSignal,
  type OptionCheck,
  oneOf,
  readGiven,
  wholeNumber,
} from "../domain/check-options.ts";
import { copyFrozenIfReadable } from "../domain/frozen.ts";
import type { Writable } from "../domain/writable.ts";
import { isStorable } from "../run/store/storable.ts";
import { checkDecisions } from "./read-messages.ts";

/** A model's response as `execute` takes it: its calls, or its calls and why it stopped. */
export type GivenResponse =
  | readonly GivenCall[]
  | (Omit<DraftResponse, "calls"> & { readonly calls: readonly GivenCall[] });

/** A call as a host may hand it over: id and arguments may be missing (PREP-9, PREP-11). */
export type GivenCall = Omit<ToolCall, "id" | "arguments"> & {
  readonly id?: ToolCall["id"] | null | undefined;
  readonly arguments?: ToolCall["arguments"] | null | undefined;
};

/** Options of `execute`. */
export interface ExecuteOptions {
  /** Cancels the batch when it fires; its reason is told to tools, and to the model if it is a string. */
  readonly signal?: AbortSignal | undefined;
  /** Default one more than the batch before, first 1. */
  readonly turn?: number | undefined;
  /** Why the model stopped; wins over the response's own. Default `toolUse`. */
  readonly stopReason?: StopReason | undefined;
  /** Answers to open approvals, by id (APP-3). */
  readonly approvals?: ApprovalDecisions | undefined;
  /** Refuses every approval that is then still undecided (APP-2). */
  readonly blockOthers?: boolean | undefined;
}

/** A response, checked. */
export interface ReadResponse {
  readonly calls: readonly ToolCall[];
  readonly stopReason: StopReason;
}

const STOP_REASON = oneOf("stop", "toolUse", "length", "error", "aborted");

const OPTION_CHECKS: Readonly<Record<keyof ExecuteOptions, OptionCheck>> = {
  signal: mustBeSignal,
  turn: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  stopReason: STOP_REASON,
  approvals: mustBeRecord,
  blockOthers: mustBeBoolean,
};

const CALL_CHECKS: Readonly<Record<keyof ToolCall, OptionCheck>> = {
  id: (value) => (value === null || typeof value === "string" ? undefined : "must be a string"),
  name: (value) => (typeof value === "string" ? undefined : "must be a string"),
  // What arguments really are is read call by call, so that a bad draft is a refusal and no throw.
  arguments: mayBeAnything,
  providerData: mustBeRecord,
};

/**
 * Checks the options of `execute` and copies them: a batch may have to wait for its turn, and what the host
 * does to its own object meanwhile is not about this batch. @throws KernelError `INVALID_OPTIONS` naming the option.
 */
export function readExecuteOptions(given: ExecuteOptions): ExecuteOptions {
  checkOptions(given, OPTION_CHECKS, { path: "options" });
  const { approvals } = given;
  if (approvals === undefined) return { ...given };
  checkDecisions(approvals);
  return { ...given, approvals: { ...approvals } };
}

/** Checks a response and copies its calls. @throws KernelError `INVALID_OPTIONS` naming the place. */
export function readResponse(given: GivenResponse, stopReason: StopReason | undefined): ReadResponse {
  return readGiven("response", () => readFields(given, stopReason));
}

function readFields(given: GivenResponse, stopReason: StopReason | undefined): ReadResponse {
  // A list of calls alone is a response that stopped to use tools.
  const response: unknown = Array.isArray(given) ? { calls: given, stopReason: "toolUse" } : given;
  const read = checkOptions(
    response,
    { calls: mustBeList, stopReason: STOP_REASON },
    { path: "response", required: ["calls"] },
  );
  const { calls, stopReason: own } = read as { readonly calls: readonly GivenCall[]; readonly stopReason?: StopReason };
  return { calls: calls.map((call, index) => readCall(call, index)), stopReason: stopReason ?? own ?? "toolUse" };
}

function readCall(given: GivenCall, index: number): ToolCall {
  // The form that nearly every call has needs no closer look, and no text for a fault it has not.
  if (!isPlainCall(given)) checkOptions(given, CALL_CHECKS, { path: `calls[${index}]`, required: ["name"] });
  const { id, name, arguments: draft, providerData } = given;
  // Hooks and the transcript are shown these, and the call may have to wait for its turn: whatever the host does to
  // its own objects meanwhile is not about it. A draft that cannot be copied is not JSON, and refused for that (PREP-11).
  const call: Writable<ToolCall> = { id: id ?? "", name, arguments: copyFrozenIfReadable(draft ?? "") };
  // What is opaque and not JSON is left out, as by an Agent: neither a message nor a store could hold it.
  const data = copyFrozenIfReadable(providerData);
  if (data !== undefined && isStorable(data)) call.providerData = data;
  return call;
}

function isPlainCall(given: unknown): boolean {
  if (typeof given !== "object" || given === null) return false;
  for (const field in given) if (field !== "id" && field !== "name" && field !== "arguments") return false;
  const { id, name } = given as { readonly id?: unknown; readonly name?: unknown };
  return typeof id === "string" && typeof name === "string";
}
