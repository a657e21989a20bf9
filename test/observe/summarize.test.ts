import fc from "fast-check";
import { formatSummary, type KernelEventKind, type KernelEventMap, readJsonLines, summarize } from "toolkernel";
import { describe, expect, it } from "vitest";
import { addSummaries, emptySummary } from "../../src/observe/performance-summary.ts";
import { dispatched, ended, playSteps, type Step } from "./recorded-run.ts";
import { FULL_FIELDS, KINDS } from "./sample-events.ts";

/** Any events in any order, of up to three runs: nothing that a kernel would emit, everything that a reader may meet. */
const anySteps: fc.Arbitrary<readonly Step[]> = fc
  .array(
    fc.record({
      afterMs: fc.integer({ min: -5, max: 20 }),
      kind: fc.constantFrom<KernelEventKind>(...KINDS),
      callIndex: fc.integer({ min: 0, max: 3 }),
      outcome: fc.constantFrom<KernelEventMap["toolEnded"]["outcome"]>("succeeded", "failed", "uncertain"),
      role: fc.constantFrom("assistant", "user", "policy"),
      waits: fc.record({ barrierMs: fc.nat(20), keyMs: fc.nat(20), queueMs: fc.nat(20) }),
      action: fc.option(fc.record({ hostMs: fc.nat(9), frameworkMs: fc.nat(9), recovered: fc.boolean() })),
      place: fc.record({ turn: fc.integer({ min: 1, max: 3 }), runId: fc.constantFrom("a", "b", "c") }),
    }),
    { maxLength: 60 },
  )
  .map((draws) => {
    let nowMs = 1_000;
    return draws.map(({ afterMs, kind, callIndex, outcome, role, waits, action, place }): Step => {
      nowMs += afterMs;
      const { action: _full, failureCategory: _category, ...end } = FULL_FIELDS.toolEnded;
      const variants: Partial<Record<KernelEventKind, object>> = {
        messageEnded: { message: { role, content: [], stopReason: "stop" } },
        toolDispatched: waits,
        toolEnded: action === null ? end : { action: { ...FULL_FIELDS.toolEnded.action, ...action } },
      };
      const fields = { ...FULL_FIELDS[kind], ...variants[kind] };
      const given = "callIndex" in fields ? { ...fields, callIndex, ...(kind === "toolEnded" && { outcome }) } : fields;
      return [nowMs, kind, given, place] as unknown as Step; // fields of that kind
    });
  });

/** The calls of one batch as intervals of whole milliseconds. */
interface Plan {
  readonly barrierMs: number;
  readonly keyMs: number;
  readonly queueMs: number;
  readonly toolMs: number;
}

const anyPlan: fc.Arbitrary<Plan> = fc.record({
  barrierMs: fc.nat(8),
  keyMs: fc.nat(8),
  queueMs: fc.nat(8),
  toolMs: fc.nat(30),
});

/** The batch as events: prepared at 0, dispatched after its waits. */
function stepsOf(plans: readonly Plan[], startMs: number, turn: number): Step[] {
  const place = { turn };
  const begin = plans.map((_plan, index): Step => [startMs, "toolStarted", { ...dispatched(index) }, place]);
  const rest = plans.flatMap((plan, index): Step[] => {
    const atMs = startMs + plan.barrierMs + plan.keyMs + plan.queueMs;
    return [
      [atMs, "toolDispatched", dispatched(index, plan), place],
      [atMs + plan.toolMs, "toolEnded", ended(index, { durationMs: plan.toolMs }), place],
    ];
  });
  return [...begin, ...rest.toSorted(([first], [second]) => first - second)];
}

/** In how many milliseconds at least one of the stretches lies, counted one by one. */
function countedMs(stretches: readonly (readonly [startMs: number, lengthMs: number])[]): number {
  const moments = stretches.flatMap(([startMs, lengthMs]) => Array.from({ length: lengthMs }, (_, ms) => startMs + ms));
  return new Set(moments).size;
}

