import { createToolSession, defineTool, type GivenCall, type RunFact, type ToolSessionOptions } from "toolkernel";
import { controllableTool, simulatedClock } from "toolkernel/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { MortalStore } from "../support/mortal-store.ts";
import { call, finish, outcomesOf, recordingTool, testSession, textsOf } from "../support/run-calls.ts";

/** Lets everything run that promises alone can reach. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Begins a response in a process that is going to be killed, so that its timers are nobody's. */
function begin(options: ToolSessionOptions, calls: readonly GivenCall[]): void {
  createToolSession({ runId: "run", clock: simulatedClock().clock, ...options }).execute(calls, { turn: 1 });
}

const isPrepared = (fact: RunFact) => fact.kind === "prepared";

it("C16: a result is durable when its own call settles; a sibling that never ends does not lose it", async () => {
  leaveChartsOpen();
  const first = recordingTool({ name: "read", risk: "readOnly" });
  const slow = controllableTool({ name: "slow", risk: "readOnly" });
  const calls = [call("read", "{}", "a"), call("slow", "{}", "b")];
  const store = new MortalStore();
  begin({ tools: [first.tool, slow], runStore: store }, calls);
  await settle();
  expect(first.runs).toHaveLength(1);

  // The process is killed here; the next finds what was durable.
  const again = recordingTool({ name: "read", risk: "readOnly" });
  const late = recordingTool({ name: "slow", risk: "readOnly" });
  const session = testSession({ tools: [again.tool, late.tool], runStore: store.successor() });
  const { result } = await finish(session.execute(calls, { turn: 1 }));
  expect([outcomesOf(result), again.runs.length, late.runs.length]).toEqual([["succeeded", "succeeded"], 0, 1]);
  await session.close();
});

it("C33: a transform of the schema is applied once; the next process takes the arguments as they were stored", async () => {
  leaveChartsOpen();
  let transforms = 0;
  const inputSchema = z.object({
    count: z.string().transform((text) => {
      transforms += 1;
      return Number(text);
    }),
  });
  const received: unknown[] = [];
  const toolWith = (execute: (args: { count: number }) => unknown) =>
    defineTool({ name: "take", description: "Takes.", risk: "readOnly", inputSchema, execute });
  const calls = [call("take", '{ "count": "3" }', "a")];
  const store = new MortalStore();
  begin({ tools: [toolWith(() => new Promise(() => undefined))], runStore: store }, calls);
  await settle();
  expect(store.facts.some(isPrepared)).toBe(true);

  const tool = toolWith((args) => {
    received.push(args);
    return "taken";
  });
  const session = testSession({ tools: [tool], runStore: store.successor() });
  const { result } = await finish(session.execute(calls, { turn: 1 }));
  expect([textsOf(result), received, transforms]).toEqual([["taken"], [{ count: 3 }], 1]);
  await session.close();
});
