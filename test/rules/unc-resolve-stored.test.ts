import { type AgentHooks, memoryRunStore, OutcomeUnknownError, type RunStore, type SessionHooks } from "toolkernel";
import { simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { ask, callPart, openAgentBench, say } from "../support/agent-bench.ts";
import { factsIn } from "../support/left-run.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { misuseOf } from "../support/run-6-session-scene.ts";
import { call, outcomesOf, recordingTool, testSession } from "../support/run-calls.ts";

const RESOLVED = { status: "committed" } as const;

/** A write to one account, of which the first is lost. */
function losingWrite() {
  let count = 0;
  const execute = () => {
    count += 1;
    if (count === 1) throw new OutcomeUnknownError("lost");
    return "paid";
  };
  const { tool } = recordingTool({ name: "pay", risk: "nonIdempotentWrite", conflictKey: () => "account" as never });
  return { ...tool, execute };
}

function openHost(runStore: RunStore) {
  const tools = [losingWrite()];
  const { clock, advance } = simulatedClock();
  return {
    runStore,
    /** Another session of the same host and run. */
    open: () => testSession({ tools, runStore, uncertainWriteScope: "run", clock }),
    /** What comes of something, once a store that does not answer was tried for long enough. */
    outlast: async (doing: Promise<unknown>) => {
      const misuse = misuseOf(doing);
      for (let tries = 0; tries < 4; tries += 1) await advance(500);
      return misuse;
    },
  };
}

/** A host whose first write was lost in a session that still holds the run. */
async function openUncertain(runStore: RunStore = memoryRunStore()) {
  const host = openHost(runStore);
  const session = host.open();
  const { settled } = await session.execute([call("pay", "{}", "a")]).result;
  return { ...host, session, operationId: settled[0]?.operationId ?? "" };
}

async function payIn(session: ReturnType<ReturnType<typeof openHost>["open"]>) {
  const outcomes = outcomesOf(await session.execute([call("pay", { again: true }, "b")]).result);
  await session.close();
  return outcomes;
}

/** A store whose claims have to be let through one by one. */
function heldBack(inner: RunStore) {
  let letThrough: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  const claim: RunStore["claim"] = async (...given) => {
    await gate;
    return inner.claim(...given);
  };
  const store: RunStore = {
    claim,
    listOpen: (options) => inner.listOpen(options),
    prune: (options) => inner.prune(options),
    close: () => inner.close(),
    [Symbol.asyncDispose]: () => inner.close(),
  };
  return { store, letThrough };
}

describe("UNC-6, RUN-6: resolveUncertain with a run store", () => {
  it("is durable when it resolves", async () => {
    const store = new MortalStore();
    const { session, operationId } = await openUncertain(store);
    await session.resolveUncertain("a", RESOLVED);
    expect(store.facts.at(-1)).toEqual({ kind: "resolved", operationId });
    expect(await payIn(session)).toEqual(["succeeded"]);
  });

  it("rejects where it cannot be recorded, and the write goes on blocking", async () => {
    const store = new MortalStore({ kind: "rejects", at: 6, times: Number.POSITIVE_INFINITY });
    const { session, outlast } = await openUncertain(store);
    expect(store.appends).toBe(6);
    expect(await outlast(session.resolveUncertain("a", RESOLVED))).toBe("JOURNAL_UNAVAILABLE runStore");
    await session.close();
    const next = openHost(store.successor());
    expect(await payIn(next.open())).toEqual(["blocked"]);
  });

  it("counts for the next process after the session was closed", async () => {
    const { session, open, runStore, operationId } = await openUncertain();
    await session.close();
    await session.resolveUncertain("a", RESOLVED);
    expect((await factsIn(runStore)).at(-1)).toEqual({ kind: "resolved", operationId });
    expect(await payIn(open())).toEqual(["succeeded"]);
    expect(await misuseOf(session.resolveUncertain("a", RESOLVED))).toBe("OPERATION_UNKNOWN undefined");
  });

  it("counts while the session is being closed", async () => {
    const { session, open } = await openUncertain();
    const closed = session.close();
    await session.resolveUncertain("a", RESOLVED);
    await closed;
    expect(await payIn(open())).toEqual(["succeeded"]);
  });

  it("rejects with RUN_CLAIMED where somebody else holds the run by now, and changes nothing", async () => {
    const { session, open, runStore } = await openUncertain();
    await session.close();
    const holder = await runStore.claim("run", { create: false });
    expect(await misuseOf(session.resolveUncertain("a", RESOLVED))).toBe("RUN_CLAIMED runId");
    await holder.release();
    expect(await payIn(open())).toEqual(["blocked"]);
    await session.resolveUncertain("a", RESOLVED);
    expect(await payIn(open())).toEqual(["succeeded"]);
  });

  it("takes several one after another, though each claims the run for itself", async () => {
    const runStore = memoryRunStore();
    const { tool } = recordingTool({ name: "pay", risk: "nonIdempotentWrite" });
    const lose = () => {
      throw new OutcomeUnknownError("lost");
    };
    const lost = { ...tool, executionMode: "parallel" as const, execute: lose };
    const session = testSession({ tools: [lost], runStore });
    await session.execute(["a", "b", "c"].map((id) => call("pay", { id }, id))).result;
    await session.close();
    await Promise.all(["a", "b", "c"].map((id) => session.resolveUncertain(id, RESOLVED)));
    expect((await factsIn(runStore)).filter(({ kind }) => kind === "resolved")).toHaveLength(3);
  });

  it("gives the run back where its one record cannot be made", async () => {
    const store = new MortalStore({ kind: "rejects", at: 7, times: 4 });
    const { session, outlast } = await openUncertain(store);
    await session.close();
    expect(store.appends).toBe(7);
    expect(await outlast(session.resolveUncertain("a", RESOLVED))).toBe("JOURNAL_UNAVAILABLE runStore");
    expect(store.isClaimed).toBe(false);
    await session.resolveUncertain("a", RESOLVED);
    expect(store.facts.at(-1)).toMatchObject({ kind: "resolved" });
  });

  it("counts for the next process once an Agent's run waits for approvals, and is held by nobody", async () => {
    leaveChartsOpen(); // somebody is asked
    const runStore = memoryRunStore();
    const pay = losingWrite();
    const hooks: AgentHooks & SessionHooks = {
      authorizeToolCall: ({ turn }) => (turn === 2 ? { ask: { sure: true } } : true),
    };
    const options = { tools: [pay], hooks, runStore, uncertainWriteScope: "run" } as const;
    const first = openAgentBench({ ...options, script: [ask(callPart("pay", "a")), ask(callPart("pay", "b"))] });
    const asked = first.start("go", { runId: "run" });
    const { result } = await asked.finish();
    await asked.run.resolveUncertain("a", RESOLVED);
    const second = openAgentBench({ ...options, script: [say()] });
    const approvals = { [result.approvals?.[0]?.approvalId ?? ""]: true as const };
    const done = await second.resume("run", { approvals }).finish();
    expect(done.result.messages.filter(({ role }) => role === "toolResult")).toMatchObject([
      { callId: "a", outcomeUncertain: true },
      { callId: "b", isError: false },
    ]);
  });
});

describe("RUN-6: a session that is closed while its run is being claimed", () => {
  it("gives the run back", async () => {
    const { session: before, open, runStore } = await openUncertain();
    await before.close();
    const { store, letThrough } = heldBack(runStore);
    const session = openHost(store).open();
    const resolved = session.resolveUncertain("a", RESOLVED);
    const closed = session.close();
    letThrough();
    await Promise.all([resolved, closed]);
    expect(await payIn(open())).toEqual(["succeeded"]);
  });

  it("claims it no more afterwards", async () => {
    const { session: before, open, runStore } = await openUncertain();
    await before.close();
    const session = openHost(runStore).open();
    await session.close();
    expect(await misuseOf(session.resolveUncertain("a", RESOLVED))).toBe("INVALID_OPTIONS resolveUncertain");
    expect(await payIn(open())).toEqual(["blocked"]);
  });
});
