import fc from "fast-check";
import {
  type AnyTool,
  type BatchResult,
  createToolSession,
  defineTool,
  type JsonObject,
  jsonSchema,
  type SessionHooks,
  type StandardSchema,
} from "toolkernel";
import { simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { HOSTILE_VALUES, NONSENSE_VALUES } from "../support/hostile-values.ts";

/** How one step of one call behaves. */
type Manner =
  | "fine"
  | "late"
  | "throws"
  | "rejects"
  | "hangs"
  | "nonsense"
  | "hostile"
  | "blocks"
  | "asks"
  | "rewrites";
const MANNERS: readonly Manner[] = [
  ...([
    "fine",
    "fine",
    "fine",
    "late",
    "throws",
    "rejects",
    "hangs",
    "nonsense",
    "hostile",
    "blocks",
    "asks",
    "rewrites",
  ] as const),
];

interface Plan {
  readonly calls: readonly {
    readonly policy: Manner;
    readonly schema: Manner;
    readonly authorization: Manner;
    readonly after: Manner;
  }[];
  /** When the batch is cancelled, if it is. */
  readonly cancelAtMs: number | undefined;
  /** Which hostile or nonsensical value is answered. */
  readonly pick: number;
}

const manner = fc.constantFrom(...MANNERS);
const plans: fc.Arbitrary<Plan> = fc.record({
  calls: fc.array(fc.record({ policy: manner, schema: manner, authorization: manner, after: manner }), {
    minLength: 1,
    maxLength: 5,
  }),
  cancelAtMs: fc.option(fc.constantFrom(0, 5, 10, 15, 40, 60), { nil: undefined }),
  pick: fc.nat(),
});

/** Plays a step; what it answers where it goes well is the caller's. */
function playStep(
  how: Manner,
  answers: { readonly fine: unknown; readonly blocks: unknown; readonly asks: unknown; readonly rewrites: unknown },
  context: { readonly pick: number; readonly later: (work: () => void) => void },
): unknown {
  switch (how) {
    case "late":
      return new Promise((resolve) => context.later(() => resolve(answers.fine)));
    case "throws":
      throw new Error("hunter2-payload");
    case "rejects":
      return Promise.reject(new Error("hunter2-payload"));
    case "hangs":
      return new Promise(() => undefined);
    case "nonsense":
      return NONSENSE_VALUES[context.pick % NONSENSE_VALUES.length]?.[1];
    case "hostile":
      return HOSTILE_VALUES[context.pick % HOSTILE_VALUES.length]?.[1]();
    default:
      return answers[how];
  }
}

/** Whether a call gets past a step by itself. */
const passes = (how: Manner, good: readonly Manner[]): boolean =>
  how === "fine" || how === "late" || good.includes(how);

type Later = (work: () => void) => void;

/** A tool whose schema behaves as planned; `runs` has the calls that it has executed. */
function stormedTool({ calls, pick }: Plan, later: Later, runs: number[]) {
  const schema: StandardSchema<JsonObject, JsonObject> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => {
        // A schema that hangs is not bounded: only a cancellation ends it. It is played as a late one.
        const planned = calls[Number((value as JsonObject).n)]?.schema ?? "fine";
        const how = planned === "hangs" ? "late" : planned;
        const refused = { issues: [{ message: "no" }] };
        return playStep(
          how,
          { fine: { value }, blocks: refused, asks: refused, rewrites: refused },
          { pick, later },
        ) as never;
      },
    },
  };
  return defineTool({
    name: "t",
    description: "Is stormed.",
    inputSchema: schema,
    inputJsonSchema: jsonSchema<JsonObject>({ type: "object", required: ["n"] }),
    conflictKey: ({ n }) => (Number(n) % 2 === 0 ? "even" : null),
    execute: ({ n }) => {
      runs.push(Number(n));
      return "ok";
    },
  });
}

