import {
  GameActionDispatcher,
  type GameActionHandler,
  GameActionReceipt,
  GameActionTool,
  type Journal,
  memoryJournal,
  OutcomeUnknownError,
} from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { call, outcomesOf, testSession, verdictsOf } from "../support/run-calls.ts";

const INPUT = { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "main", tick: 1 } };

/** A durable tool as a process has it, over a journal that outlives it. */
function durableTool(journal: Journal, handler: Partial<GameActionHandler> = {}) {
  const done: string[] = [];
  const dispatcher = new GameActionDispatcher({
    journal,
    handler: {
      execute: (intent) => {
        done.push(intent.operationId);
        return GameActionReceipt.committed(intent, { built: true });
      },
      ...handler,
    },
  });
  const tool = GameActionTool.create({
    input: { ...INPUT },
    name: "build",
    description: "Builds.",
    inputSchema: { type: "object" },
    conflictKey: () => "plot",
    dispatcher,
  });
  return { tool, done };
}

const SCRIPT = [ask(callPart("build", "b")), say("built")];

describe("a durable action of a run that is resumed", () => {
  it("RUN-6, ACT-7: whose end was not recorded is replayed from its journal: one write, one receipt", async () => {
    const journal = memoryJournal();
    // Begin, response, preparation with plan and dispatch are recorded; the end is not.
    const store = new MortalStore({ kind: "dies", at: 4, when: "before" });
    const first = durableTool(journal);
    const one = openAgentBench({ tools: [first.tool], script: SCRIPT, runStore: store });
    const { run } = one.start();
    await one.advance();
    await one.advance();
    expect([store.isDead, store.facts.at(-1)?.kind, first.done.length]).toEqual([true, "dispatched", 1]);

    const second = durableTool(journal);
    const two = openAgentBench({ tools: [second.tool], script: [say("built")], runStore: store.successor() });
    const { result, events } = await two.resume("run").finish();
    const [told] = result.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
    expect([endOf({ result }), second.done, told?.isError, told?.outcomeUncertain]).toEqual([
      "completed by noCalls",
      [],
      false,
      false,
    ]);
    expect(told?.details).toMatchObject({ status: "committed", dispatch: "replayed", operationId: first.done[0] });
    const { duplicatesPrevented, worldWrites } = result.performance;
    expect([duplicatesPrevented, worldWrites, events.filter(({ kind }) => kind === "toolDispatched").length]).toEqual([
      1, 0, 1,
    ]);
    store.wake();
    await one.advance(1_000);
    await run.result;
  });

  it("RUN-6: whose journal knows nothing of it was not dispatched, and is executed once", async () => {
    const journal = memoryJournal();
    // It dies when the dispatch is recorded and nobody knows: the dispatcher was never asked.
    const store = new MortalStore({ kind: "dies", at: 3, when: "after" });
    const first = durableTool(journal);
    const one = openAgentBench({ tools: [first.tool], script: SCRIPT, runStore: store });
    const { run } = one.start();
    await one.advance();
    expect([store.isDead, store.facts.at(-1)?.kind, first.done]).toEqual([true, "dispatched", []]);
    const second = durableTool(journal);
    const two = openAgentBench({ tools: [second.tool], script: [say("built")], runStore: store.successor() });
    const { result } = await two.resume("run").finish();
    expect([endOf({ result }), second.done.length]).toEqual(["completed by noCalls", 1]);
    expect(linesOf(result.messages)).toHaveLength(4);
    store.wake();
    await one.advance(1_000);
    await run.result;
  });

  it("UNC-6, RUN-6: that was left uncertain is resolved by its journal, in another process too", async () => {
    const journal = memoryJournal();
    const store = new MortalStore();
    leaveChartsOpen();
    const lost = () => {
      throw new OutcomeUnknownError("nobody knows");
    };
    const options = { uncertainWriteScope: "run" } as const;
    const first = durableTool(journal, { execute: lost });
    const one = testSession({ tools: [first.tool], runStore: store, ...options });
    const { settled } = await one.execute([call("build", "{}", "b")]).result;
    expect(settled[0]?.outcome).toBe("uncertain");
    await new Promise((resolve) => setImmediate(resolve));
    store.isDead = true;
    const second = durableTool(journal);
    const two = testSession({ tools: [second.tool], runStore: store.successor(), ...options });
    expect(verdictsOf(await two.execute([call("build", "{}", "c")], { turn: 2 }).result)).toEqual(["blocked:conflict"]);
    await two.resolveUncertain("b", { status: "failed", details: { seen: "nothing" } });
    const operationId = settled[0]?.operationId ?? "";
    expect(await journal.find(operationId)).toMatchObject({ state: "failed" });
    expect(outcomesOf(await two.execute([call("build", "{}", "d")], { turn: 3 }).result)).toEqual(["succeeded"]);
    await two.close();
  });

  it("RUN-6: whose tool cannot name it any more is uncertain, not failed: it may have happened", async () => {
    const journal = memoryJournal();
    const store = new MortalStore({ kind: "dies", at: 4, when: "before" });
    const first = durableTool(journal);
    const one = openAgentBench({ tools: [first.tool], script: SCRIPT, runStore: store });
    const { run } = one.start();
    await one.advance();
    await one.advance();
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: { execute: () => Promise.reject(new Error("called")) },
    });
    const broken = GameActionTool.create({
      input: () => {
        throw new Error("no input");
      },
      name: "build",
      description: "Builds.",
      inputSchema: { type: "object" },
      dispatcher,
    });
    const two = openAgentBench({ tools: [broken], script: [say("ok")], runStore: store.successor() });
    const { result } = await two.resume("run").finish();
    const [told] = result.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
    expect([endOf({ result }), told?.outcomeUncertain]).toEqual(["completed by noCalls", true]);
    store.wake();
    await one.advance(1_000);
    await run.result;
  });
});
