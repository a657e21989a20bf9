import {
  Agent,
  audienceFilter,
  defineTool,
  type JsonObject,
  type KernelEvent,
  type ModelProvider,
  readJsonLines,
  recordJsonLines,
  summarize,
  type Telemetry,
  type ToolSessionOptions,
  toolResult,
} from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, runningCall } from "../support/execution-bench.ts";
import { call, finish, testSession } from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

const SECRET = "s3cr3t";
const OTHER_SECRET = "wh1sper";

/** Tools that say the secrets wherever a tool can say anything. */
const TELLTALES = [
  defineTool({
    name: "tell",
    description: "Tells.",
    inputSchema: { type: "object" } as JsonObject,
    conflictKey: () => `key-${SECRET}`,
    async *execute() {
      yield OTHER_SECRET;
      return toolResult({ value: SECRET, details: { [SECRET]: OTHER_SECRET } });
    },
  }),
  defineTool({
    name: "fail",
    description: "Fails.",
    inputSchema: { type: "object" } as JsonObject,
    throwMeans: "failed",
    execute: () => {
      throw new Error(SECRET);
    },
  }),
  defineTool({
    name: "refuse",
    description: "Is refused.",
    inputSchema: { type: "object" } as JsonObject,
    validate: () => OTHER_SECRET,
    execute: () => "never",
  }),
  defineTool({ name: "ask", description: "Is asked about.", inputSchema: { type: "object" }, execute: () => SECRET }),
];

const HOOKS: ToolSessionOptions["hooks"] = {
  authorizeToolCall: ({ call: { name } }) => (name === "ask" ? { ask: { why: SECRET } } : undefined),
};

const draft = { password: SECRET };

/** A model that asks for tools once and then says that it is done; it streams both. */
function telltaleModel(): ModelProvider {
  return {
    generate: async ({ turn }, { emit }) => {
      if (turn > 1) {
        emit({ type: "text", text: "Done." });
        return { content: [{ type: "text", text: "Done." }], stopReason: "stop" };
      }
      const argumentsText = JSON.stringify(draft);
      emit({ type: "reasoning", text: "I look." });
      emit({ type: "toolCall", id: "a", name: "tell", argumentsText });
      const calls = ["tell", "fail", "refuse"].map((name, index) => {
        return { type: "toolCall", id: `call-${index}`, name, arguments: argumentsText } as const;
      });
      return { content: [{ type: "text", text: "I look." }, ...calls], stopReason: "toolUse" };
    },
  };
}

async function runTelltales(telemetry?: Telemetry): Promise<{ events: KernelEvent[]; run: ReturnType<Agent["run"]> }> {
  const agent = new Agent({ model: telltaleModel(), tools: TELLTALES, clock: trackedClock().clock, telemetry });
  const events: KernelEvent[] = [];
  const run = agent.run("hello", { runId: "run" });
  run.subscribe((event) => {
    events.push(event);
  });
  expect((await run.result).status).toBe("completed");
  return { events, run };
}

describe("OBS-2: of a whole run", () => {
  it("an owner sees what was said, the public how far it is, and neither anything of tools", async () => {
    const { events } = await runTelltales();
    const seenBy = (viewer: "internal" | "owner" | "public") => events.filter(audienceFilter(viewer));
    const kinds = (viewer: "owner" | "public") => seenBy(viewer).map(({ kind }) => kind);
    const [owner, everybody] = [kinds("owner"), kinds("public")];
    expect(seenBy("internal")).toEqual(events);
    expect(everybody).toEqual([
      "runStarted",
      "turnStarted",
      "modelRequestStarted",
      "turnEnded",
      "turnStarted",
      "modelRequestStarted",
      "turnEnded",
      "runEnded",
    ]);
    expect(owner).toEqual([
      "runStarted",
      "messageEnded",
      "turnStarted",
      "modelRequestStarted",
      "messageStarted",
      "messageUpdated",
      "turnEnded",
      "turnStarted",
      "modelRequestStarted",
      "messageStarted",
      "messageUpdated",
      "messageEnded",
      "turnEnded",
      "runEnded",
    ]);
  });

  it("nobody but internal viewers is told a secret of arguments, results, details or reasons", async () => {
    const { events } = await runTelltales();
    const holdsSecret = (event: KernelEvent) =>
      [SECRET, OTHER_SECRET].some((text) => JSON.stringify(event).includes(text));
    expect(events.filter(holdsSecret).length).toBeGreaterThan(5);
    expect(events.filter(audienceFilter("owner")).filter(holdsSecret)).toEqual([]);
  });
});

