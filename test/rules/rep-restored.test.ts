import type { JsonObject, RunFact, StoredPreparation } from "toolkernel";
import { describe, expect, it } from "vitest";
import { leftFacts, storeOf } from "../support/left-run.ts";
import { call, eventsOf, finish, recordingTool, testSession } from "../support/run-calls.ts";

const LIMITS = { exactToolRepeatAdvisoryThreshold: 2, exactToolRepeatTerminationThreshold: 0 };
const REFUSED = {
  kind: "refused",
  index: 0,
  failureCategory: "ruleRejected",
  reason: "no",
  terminate: false,
  repairs: [],
} as const;

interface Left {
  /** In place of the preparation that stands there. */
  readonly preparation?: StoredPreparation;
  /** The draft that the response holds, where it is another than what was prepared. */
  readonly draft?: JsonObject | string;
  readonly outcome?: "succeeded" | "cancelled" | "refused";
  readonly isTracked?: boolean;
}

/** How often a call has come in a row when it comes in the turn after a call that was left so. */
async function countAfter({ preparation, draft, outcome = "succeeded", isTracked = true }: Left, given: unknown) {
  const facts = leftFacts([{ name: "read", arguments: { path: "a" } }], { epochs: [[0]] });
  const settled = {
    kind: "settled",
    turn: 1,
    index: 0,
    operationId: "o",
    outcome,
    result: { content: [], isError: outcome !== "succeeded", outcomeUncertain: false, terminate: false },
    endedAtMs: 1,
  } as const;
  const left = facts.map((fact): RunFact => {
    if (fact.kind === "prepared" && preparation !== undefined) return { ...fact, calls: [preparation] };
    if (fact.kind === "response" && draft !== undefined)
      return { ...fact, calls: fact.calls.map((each) => ({ ...each, arguments: draft })) };
    return fact;
  });
  const runStore = await storeOf([...left, settled, { kind: "batchEnded", turn: 1, messages: [] }]);
  const tool = recordingTool({ trackExactRepeats: isTracked }).tool;
  const session = testSession({ tools: [tool], runStore, limits: LIMITS });
  const { events } = await finish(session.execute([call("read", given as JsonObject, "again")], { turn: 2 }));
  await session.close();
  return eventsOf(events, "toolRepeatDetected").map(({ count }) => count);
}

describe("the sequence of repeats in another process", () => {
  it("REP-1, RUN-6: counts a call that ran by the arguments it ran with", async () => {
    expect(await countAfter({}, { path: "a" })).toEqual([2]);
    expect(await countAfter({}, { path: "b" })).toEqual([]);
  });

  it("REP-3, RUN-6: counts a call that was refused by its draft, or by its text where it was none", async () => {
    const drafted: Left = { preparation: { ...REFUSED, draft: { path: "d" } }, outcome: "refused" };
    expect(await countAfter(drafted, { path: "d" })).toEqual([2]);
    expect(await countAfter(drafted, { path: "a" })).toEqual([]);
    const text: Left = { preparation: REFUSED, draft: "{path", outcome: "refused" };
    expect(await countAfter(text, "{path")).toEqual([2]);
    expect(await countAfter(text, "{path:")).toEqual([]);
  });

  it("REP-2, RUN-6: counts neither what was cancelled nor what nobody tracks", async () => {
    expect(await countAfter({ outcome: "cancelled" }, { path: "a" })).toEqual([]);
    expect(await countAfter({ isTracked: false }, { path: "a" })).toEqual([]);
  });
});
