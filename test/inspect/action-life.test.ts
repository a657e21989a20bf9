import {
  GameActionDispatcher,
  GameActionReceipt,
  GameActionTool,
  memoryJournal,
  type ToolSessionOptions,
} from "toolkernel";
import { readRecording, recordRun } from "toolkernel/inspect";
import { describe, expect, it } from "vitest";
import { Story } from "../../src/inspect/story/run-story.ts";
import { openBench } from "../support/execution-bench.ts";
import { call } from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

/** Two durable calls of one key, whose handler ends when the test says so, in a session with these options. */
function openActions(options: Partial<ToolSessionOptions>, simulated = trackedClock()) {
  const { clock } = simulated;
  const commits: (() => void)[] = [];
  const seen: object[] = [];
  const dispatcher = new GameActionDispatcher({
    journal: memoryJournal({ clock }),
    clock,
    handler: {
      execute: (intent) =>
        new Promise((resolve) => {
          commits.push(() => resolve(GameActionReceipt.committed(intent, null)));
        }),
    },
  });
  const build = (name: string) =>
    GameActionTool.create({
      input: { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "t", tick: 1 } },
      name,
      description: "Builds.",
      inputSchema: { type: "object" },
      dispatcher,
      executionMode: "parallel",
      expectedRevision: (_args, context) => {
        seen.push(context);
        return undefined;
      },
    });
  const bench = openBench({ tools: [build("build"), build("raise")], simulated, ...options });
  return { bench, commits, seen };
}

describe("the chart of a durable action", () => {
  it("ACT-2: is shown to who inspects while its call runs, from its first fact on", async () => {
    const lines: string[] = [];
    const simulated = trackedClock();
    const { telemetry, inspect } = recordRun((line) => lines.push(line), { clock: simulated.clock });
    const { bench, commits } = openActions({ telemetry, inspect }, simulated);
    const lifeOf = (index: number): unknown => {
      const [run] = Story.of(readRecording(lines.join("")).entries).runs;
      const { last, from } = run?.actors.get(`action:1:${index}`) ?? {};
      return last === undefined ? undefined : [from, last.event, last.state, last.isDone];
    };
    const running = await bench.start([call("build", {}, "a"), call("raise", {}, "b")]);
    expect([lifeOf(0), lifeOf(1)]).toEqual([
      ["new", "CLAIMED", "dispatched", false],
      ["new", "CLAIMED", "dispatched", false],
    ]);
    commits[0]?.();
    await bench.advance();
    expect([lifeOf(0), lifeOf(1)]).toEqual([
      ["dispatched", "COMMITTED", "committed", true],
      ["new", "CLAIMED", "dispatched", false],
    ]);
    commits[1]?.();
    expect((await running.result).settled.map(({ outcome }) => outcome)).toEqual(["succeeded", "succeeded"]);
  });

  it("ACT-2: is no actor where nobody inspects, and the dispatcher has nobody to tell", async () => {
    const { bench, commits, seen } = openActions({ interpreter: "xstate" });
    const running = await bench.start([call("build", {}, "a")]);
    commits[0]?.();
    await running.result;
    expect(seen.map((context) => "watchAction" in context)).toEqual([false]);
  });
});
