import {
  type AnyTool,
  defineTool,
  GameActionDispatcher,
  GameActionReceipt,
  GameActionTool,
  memoryJournal,
  type ToolCall,
  ToolError,
  toolResult,
} from "toolkernel";
import { generateBatchPaths, type PathOutcome } from "toolkernel/testing";
import { describe, expect, it } from "vitest";

const EVERY_OUTCOME: readonly PathOutcome[] = ["succeeds", "fails", "throwsBefore", "throwsAfter", "timesOutAfter"];

function callOf(name: string, id: string, args: ToolCall["arguments"] = {}): ToolCall {
  return { id, name, arguments: args };
}

describe("a path", () => {
  it("waits for real work, reads what is yielded to its end, asks recover, and grants approvals", async () => {
    const { setTimeout: pause } = await import("node:timers/promises");
    const done: string[] = [];
    const tools = [
      defineTool({
        name: "slow",
        description: "Works in real time.",
        inputSchema: { type: "object" },
        execute: async () => {
          await pause(2);
          done.push("slow");
          return "done";
        },
        recover: () => (done.includes("slow") ? toolResult({ value: "done" }) : undefined),
      }),
      defineTool({
        name: "steps",
        description: "Yields.",
        inputSchema: { type: "object" },
        risk: "idempotentWrite",
        async *execute() {
          yield 1;
          done.push("steps");
          yield 2;
        },
      }),
    ];
    const calls = [callOf("slow", "a"), callOf("steps", "b")];
    const session = {
      hooks: {
        authorizeToolCall: async () => {
          await pause(1);
          return { ask: { question: "may it?" } };
        },
      },
    };
    const outcomes: Record<string, string> = {};
    for (const path of generateBatchPaths({ tools, calls, session, cancel: false })) {
      if (!path.name.endsWith("in order 1 2, working at once")) continue;
      const { settled } = await path.run({ setup: () => done.splice(0) });
      outcomes[path.name.split(";")[0] ?? ""] = settled.map(({ outcome }) => outcome).join(", ");
    }
    expect(outcomes["slow succeeds, steps succeeds"]).toBe("succeeded, succeeded");
    expect(outcomes["slow throwsAfter, steps succeeds"]).toBe("succeeded, succeeded");
    expect(outcomes["slow throwsBefore, steps succeeds"]).toBe("uncertain, blocked");
    expect(outcomes["slow timesOutAfter, steps throwsAfter"]).toBe("succeeded, uncertain");
    expect(outcomes["slow fails, steps timesOutAfter"]).toBe("failed, uncertain");
  });

  it("goes with durable actions too: the world is written once, and the journal says what the result says", async () => {
    const world: string[] = [];
    const journal = memoryJournal();
    let inputId = "";
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: {
        execute: async (intent) => {
          world.push(intent.operationId);
          return GameActionReceipt.committed(intent, null);
        },
        recover: async (intent) =>
          world.includes(intent.operationId) ? GameActionReceipt.committed(intent, null) : undefined,
      },
    });
    const build = GameActionTool.create({
      name: "build",
      description: "Builds.",
      inputSchema: { type: "object" },
      dispatcher,
      conflictKey: () => "plot",
      input: () => ({ sessionId: "s", actorId: "a", inputId, moment: { timelineId: "main", tick: 1 } }),
    });
    const told = new Set<string>();
    const calls = [callOf("build", "a"), callOf("build", "b", { again: true })];
    for (const path of generateBatchPaths({ tools: [build as AnyTool], calls, maxPaths: 150 })) {
      inputId = path.name;
      world.length = 0;
      const { settled } = await path.run();
      expect(new Set(world).size).toBe(world.length);
      for (const { operationId, outcome } of settled) {
        const state = (await journal.find(operationId))?.state ?? "absent";
        told.add(`${outcome}: ${state}`);
      }
    }
    expect([...told].sort()).toEqual([
      "blocked: absent",
      "cancelled: absent",
      "failed: absent",
      "succeeded: committed",
      "uncertain: absent",
      "uncertain: committed",
    ]);
    await journal.close();
  });

  it("lets a body end in its own way before a fault can come, and a failing hook of the host fail the path", async () => {
    const refuse = defineTool({
      name: "refuse",
      description: "Refuses.",
      inputSchema: { type: "object" },
      execute: () => {
        throw new ToolError("no");
      },
    });
    const torn: string[] = [];
    for (const path of generateBatchPaths({ tools: [refuse], calls: [callOf("refuse", "a")], cancel: false })) {
      const { settled } = await path.run({ teardown: () => torn.push(path.name) });
      const isFault = path.name === "refuse throwsBefore";
      expect([path.name, settled[0]?.outcome]).toEqual([path.name, isFault ? "uncertain" : "failed"]);
      const broken = path.run({
        check: () => {
          throw new Error("the world is wrong");
        },
        teardown: () => torn.push(path.name),
      });
      await expect(broken).rejects.toThrow("the world is wrong");
    }
    expect(torn).toHaveLength(2 * EVERY_OUTCOME.length);
  });
});