describe("OBS-4: summarize", () => {
  it("gives the same figures for live events, for their recording and for the stream that counted them", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const { events, lines, performance } = playSteps(steps);
        const summary = summarize([events]);
        expect(summarize([readJsonLines(lines)])).toEqual(summary);
        expect(addSummaries(performance.values())).toEqual(summary);
        expect(summary.toolCalls).toBe(events.filter(({ kind }) => kind === "toolEnded").length);
      }),
    );
  });

  it("measures what happens in parallel as a person with a stopwatch per millisecond would", () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyPlan, { minLength: 1, maxLength: 6 }), { maxLength: 3 }), (batches) => {
        const { events } = playSteps(batches.flatMap((plans, index) => stepsOf(plans, index * 10_000, index + 1)));
        const sum = (measure: (plans: readonly Plan[]) => number) =>
          batches.reduce((total, plans) => total + measure(plans), 0);
        const tools = (plans: readonly Plan[]) =>
          countedMs(plans.map((plan) => [plan.barrierMs + plan.keyMs + plan.queueMs, plan.toolMs]));
        const total = (plans: readonly Plan[]) =>
          Math.max(...plans.map((plan) => plan.barrierMs + plan.keyMs + plan.queueMs + plan.toolMs));
        expect(summarize([events]).times).toEqual({
          ...emptySummary().times,
          totalMs: sum(total),
          toolMs: sum(tools),
          frameworkMs: sum((plans) => total(plans) - tools(plans)),
          barrierMs: sum((plans) => countedMs(plans.map(({ barrierMs }) => [0, barrierMs]))),
          keyMs: sum((plans) => countedMs(plans.map(({ barrierMs, keyMs }) => [barrierMs, keyMs]))),
          queueMs: sum((plans) =>
            countedMs(plans.map(({ barrierMs, keyMs, queueMs }) => [barrierMs + keyMs, queueMs])),
          ),
        });
      }),
    );
  });

  it("adds runs up, told apart by their ids wherever their events stand", () => {
    const run = (runId: string): Step[] => [
      [0, "toolStarted", dispatched(0), { runId }],
      [4, "toolDispatched", dispatched(0), { runId }],
      [10, "toolEnded", ended(0), { runId }],
    ];
    const [first, second] = [playSteps(run("a")).events, playSteps(run("b")).events];
    const one = summarize([first]);
    expect(summarize([first, second])).toEqual(addSummaries([one, one]));
    expect(summarize([[first, second].flat().toSorted((a, b) => a.timeMs - b.timeMs)])).toEqual(
      summarize([first, second]),
    );
    expect(summarize([first.slice(0, 2), first.slice(2)])).toEqual(one);
  });

  it("of nothing is all zeros", () => {
    expect([summarize([]), summarize([[]])]).toEqual([emptySummary(), emptySummary()]);
  });
});

describe("OBS-4: formatSummary", () => {
  it("is a table of aligned lines, in which outcomes and categories without a call are left out", () => {
    const { events } = playSteps([
      [0, "toolStarted", dispatched(0)],
      [4, "toolDispatched", dispatched(0, { keyMs: 2.26 })],
      [1_010, "toolEnded", ended(0, { outcome: "failed", failureCategory: "transient" })],
    ]);
    expect(formatSummary(summarize([events]))).toBe(
      [
        "runs                             1",
        "turns                            1",
        "model requests                   0",
        "tool calls                       1",
        "  failed                         1",
        "failures                         1",
        "  transient                      1",
        "world writes                     1",
        "uncertain writes                 0",
        "uncertainties resolved           0",
        "duplicates prevented             0",
        "recoveries                       0",
        "exact-repeat advisories          0",
        "exact-repeat terminations        0",
        "late settlements                 0",
        "total time                 1010 ms",
        "  model                       0 ms",
        "  approval                    0 ms",
        "  tools                    1006 ms",
        "  framework                   4 ms",
        "waiting for a slot            0 ms",
        "waiting for a key           2.3 ms",
        "waiting for an epoch          0 ms",
        "durable framework             0 ms",
        "",
      ].join("\n"),
    );
  });
});
