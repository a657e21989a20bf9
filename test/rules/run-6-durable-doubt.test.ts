import {
  GameActionDispatcher,
  GameActionReceipt,
  GameActionTool,
  type Journal,
  memoryJournal,
  OutcomeUnknownError,
} from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, callPart, openAgentBench, say } from "../support/agent-bench.ts";
import { MortalStore } from "../support/mortal-store.ts";

const INPUT = { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "main", tick: 1 } };
const SCRIPT = [ask(callPart("pay", "p")), say("paid")];

type Revision = () => number | Promise<number>;

/** What a process has: the tool, and how often its handler was called. */
function payTool(journal: Journal, { isLost = false, revision }: { isLost?: boolean; revision?: Revision } = {}) {
  const paid: string[] = [];
  const dispatcher = new GameActionDispatcher({
    journal,
    handler: {
      execute: (intent) => {
        paid.push(intent.operationId);
        if (isLost) throw new OutcomeUnknownError("nobody knows");
        return GameActionReceipt.committed(intent, { paid: true }, { stateRevision: 7 });
      },
    },
  });
  const tool = GameActionTool.create({
    input: { ...INPUT },
    name: "pay",
    description: "Pays.",
    inputSchema: { type: "object" },
    dispatcher,
    timeoutMs: 1_000,
    expectedRevision: revision,
  });
  return { tool, paid };
}

/** The journal as a process sees it that cannot reach one of its steps. */
function withoutStep(journal: Journal, step: "claim" | "sweep"): Journal {
  const gone = () => Promise.reject(new Error("ECONNREFUSED"));
  const protocol = new Proxy(journal.protocol, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (name === step) return gone;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return new Proxy(journal, {
    get: (target, name) => {
      const value: unknown = name === "protocol" ? protocol : Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A run whose process died when its action had been dispatched and its end not been recorded. */
async function dieBehindDispatch(journal: Journal, first: ReturnType<typeof payTool>) {
  const store = new MortalStore({ kind: "dies", at: 4, when: "before" });
  const bench = openAgentBench({ tools: [first.tool], script: SCRIPT, runStore: store });
  const { run } = bench.start();
  await bench.advance();
  await bench.advance();
  expect([store.isDead, first.paid.length]).toEqual([true, 1]);
  expect(await journal.find(first.paid[0] ?? "")).toBeDefined();
  const forget = async () => {
    store.wake();
    await bench.advance(1_000);
    await run.result;
  };
  return { store: store.successor(), forget };
}

/** What the next process tells the model of the call, and how often the action was done in all. */
async function goOn(journal: Journal, ground: { isLost?: boolean; prepare?: () => unknown; revision?: Revision }) {
  const first = payTool(journal, ground.isLost === undefined ? {} : { isLost: ground.isLost });
  const { store, forget } = await dieBehindDispatch(journal, first);
  await ground.prepare?.();
  return {
    resume: async (later: Journal) => {
      const second = payTool(later, ground.revision === undefined ? {} : { revision: ground.revision });
      const bench = openAgentBench({ tools: [second.tool], script: [say("paid")], runStore: store });
      const { finish } = bench.resume("run");
      await bench.advance(60_000);
      const { result } = await finish();
      await forget();
      const [told] = result.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
      const text = JSON.stringify(told?.content);
      expect(text).not.toMatch(/nothing (was|happened)/i);
      return { told, text, paid: first.paid.length + second.paid.length };
    },
  };
}

describe("a durable action that an earlier process has dispatched", () => {
  it.each(["claim", "sweep"] as const)(
    "RUN-6, UNC-1: is uncertain where the journal does not answer a %s",
    async (step) => {
      for (const isLost of [false, true]) {
        const journal = memoryJournal();
        const { resume } = await goOn(journal, { isLost });
        const { told, paid } = await resume(withoutStep(journal, step));
        expect([told?.outcomeUncertain, told?.isError, paid]).toEqual([true, true, 1]);
        expect(told?.details).toMatchObject({ status: "uncertain", code: "journal_silent" });
      }
    },
  );

  it("RUN-6, UNC-1: is uncertain where the journal has been closed", async () => {
    const journal = memoryJournal();
    const { resume } = await goOn(journal, { prepare: () => journal.close() });
    const { told, paid } = await resume(journal);
    expect([told?.outcomeUncertain, paid]).toEqual([true, 1]);
  });

  it("RUN-6, ACT-10: is what it ended as where its receipt has been pruned meanwhile", async () => {
    const journal = memoryJournal();
    const { resume } = await goOn(journal, { prepare: () => journal.prune({ finalBefore: Number.MAX_SAFE_INTEGER }) });
    const { told, text, paid } = await resume(journal);
    expect([told?.outcomeUncertain, told?.isError, paid]).toEqual([false, false, 1]);
    expect(told?.details).toMatchObject({ status: "committed", dispatch: "replayed" });
    expect(text).toContain("do not repeat");
  });

  it.each([
    ["throws", () => Promise.reject(new Error("secret"))],
    ["hangs", () => new Promise<number>(() => undefined)],
  ] as const)("ACT-7: is replayed without a word to a question for the revision that %s", async (_how, revision) => {
    const journal = memoryJournal();
    const { resume } = await goOn(journal, { revision });
    const { told, paid } = await resume(journal);
    expect([told?.isError, told?.outcomeUncertain, paid]).toEqual([false, false, 1]);
    expect(told?.details).toMatchObject({ status: "committed", dispatch: "replayed", stateRevision: 7 });
  });
});