/** Hooks that behave as planned for each call. */
function stormedHooks({ calls, pick }: Plan, later: Later): SessionHooks {
  const block = { block: "no" };
  const play = (how: Manner | undefined, answers: Parameters<typeof playStep>[1]) =>
    playStep(how ?? "fine", answers, { pick, later }) as never;
  return {
    rewriteToolCall: {
      timeoutMs: 20,
      run: ({ callIndex, arguments: given }) =>
        play(calls[callIndex]?.policy, {
          fine: undefined,
          blocks: block,
          asks: { ask: {} },
          rewrites: { arguments: { ...given, by: "policy" } },
        }),
    },
    authorizeToolCall: {
      timeoutMs: 20,
      run: ({ callIndex, arguments: given }) =>
        play(calls[callIndex]?.authorization, {
          fine: true,
          blocks: block,
          asks: { ask: {} },
          rewrites: { arguments: given },
        }),
    },
    afterToolCall: {
      timeoutMs: 20,
      run: ({ callIndex }) =>
        play(calls[callIndex]?.after, {
          fine: undefined,
          blocks: block,
          asks: { ask: {} },
          rewrites: { content: "shaped" },
        }),
    },
  };
}

async function storm(plan: Plan) {
  const { clock, advance, pendingTimers } = simulatedClock();
  const runs: number[] = [];
  const later: Later = (work) => void clock.setTimer(clock.now() + 7, work);
  const tools = [stormedTool(plan, later, runs) as AnyTool];
  const session = createToolSession({ tools, hooks: stormedHooks(plan, later), clock, runId: "run" });
  const response = plan.calls.map((_, n) => ({ id: `c${n}`, name: "t", arguments: JSON.stringify({ n }) }));
  const controller = new AbortController();
  const first = settle(session.execute(response, { signal: controller.signal }).result, advance);
  const { cancelAtMs } = plan;
  if (cancelAtMs !== undefined) clock.setTimer(clock.now() + cancelAtMs, () => controller.abort());
  const asked = await first;
  const approvals = Object.fromEntries((asked.approvals ?? []).map(({ approvalId }) => [approvalId, true as const]));
  const result =
    asked.approvals === undefined
      ? asked
      : await settle(session.execute(response, { turn: 1, approvals, signal: controller.signal }).result, advance);
  const afterwards = await settle(session.execute([{ id: "x", name: "none" }]).result, advance);
  await session.close();
  await advance(1_000);
  return { result, runs, afterwards, left: pendingTimers(), isCancelled: controller.signal.aborted };
}

/** Moves time until a batch is done. */
async function settle(result: Promise<BatchResult>, advance: (ms: number) => Promise<void>): Promise<BatchResult> {
  let done: BatchResult | undefined;
  result.then(
    (settled) => {
      done = settled;
    },
    () => undefined,
  );
  for (let turn = 0; turn < 100 && done === undefined; turn += 1) await advance(5);
  if (done === undefined) throw new Error("the batch did not end");
  return done;
}

describe("whatever hooks, schema and host do", () => {
  it("PREP-6, PREP-12, PREP-13, CAN-4: every call has one result in order, nothing runs that was not allowed, and the session goes on", async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const { result, runs, afterwards, left, isCancelled } = await storm(plan);
        expect(result.settled.map(({ index }) => index)).toEqual(plan.calls.map((_, index) => index));
        expect(result.messages.filter(({ role }) => role === "toolResult")).toHaveLength(plan.calls.length);
        expect(new Set(runs).size).toBe(runs.length);
        for (const [index, { policy, schema, authorization }] of plan.calls.entries()) {
          const isAllowed =
            passes(policy, ["rewrites"]) && passes(schema, ["hangs"]) && passes(authorization, ["asks"]);
          const outcome = result.settled[index]?.outcome;
          if (runs.includes(index)) expect([isAllowed, outcome]).toEqual([true, "succeeded"]);
          else expect(["refused", "cancelled"]).toContain(outcome);
          if (!isCancelled) expect(runs.includes(index)).toBe(isAllowed);
        }
        expect(JSON.stringify(result)).not.toContain("hunter2");
        expect(afterwards.settled.map(({ outcome }) => outcome)).toEqual(["refused"]);
        expect(left).toBe(0);
      }),
      { numRuns: 40 },
    );
  });
});
