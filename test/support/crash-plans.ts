/** Random runs for crashes: what the model asks for, and what tools do of it. All of it stands in the arguments. */
import fc from "fast-check";
import type { JsonObject } from "toolkernel";
import type { Fate } from "./mortal-store.ts";

/** The tools of a crash world, by what may be done with a call of them that was dispatched and left no result. */
export const CRASH_TOOLS = {
  read: { risk: "readOnly" },
  put: { risk: "idempotentWrite", executionMode: "parallel" },
  putFound: { risk: "idempotentWrite", executionMode: "parallel", recovers: true },
  pay: { risk: "nonIdempotentWrite", executionMode: "parallel" },
  payFound: { risk: "nonIdempotentWrite", executionMode: "parallel", recovers: true },
  send: { risk: "nonIdempotentWrite" },
} as const;

/** A tool of the plan; `nope` is none that there is. */
export type CrashToolName = keyof typeof CRASH_TOOLS | "nope";

/** A call of the plan. */
export interface CrashCall {
  readonly tool: CrashToolName;
  /** The world's part that it touches; equal arguments are a repeat. */
  readonly n: number;
  readonly deed: "answers" | "fails" | "losesTrack" | "terminates";
  readonly asks: boolean;
  /** Says something to the run while it runs for the first time. */
  readonly says: "nothing" | "steer" | "followUp";
  readonly isBroken: boolean;
}

/** A whole run, and the deaths of its processes. */
export interface CrashPlan {
  readonly turns: readonly (readonly CrashCall[])[];
  readonly fates: readonly Extract<Fate, { kind: "dies" }>[];
  readonly limits: JsonObject;
  readonly interpreter: "compiled" | "xstate";
  readonly toolExecution: "sequential" | "safeParallel" | "parallel";
  readonly uncertainWriteScope: "batch" | "run";
}

/** A run with every kind of tool, repeats, refusals, and questions of which some are answered by no. */
export const RICH_RUN: CrashPlan = {
  turns: [
    [
      { tool: "read", n: 0 },
      { tool: "put", n: 0 },
      { tool: "pay", n: 0 },
      { tool: "payFound", n: 0 },
      { tool: "pay", n: 1 },
    ],
    [
      { tool: "putFound", n: 1, asks: true },
      { tool: "send", n: 0 },
      { tool: "nope", n: 0 },
      { tool: "read", n: 2, asks: true },
    ],
    [
      { tool: "read", n: 0 },
      { tool: "read", n: 0 },
      { tool: "read", n: 0, isBroken: true },
      { tool: "pay", n: 2, deed: "fails" },
    ],
  ].map((calls) =>
    calls.map((call) => ({
      deed: "answers" as const,
      asks: false,
      says: "nothing" as const,
      isBroken: false,
      ...(call as { tool: "read"; n: number }), // each names a tool of the world
    })),
  ),
  fates: [],
  limits: { exactToolRepeatAdvisoryThreshold: 2 },
  interpreter: "compiled",
  toolExecution: "safeParallel",
  uncertainWriteScope: "batch",
};

const crashCall: fc.Arbitrary<CrashCall> = fc.record({
  tool: fc.constantFrom(...(["read", "read", "put", "putFound", "pay", "pay", "payFound", "send", "nope"] as const)),
  n: fc.nat({ max: 2 }),
  deed: fc.constantFrom(
    ...(["answers", "answers", "answers", "answers", "fails", "losesTrack", "terminates"] as const),
  ),
  asks: fc.integer({ min: 0, max: 5 }).map((drawn) => drawn === 0),
  says: fc.constantFrom(...(["nothing", "nothing", "nothing", "nothing", "nothing", "steer", "followUp"] as const)),
  isBroken: fc.integer({ min: 0, max: 15 }).map((drawn) => drawn === 0),
});

/** Any plan; `says: false`: nobody says anything, so that a run is the same whenever its processes die. */
export function crashPlans({ says }: { readonly says: boolean }): fc.Arbitrary<CrashPlan> {
  const call = says ? crashCall : crashCall.map((each) => ({ ...each, says: "nothing" as const }));
  return fc.record({
    turns: fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
    fates: fc.array(
      fc.record({
        kind: fc.constant("dies" as const),
        at: fc.nat({ max: 16 }),
        when: fc.constantFrom("before" as const, "after" as const),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    limits: fc.record({
      maxTurns: fc.integer({ min: 2, max: 6 }),
      maxToolCalls: fc.integer({ min: 3, max: 12 }),
      maxToolCallsPerTurn: fc.integer({ min: 3, max: 4 }),
      maxConcurrentTools: fc.integer({ min: 1, max: 3 }),
      exactToolRepeatAdvisoryThreshold: fc.constantFrom(0, 2),
      exactToolRepeatTerminationThreshold: fc.constantFrom(0, 3),
    }),
    interpreter: fc.constantFrom("compiled", "xstate"),
    toolExecution: fc.constantFrom("sequential", "safeParallel", "parallel"),
    uncertainWriteScope: fc.constantFrom("batch", "run"),
  });
}

/** A call's arguments as the model writes them. */
export function draftOf(call: CrashCall): string {
  if (call.isBroken) return "{";
  const { n, deed, asks, says } = call;
  return JSON.stringify({ n, deed, asks, says });
}