describe("OBS-3: a recording", () => {
  /** A session that goes through every telling tool, a repeat and an approval, and an Agent; all recorded. */
  async function record(options: { readonly conflictKeys?: boolean } = {}): Promise<string> {
    const lines: string[] = [];
    const telemetry = recordJsonLines((line) => lines.push(line), options);
    const limits = { exactToolRepeatAdvisoryThreshold: 2, exactToolRepeatTerminationThreshold: 3 };
    const session = testSession({ tools: TELLTALES, hooks: HOOKS, telemetry, limits, runId: "session" });
    const calls = ["tell", "tell", "tell", "fail", "refuse", "ask"].map((name, index) => {
      return call(name, draft, `call-${index}`);
    });
    const { result } = await finish(session.execute(calls));
    const [approval] = result.approvals ?? [];
    await session.execute(calls, { turn: 1, approvals: { [String(approval?.approvalId)]: { block: SECRET } } }).result;
    await session.close();
    await runTelltales(telemetry);
    return lines.join("");
  }

  it("of everything that can happen to a call holds no secret of anybody", async () => {
    const text = await record();
    const names = new Set(text.match(/(?<=")kernel\.\w+/g));
    expect([...names].sort()).toEqual([
      "kernel.approvalrequested",
      "kernel.epochsettled",
      "kernel.epochstarted",
      "kernel.messageended",
      "kernel.messagestarted",
      "kernel.messageupdated",
      "kernel.modelrequeststarted",
      "kernel.runended",
      "kernel.runstarted",
      "kernel.tooldispatched",
      "kernel.toolended",
      "kernel.toolprepared",
      "kernel.toolprogressed",
      "kernel.toolrefused",
      "kernel.toolrepeatdetected",
      "kernel.toolstarted",
      "kernel.turnended",
      "kernel.turnstarted",
    ]);
    expect([SECRET, OTHER_SECRET].filter((secret) => text.includes(secret))).toEqual([]);
  });

  it("holds conflict keys where the host asks for them, and nothing else of a call then", async () => {
    const text = await record({ conflictKeys: true });
    expect(text.replaceAll(`"conflictKeys":["key-${SECRET}"]`, "")).not.toContain(SECRET);
    expect(text).toContain(`"conflictKeys":["key-${SECRET}"]`);
  });

  it("tells which calls share a lane over all batches of a run, and which epoch each call is of", async () => {
    const lines: string[] = [];
    const read = keyedTool({ name: "read", risk: "readOnly" });
    const bench = openBench({ tools: [read], telemetry: recordJsonLines((line) => lines.push(line)) });
    for (const [first, second] of [
      ["x", "y"],
      ["y", "z"],
    ] as const) {
      const running = await bench.start([
        call("read", { keys: [first] }, "a"),
        call("read", { keys: [first, second] }, "b"),
      ]);
      runningCall(read, 0).resolve();
      await bench.advance();
      runningCall(read, 1).resolve();
      await running.result;
    }
    await bench.session.close();
    const events = readJsonLines(lines);
    expect(events.flatMap((event) => (event.kind === "toolPrepared" ? [event.lanes] : []))).toEqual([
      [0],
      [0, 1],
      [1],
      [1, 2],
    ]);
    expect(events.flatMap((event) => (event.kind === "epochStarted" ? [event.callIds] : []))).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index));
  });

  it("goes on when the sink throws, and the run does not notice", async () => {
    const telemetry: Telemetry = {
      record: () => {
        throw new Error("the disk is full");
      },
    };
    const session = testSession({ tools: TELLTALES, telemetry });
    const { settled } = await session.execute([call("tell", draft)]).result;
    await session.close();
    expect(settled.map(({ outcome }) => outcome)).toEqual(["succeeded"]);
  });
});

describe("OBS-4: a summary", () => {
  it("of a session is the same from the session, from its live events and from its recording", async () => {
    const lines: string[] = [];
    const events: KernelEvent[] = [];
    const [read, write] = [keyedTool({ name: "read", risk: "readOnly" }), controllableTool({ name: "write" })];
    const limits = { maxConcurrentTools: 2, toolTimeoutMs: 50, cancellationGraceMs: 10 };
    const bench = openBench({ tools: [read, write], limits, telemetry: recordJsonLines((line) => lines.push(line)) });
    const running = await bench.start([
      call("read", { keys: "x" }, "a"),
      call("read", { keys: "x" }, "b"),
      call("read", {}, "c"),
      call("read", {}, "d"),
      call("write", {}, "e"),
      call("nothing", {}, "f"),
    ]);
    await bench.advance(10);
    runningCall(read, 0).resolve();
    await bench.advance(5);
    runningCall(read, 2).reject(new Error("no"));
    await bench.advance(5);
    for (const place of [1, 3]) runningCall(read, place).resolve();
    await bench.advance(60);
    await running.result;
    events.push(...running.events);
    const performance = bench.session.performance();
    await bench.session.close();
    write.pending[0]?.resolve();
    await bench.advance();
    // Reads: a 0..10, c 0..15, b from 10 on, d from 15 on, both until 20. The write is given up at 80.
    expect(performance).toEqual({
      runs: 1,
      turns: 1,
      modelRequests: 0,
      toolCalls: 6,
      outcomes: { succeeded: 3, failed: 1, refused: 1, blocked: 0, cancelled: 0, uncertain: 1, repeatTerminated: 0 },
      failuresByCategory: {
        ...{ invalidArguments: 1, authorization: 0, ruleRejected: 0, transient: 0, timeout: 1 },
        ...{ cancelled: 0, conflict: 0, internal: 0, unspecified: 1 },
      },
      worldWrites: 1,
      uncertainWrites: 1,
      duplicatesPrevented: 0,
      recoveries: 0,
      exactRepeatAdvisories: 0,
      exactRepeatTerminations: 0,
      lateSettlements: 0,
      uncertaintiesResolved: 0,
      times: {
        ...{ totalMs: 80, modelMs: 0, approvalMs: 0, toolMs: 80, frameworkMs: 0 },
        ...{ queueMs: 15, keyMs: 10, barrierMs: 20, durableFrameworkMs: 0 },
      },
    });
    expect(summarize([events])).toEqual(performance);
    expect(summarize([readJsonLines(lines)])).toEqual({ ...performance, lateSettlements: 1 });
    expect(bench.session.performance()).toEqual({ ...performance, lateSettlements: 1 });
  });

  it("of an Agent's run is the same from the run, from its result, its live events and its recording", async () => {
    const lines: string[] = [];
    const { events, run } = await runTelltales(recordJsonLines((line) => lines.push(line)));
    const performance = run.performance();
    expect(performance).toMatchObject({ runs: 1, turns: 2, modelRequests: 2, toolCalls: 3, worldWrites: 2 });
    expect((await run.result).performance).toEqual(performance);
    expect(summarize([events])).toEqual(performance);
    expect(summarize([readJsonLines(lines)])).toEqual(performance);
  });

  it("of a session that has done nothing is all zeros", async () => {
    const session = testSession({ tools: [] });
    expect(session.performance()).toEqual(summarize([]));
    await session.close();
  });
});
