import { describe, expect, it } from "vitest";
import type { AssistantMessage } from "../../src/domain/message.ts";
import type { StoredPreparation } from "../../src/domain/run-store.ts";
import type { BatchRun } from "../../src/run/batch/run-batch.ts";
import type { CallRun } from "../../src/run/call/run-call.ts";
import { Deadlines } from "../../src/run/deadlines.ts";
import { FACTS } from "../../src/run/facts.ts";
import { type ModelAnswer, requestModel } from "../../src/run/loop/request-model.ts";
import type { RunLoop } from "../../src/run/loop/run-loop.ts";
import { RunQueues } from "../../src/run/loop/run-queues.ts";
import { restoreCalls } from "../../src/run/store/restore-batch.ts";
import { recordResponse } from "../../src/run/store/run-records.ts";
import type { StoredBatch } from "../../src/run/store/stored-run.ts";
import { recordingTool, testSession } from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

const PREPARED: StoredPreparation = {
  kind: "prepared",
  index: 0,
  arguments: { path: "a" },
  draft: { path: "A" },
  conflictKeys: ["k"],
  repairs: [],
};

/** Restores one prepared call of the tool `read`. */
function restored(tools: ReadonlyMap<string, object>) {
  const told: unknown[] = [];
  const shown: unknown[] = [];
  const call = { toolName: "read", owner: { tools }, tell: (fact: unknown) => told.push(fact) } as unknown as CallRun;
  const events = { emitCall: (kind: string, _call: CallRun, fields: object) => shown.push([kind, fields]) };
  const core = { settings: { steady: { now: () => 7 } }, events };
  const batch = { calls: [call], core } as unknown as BatchRun;
  const stored = { preparations: [PREPARED], decisions: new Map(), settled: new Map() } as unknown as StoredBatch;
  expect(restoreCalls(batch, stored)).toBe(0);
  return { call, told, shown };
}

describe("a call that an earlier process has prepared", () => {
  it("RUN-6: is prepared as it was, and nothing of it is done again", () => {
    const { tool } = recordingTool();
    const { call, told, shown } = restored(new Map([["read", { tool }]]));
    expect(shown).toEqual([["toolPrepared", { conflictKeys: ["k"] }]]);
    const { index: _index, ...kept } = PREPARED as Extract<StoredPreparation, { kind: "prepared" }>;
    expect(call.prepared).toStrictEqual({ ...kept, tool });
    expect([call.refusal, call.preparedAtMs, Object.isFrozen(call.prepared?.arguments)]).toEqual([undefined, 7, true]);
    const { FOUND, SHAPED, VALID, KEPT, REFINED, KEYED, ALLOWED } = FACTS;
    expect(told).toEqual([FOUND, SHAPED, VALID, KEPT, REFINED, KEYED, ALLOWED]);
  });

  it.each([
    ["gone", new Map()],
    ["not to be called", new Map([["read", { tool: recordingTool().tool, unavailable: "broken" }]])],
  ])("RUN-6: is refused where its tool is %s by now, which says nothing of itself", (_how, tools) => {
    const { call, told, shown } = restored(tools);
    expect(shown).toEqual([]);
    expect(call.prepared?.tool).toEqual({
      name: "read",
      description: "",
      inputSchema: {},
      execute: expect.any(Function),
    });
    expect(told).toEqual([FACTS.REFUSED]);
    expect(call.refusal).toMatchObject({
      failureCategory: "invalidArguments",
      reason: expect.stringMatching(/^unknown_tool: /),
      draft: { path: "A" },
      terminate: false,
    });
  });
});

describe("what a run records with a response", () => {
  it("RUN-6: the response as it came, and in the list of runs that the run is at its turn", async () => {
    const recorded: unknown[] = [];
    const recorder = { record: async (...given: unknown[]) => void recorded.push(given) };
    const run = { core: { recorder }, turn: 2, totalTokens: 30 } as unknown as RunLoop;
    const calls = [{ id: "c", name: "read", arguments: { a: 1 } }];
    const message: AssistantMessage = {
      role: "assistant",
      content: [{ type: "text", text: "a" }],
      stopReason: "toolUse",
    };
    await recordResponse(run, { message, calls, hasDuplicateIds: false } as never, undefined);
    const fact = {
      kind: "response",
      turn: 2,
      message,
      calls,
      hasDuplicateIds: false,
      stopReason: "toolUse",
      totalTokens: 30,
    };
    expect(recorded).toEqual([[[fact], { status: "running", turn: 2 }]]);
  });
});

describe("what was said to a run", () => {
  it("RUN-3: is taken by the request that it is for, once", () => {
    const queues = new RunQueues(9);
    const message = { role: "user", content: "a" } as const;
    queues.accept("steering", message);
    expect([queues.dueCount, queues.takeDue()]).toEqual([0, { queue: undefined, messages: [] }]);
    queues.makeDue("steering");
    expect([queues.dueCount, queues.takeDue()]).toEqual([1, { queue: "steering", messages: [message] }]);
    expect(queues.takeDue()).toEqual({ queue: undefined, messages: [] });
    expect(queues.takeAll()).toEqual([]);
  });
});

describe("a request to the model", () => {
  it.each(["answers", "throws"] as const)(
    "CAN-1: that was stopped reports nothing more, whether it %s or not",
    async (how) => {
      const { clock } = trackedClock();
      const answers: ModelAnswer[] = [];
      let end: () => void = () => undefined;
      const late = new Promise((resolve, reject) => {
        end = () => (how === "answers" ? resolve({ content: [], stopReason: "endTurn" }) : reject(new Error("late")));
      });
      const model = { generate: () => late };
      const port = { onDelta: () => undefined, onAnswer: (answer: ModelAnswer) => answers.push(answer) };
      const stop = requestModel(model as never, {} as never, {
        ...port,
        clock,
        deadlines: new Deadlines(clock),
        timeoutMs: 50,
      });
      stop("enough");
      await Promise.resolve();
      end();
      await late.catch(() => undefined);
      for (let turns = 0; turns < 9; turns += 1) await Promise.resolve();
      expect(answers).toEqual([]);
    },
  );
});

describe("what an inspector sees of a batch", () => {
  it("its turn and how many calls it has, from its first snapshot on", async () => {
    const seen: unknown[] = [];
    const inspect = ({ snapshot, actorRef }: { snapshot?: { context?: object }; actorRef?: { id?: string } }): void => {
      if (actorRef?.id === "batch:1" && snapshot?.context !== undefined) seen.push(snapshot.context);
    };
    const session = testSession({ tools: [recordingTool().tool], inspect: inspect as never });
    const { result } = session.execute([
      { id: "a", name: "read", arguments: "{}" },
      { id: "b", name: "read", arguments: "{}" },
    ]);
    await result;
    await session.close();
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.every((context) => JSON.stringify(context).startsWith('{"turn":1,"calls":2,'))).toBe(true);
  });
});
