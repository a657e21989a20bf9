import { describe, expect, it } from "vitest";
import { draftsOf, type LeftCall, leftFacts, storeOf } from "../support/left-run.ts";
import { eventsOf, finish, outcomesOf, recordingTool, testSession, textsOf, verdictsOf } from "../support/run-calls.ts";

/** Goes on with a batch whose questions an earlier process has heard the answers to, and died. */
async function goOn(calls: readonly LeftCall[], blocks: readonly string[] = []) {
  const more = blocks.map((block) => ({ kind: "decided", turn: 1, decisions: [{ index: 0, block }] }) as const);
  const runStore = await storeOf(leftFacts(calls, { epochs: null, more }));
  const { tool, runs } = recordingTool({ name: "write", risk: "nonIdempotentWrite" });
  const session = testSession({ tools: [tool], runStore });
  const played = await finish(session.execute(draftsOf(calls), { turn: 1 }));
  await session.close();
  return { ...played, runs };
}

const NOT_GIVEN = "not_executed: no approval was given for this call.";

describe("an answer that an earlier process has recorded", () => {
  it("APP-3, RUN-6: grants its call, which runs with the stored arguments", async () => {
    const { result, runs } = await goOn([{ name: "write", state: "granted", arguments: { n: 1 } }]);
    expect([outcomesOf(result), runs]).toEqual([["succeeded"], [{ n: 1 }]]);
  });

  it("APP-3, RUN-6: blocks its call with the reason that was given, and lets the others run", async () => {
    const { result, events, runs } = await goOn([{ name: "write", state: "blocked" }, { name: "write" }]);
    expect([verdictsOf(result), runs.length]).toEqual([["refused:authorization", "succeeded"], 1]);
    expect(textsOf(result)[0]).toBe("no");
    expect(eventsOf(events, "toolEnded").map(({ outcome }) => outcome)).toEqual(["refused", "succeeded"]);
  });

  it("APP-3, RUN-6: that says nothing of why blocks it with the kernel's own words", async () => {
    const { result, runs } = await goOn([{ name: "write", state: "asks" }], [""]);
    expect([verdictsOf(result), textsOf(result), runs]).toEqual([["refused:authorization"], [NOT_GIVEN], []]);
  });

  it("RUN-6: a refusal is kept as it was, with its end and all that was known of its call", async () => {
    const facts = leftFacts([{ name: "write" }, { name: "write" }], { epochs: null });
    const refused = {
      kind: "refused",
      index: 0,
      failureCategory: "ruleRejected",
      reason: "not today",
      terminate: true,
      repairs: [],
      draft: { n: 9 },
    } as const;
    const runStore = await storeOf(
      facts.map((fact) => (fact.kind === "prepared" ? { ...fact, calls: [refused, ...fact.calls.slice(1)] } : fact)),
    );
    const { tool, runs } = recordingTool({ name: "write", risk: "nonIdempotentWrite" });
    const session = testSession({ tools: [tool], runStore });
    const { result } = await finish(session.execute(draftsOf([{ name: "write" }, { name: "write" }]), { turn: 1 }));
    await session.close();
    expect([verdictsOf(result), runs.length]).toEqual([["refused:ruleRejected", "succeeded"], 1]);
    expect(result.settled[0]?.result).toMatchObject({
      content: [{ type: "text", text: "not today" }],
      terminate: true,
    });
  });
});
