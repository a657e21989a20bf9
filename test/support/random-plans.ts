/** Plans of random runs: scripts of a model, outcomes of tools, hooks, and disturbances at any event. */
import fc from "fast-check";
import type { JsonObject, ModelResponse } from "toolkernel";

/** What a tool does when it is called; it stands in its arguments. */
export type Deed =
  | "answers"
  | "fails"
  | "throws"
  | "terminates"
  | "waits"
  | "hangs"
  | "answersSignal"
  | "aborts"
  | "steers";

export interface CallPlan {
  readonly tool: "read" | "write" | "keyed" | "asking" | "nope";
  readonly id: string;
  readonly deed: Deed;
  readonly isBroken: boolean;
}

/** One turn of the model. */
export type TurnPlan =
  | { readonly kind: "calls"; readonly calls: readonly CallPlan[]; readonly stopReason: ModelResponse["stopReason"] }
  | { readonly kind: "says" | "isEmpty" | "throws" | "hangs" | "talksNonsense" | "waits" };

/** Something that a listener does when it hears of the event of a number. */
export interface Disturbance {
  readonly seq: number;
  readonly what: "abort" | "steer" | "followUp";
}

/** How open approvals are answered: one entry a round. */
export type AnswerPlan = "grant" | "block" | "grantFirst" | "nothing" | "blockOthers" | "message" | "abort";

/** A whole run. */
export interface RunPlan {
  readonly turns: readonly TurnPlan[];
  readonly disturbances: readonly Disturbance[];
  readonly answers: readonly AnswerPlan[];
  readonly hooks: { readonly prepare: HookPlan; readonly stop: HookPlan };
  readonly limits: JsonObject;
  readonly interpreter: "compiled" | "xstate";
  readonly toolExecution: "sequential" | "safeParallel" | "parallel";
}

/** What a hook of the loop does, and from which turn on. */
export interface HookPlan {
  readonly from: number;
  readonly does: "nothing" | "waits" | "throws" | "hangs" | "stops";
}

const deed = fc.constantFrom<Deed>(
  ...(["answers", "answers", "answers", "fails", "throws", "terminates", "waits"] as const),
  ...(["hangs", "answersSignal", "aborts", "steers"] as const),
);
const callPlan: fc.Arbitrary<CallPlan> = fc.record({
  tool: fc.constantFrom("read", "read", "write", "keyed", "asking", "nope"),
  id: fc.constantFrom("", "a", "b", "call_1_0", "undefined"),
  deed,
  isBroken: fc.integer({ min: 0, max: 7 }).map((drawn) => drawn === 0),
});
const turnPlan: fc.Arbitrary<TurnPlan> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("calls" as const),
      calls: fc.array(callPlan, { minLength: 1, maxLength: 4 }),
      stopReason: fc.constantFrom(
        ...(["toolUse", "toolUse", "toolUse", "stop", "length", "error", "aborted"] as const),
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(...(["says", "says", "waits", "isEmpty", "throws", "hangs", "talksNonsense"] as const)),
    }),
  },
);
const hookPlan: fc.Arbitrary<HookPlan> = fc.record({
  from: fc.integer({ min: 1, max: 5 }),
  does: fc.constantFrom(...(["nothing", "nothing", "nothing", "waits", "throws", "hangs", "stops"] as const)),
});

/** Any run. */
export const runPlans: fc.Arbitrary<RunPlan> = fc.record({
  turns: fc.array(turnPlan, { minLength: 1, maxLength: 6 }),
  disturbances: fc.array(
    fc.record({ seq: fc.nat({ max: 70 }), what: fc.constantFrom("abort", "steer", "steer", "followUp") }),
    { maxLength: 4 },
  ),
  answers: fc.array(fc.constantFrom("grant", "block", "grantFirst", "nothing", "blockOthers", "message", "abort"), {
    maxLength: 4,
  }),
  hooks: fc.record({ prepare: hookPlan, stop: hookPlan }),
  limits: fc.record({
    maxTurns: fc.integer({ min: 1, max: 6 }),
    maxToolCalls: fc.integer({ min: 1, max: 12 }),
    maxToolCallsPerTurn: fc.integer({ min: 2, max: 4 }),
    maxQueuedMessages: fc.integer({ min: 1, max: 2 }),
    maxConcurrentTools: fc.integer({ min: 1, max: 3 }),
    exactToolRepeatAdvisoryThreshold: fc.constantFrom(0, 2),
    exactToolRepeatTerminationThreshold: fc.constantFrom(0, 3),
    toolTimeoutMs: fc.constant(50),
    modelTimeoutMs: fc.constant(50),
    hookTimeoutMs: fc.constant(50),
    cancellationGraceMs: fc.constant(10),
    abandonAfterMs: fc.constant(30),
  }),
  interpreter: fc.constantFrom("compiled", "xstate"),
  toolExecution: fc.constantFrom("sequential", "safeParallel", "parallel"),
});
