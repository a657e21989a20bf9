import { ADAPTER_CALLS } from "./adapter-calls.ts";
import { RUN_CALLS } from "./core-runs.ts";
import { TOOL_CALLS } from "./core-tools.ts";
import { DURABLE_CALLS } from "./durable-calls.ts";
import { INSPECT_CALLS } from "./inspect-calls.ts";
import { OBSERVE_CALLS } from "./observe-calls.ts";
import type { PublicCall } from "./public-call.ts";
import { STORE_CALLS } from "./store-calls.ts";
import { TESTING_CALLS } from "./testing-calls.ts";

/** Every function that the package exports, by entry and name, with the ways to call it. */
export const SURFACE: Readonly<Record<string, Readonly<Record<string, readonly PublicCall[]>>>> = {
  toolkernel: { ...TOOL_CALLS, ...RUN_CALLS, ...OBSERVE_CALLS, ...DURABLE_CALLS },
  ...ADAPTER_CALLS,
  ...STORE_CALLS,
  "toolkernel/inspect": INSPECT_CALLS,
  "toolkernel/testing": TESTING_CALLS,
};

/** Exports that are no functions. The methods of charts are XState's own. */
export const DATA: Readonly<Record<string, readonly string[]>> = {
  toolkernel: ["DEFAULT_LIMITS"],
  "toolkernel/machines": ["actionMachine", "batchMachine", "epochMachine", "runMachine", "toolCallMachine"],
};
