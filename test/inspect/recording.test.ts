import { Agent, defineTool, KernelError, readJsonLines } from "toolkernel";
import { type RecordingEntry, type RunRecorder, readRecording, recordRun } from "toolkernel/inspect";
import { scriptedModel, simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { type PlannedCall, playBatches } from "./play-batches.ts";

const SECRET = "Lz9-secret-Q4";
const CALLS: readonly (readonly PlannedCall[])[] = [
  [{ tool: "read" }, { tool: "edit", keys: ["a"] }],
  [{ tool: "edit", keys: [SECRET], ms: 5 }, { tool: "unknown" }],
];

function ofType<Type extends RecordingEntry["type"]>(
  text: string,
  type: Type,
): Extract<RecordingEntry, { readonly type: Type }>[] {
  return readRecording(text).entries.filter(
    (entry): entry is Extract<RecordingEntry, { readonly type: Type }> => entry.type === type,
  );
}

async function playAgent(recorder: RunRecorder, clock = simulatedClock().clock): Promise<void> {
  const tool = defineTool({
    name: "look",
    description: "Looks.",
    inputSchema: { type: "object" },
    risk: "readOnly",
    execute: () => ({ seen: SECRET }),
  });
  const call = { type: "toolCall", id: "c0", name: "look", arguments: `{"at":"${SECRET}"}` } as const;
  const model = scriptedModel([
    { content: [call], stopReason: "toolUse" },
    { content: [{ type: "text", text: SECRET }], stopReason: "stop" },
  ]);
  const { telemetry, inspect } = recorder;
  const agent = new Agent({ model, tools: [tool], clock, telemetry, inspect });
  const run = agent.run("look", { runId: "agent-run" });
  recorder.follow(run);
  await run.result;
}

describe("a recording", () => {
  it("holds the events that the core reads from it, and between them what the charts did", async () => {
    const text = await playBatches(CALLS);
    const events = ofType(text, "event").map(({ event }) => event);
    expect(events).toEqual(readJsonLines(text));
    expect(events.filter(({ kind }) => kind === "toolEnded")).toHaveLength(4);
    expect(ofType(text, "actor").map(({ id, chart }) => [id, chart])).toEqual([
      ["batch:1", "batch"],
      ["call:1:0", "toolCall"],
      ["call:1:1", "toolCall"],
      ["epoch:1:0", "epoch"],
      ["batch:2", "batch"],
      ["call:2:0", "toolCall"],
      ["call:2:1", "toolCall"],
      ["epoch:2:0", "epoch"],
    ]);
  });

  it("tells where a chart was after each of its events, and that it has ended", async () => {
    const text = await playBatches([[{ tool: "edit", keys: ["a"] }]]);
    const { actor } = ofType(text, "actor").find(({ id }) => id === "call:1:0") ?? { actor: -1 };
    const steps = ofType(text, "transition").filter((entry) => entry.actor === actor);
    expect(steps.map(({ event, state, isDone }) => [event, state, isDone])).toEqual([
      ["xstate.init", "preparing.lookup", false],
      ["FOUND", "preparing.compat", false],
      ["SHAPED", "preparing.validating", false],
      ["VALID", "preparing.rewriting", false],
      ["KEPT", "preparing.refining", false],
      ["REFINED", "preparing.resolvingKeys", false],
      ["KEYED", "preparing.authorizing", false],
      ["ALLOWED", "authorized", false],
      ["PLANNED", "barrierWaiting", false],
      ["EPOCH_STARTED", "laneWaiting", false],
      ["ADMITTED", "running", false],
      ["SUCCEEDED", "finishing.succeeded", false],
      ["FINISHED", "succeeded", true],
    ]);
    expect(steps[0]?.facts).toMatchObject({ callId: "c0", isWrite: true });
  });

  it("names the run of every line, also of those before the session's first event", async () => {
    const text = await playBatches(CALLS, { runId: "mine" });
    const runs = new Set(
      readRecording(text).entries.map((entry) => (entry.type === "event" ? entry.event.runId : entry.runId)),
    );
    expect(runs).toEqual(new Set(["mine"]));
  });

  it("OBS-3: holds no argument, result or key unless the host asked", async () => {
    const lines: string[] = [];
    await playAgent(recordRun((line) => lines.push(line)));
    expect(`${await playBatches(CALLS)}${lines.join("")}`).not.toContain(SECRET);
  });

  it("holds what each call was given and came to, where the host asked", async () => {
    const text = await playBatches(CALLS, { arguments: true, results: true });
    expect(
      ofType(text, "content").map(({ turn, callIndex, part, text: told }) => [turn, callIndex, part, told]),
    ).toEqual([
      [1, 0, "arguments", '{"keys":[],"ms":10}'],
      [1, 1, "arguments", '{"keys":["a"],"ms":10}'],
      [1, 0, "result", resultOf({ done: true })],
      [1, 1, "result", resultOf({ done: true })],
      [2, 0, "arguments", `{"keys":["${SECRET}"],"ms":5}`],
      [2, 1, "arguments", '{"keys":[],"ms":10}'],
      [2, 1, "result", expect.stringContaining("unknown")],
      [2, 0, "result", resultOf({ done: true })],
    ]);
  });

  it("of an Agent names the run by its chart, and takes arguments from the model's message", async () => {
    const lines: string[] = [];
    await playAgent(recordRun((line) => lines.push(line), { arguments: true, results: true }));
    const text = lines.join("");
    expect(ofType(text, "actor")[0]).toMatchObject({ id: "run:agent-run", chart: "run", runId: "agent-run" });
    expect(ofType(text, "content").map(({ part, text: told }) => [part, told])).toEqual([
      ["arguments", `{"at":"${SECRET}"}`],
      ["result", resultOf({ seen: SECRET })],
    ]);
  });

  it("cuts what is too long, and says so", async () => {
    const text = await playBatches([[{ tool: "edit", keys: Array.from({ length: 9_000 }, () => "k") }]], {
      arguments: true,
    });
    const [entry] = ofType(text, "content");
    expect([entry?.text.length, entry?.isCut]).toEqual([20_000, true]);
  });

  it("of several runs may stand in one text, each with its first lines", async () => {
    const text = `${await playBatches(CALLS, { runId: "one" })}${await playBatches(CALLS, { runId: "two" })}`;
    const runs = ofType(text, "event").map(({ event }) => event.runId);
    expect([...new Set(runs)]).toEqual(["one", "two"]);
  });

  it("may be torn off in its last line", async () => {
    const text = await playBatches(CALLS);
    const whole = readRecording(text).entries.length;
    expect(readRecording(text.slice(0, -7)).entries.length).toBe(whole - 1);
  });

  it.each([
    ["text that is no recording", "hello\n", "Line 1"],
    ["a version that is not known", '{"format":"toolkernel.trace","version":9}\n', "Line 1"],
    [
      "records of a version that is not known",
      `${header()}{"name":"inspect.recording","timeMs":1,"runId":"","attributes":{"version":9}}\n`,
      "Line 2",
    ],
    [
      "a damaged record",
      `${header()}{"name":"inspect.actor","timeMs":1,"runId":"r","attributes":{"actor":-1,"id":"x","chart":"y"}}\n\n`,
      "Line 2",
    ],
    [
      "a record of a chart that says not where it is",
      `${header()}{"name":"inspect.transition","timeMs":1,"runId":"r","attributes":{"actor":1,"event":"X","isDone":false,"facts":{}}}\n`,
      "Line 2",
    ],
  ])("that is %s is refused by its line", (_name, text, line) => {
    expect(() => readRecording(text)).toThrow(KernelError);
    expect(() => readRecording(text)).toThrow(line);
  });

  it("may hold records that nobody here knows", () => {
    const other = '{"name":"inspect.weather","timeMs":1,"runId":"r","attributes":{}}\n';
    expect(readRecording(`${header()}${other}`).entries).toEqual([]);
  });
});

describe("a recorder", () => {
  it("forgets the charts that have ended, so that a long session costs no memory", async () => {
    const lines: string[] = [];
    const recorder = recordRun((line) => lines.push(line));
    const done = { type: "@xstate.snapshot", rootId: "x:1", actorRef: { sessionId: "x:1" }, event: { type: "END" } };
    const start = {
      type: "@xstate.actor",
      rootId: "x:1",
      actorRef: { sessionId: "x:1", id: "run:r", logic: { id: "run" } },
    };
    recorder.inspect(start);
    recorder.inspect({ ...done, snapshot: { status: "done", value: "completed", context: {} } } as never);
    recorder.inspect({ ...done, snapshot: { status: "done", value: "completed", context: {} } } as never);
    expect(lines.filter((line) => line.includes("inspect.transition"))).toHaveLength(1);
  });

  it("lets whatever it does not understand of an inspection event pass", () => {
    const lines: string[] = [];
    const recorder = recordRun((line) => lines.push(line));
    for (const actorRef of [null, 1, {}, { sessionId: "x:1" }]) {
      recorder.inspect({ type: "@xstate.actor", rootId: "x:1", actorRef });
      recorder.inspect({ type: "@xstate.snapshot", rootId: "x:1", actorRef });
    }
    expect(lines).toHaveLength(2);
  });
});

function resultOf(value: object): string {
  return JSON.stringify({
    content: [{ type: "json", value }],
    isError: false,
    outcomeUncertain: false,
    terminate: false,
  });
}

function header(): string {
  return '{"format":"toolkernel.trace","version":1}\n';
}
