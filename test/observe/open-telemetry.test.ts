import * as api from "@opentelemetry/api";
import { Agent, defineTool, type KernelEventKind, type ModelProvider } from "toolkernel";
import { type OpenTelemetryApi, openTelemetry } from "toolkernel/open-telemetry";
import { describe, expect, it } from "vitest";
import { LaneNumbers } from "../../src/observe/lane-numbers.ts";
import { traceEvent } from "../../src/observe/trace-event.ts";
import { trackedClock } from "../support/tracked.ts";
import { callAt, dispatched, ended, playStepsInto, type Step } from "./recorded-run.ts";
import { FULL_FIELDS, fullEvent, KINDS, SECRET } from "./sample-events.ts";
import { openTracing, outlineOf, spanNamed } from "./span-tree.ts";

const answer: Step = [30, "messageEnded", { message: { role: "assistant", content: [], stopReason: "toolUse" } }];

/** A run of two turns; the second asks the model alone. */
const RUN: readonly Step[] = [
  [0, "runStarted", {}, { turn: 0 }],
  [1, "turnStarted", {}],
  [2, "modelRequestStarted", {}],
  [10, "messageUpdated", { delta: { type: "text", text: "I" } }],
  answer,
  [31, "toolStarted", callAt(0)],
  [31, "toolPrepared", { ...callAt(0), conflictKeys: ["k"] }],
  [32, "toolStarted", callAt(1)],
  [32, "toolPrepared", { ...callAt(1), conflictKeys: [] }],
  [35, "epochStarted", { epoch: 0, callIds: ["call-0", "call-1"] }],
  [35, "toolDispatched", dispatched(0, { barrierMs: 4 })],
  [35, "toolDispatched", dispatched(1, { barrierMs: 3 })],
  [36, "toolProgressed", { ...callAt(1), update: 1 }],
  [40, "toolEnded", ended(1, { outcome: "failed", failureCategory: "transient", durationMs: 5 })],
  [50, "toolEnded", ended(0, { durationMs: 15 })],
  [50, "epochSettled", { epoch: 0 }],
  [52, "turnEnded", { toolCalls: 2 }],
  [53, "turnStarted", {}, { turn: 2 }],
  [54, "modelRequestStarted", {}, { turn: 2 }],
  [80, "turnEnded", { toolCalls: 0 }, { turn: 2 }],
  [81, "runEnded", { status: "completed", endedBy: "noCalls" }, { turn: 2 }],
];

describe("OBS-3: OpenTelemetry spans", () => {
  it("of a run stand inside of each other: run, turn, batch, epoch, call, below the host's own", async () => {
    const tracing = openTracing({ inside: "request" });
    playStepsInto(tracing.telemetry, RUN);
    const [host] = await tracing.trees();
    expect(host?.name).toBe("request");
    expect(outlineOf(host?.children ?? [])).toEqual([
      "invoke_agent 0..81",
      "  kernel.turn 1..52",
      "    kernel.batch 31..50",
      "      kernel.epoch 35..50",
      "        execute_tool work 35..40!",
      "        execute_tool work 35..50",
      "  kernel.turn 53..80",
    ]);
  });

  it("of a call carry what the conventions for generative AI name, and the kernel's own", async () => {
    const tracing = openTracing();
    playStepsInto(tracing.telemetry, RUN);
    expect(spanNamed(await tracing.trees(), "execute_tool work").attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "work",
      "gen_ai.tool.call.id": "call-1",
      "gen_ai.tool.type": "function",
      "error.type": "transient",
      "kernel.run_id": "run",
      "kernel.turn": 1,
      "kernel.call_index": 1,
      "kernel.operation_id": "op-1",
      "kernel.epoch": 0,
      "kernel.is_write": true,
      "kernel.waited_ms": 3,
      "kernel.barrier_ms": 3,
      "kernel.key_ms": 0,
      "kernel.queue_ms": 0,
      "kernel.outcome": "failed",
      "kernel.outcome_uncertain": false,
      "kernel.failure_category": "transient",
      "kernel.duration_ms": 5,
    });
  });

  it("have the trace records as events by their names, each on the innermost span it belongs to", async () => {
    const tracing = openTracing();
    playStepsInto(tracing.telemetry, RUN);
    const trees = await tracing.trees();
    const events = (name: string) => spanNamed(trees, name).events;
    expect(events("invoke_agent")).toEqual(["kernel.runstarted", "kernel.runended"]);
    expect(events("kernel.turn")).toEqual([
      "kernel.turnstarted",
      "kernel.modelrequeststarted",
      "kernel.messageended",
      "kernel.turnended",
    ]);
    expect(events("kernel.batch")).toEqual([
      "kernel.toolstarted",
      "kernel.toolprepared",
      "kernel.toolstarted",
      "kernel.toolprepared",
    ]);
    expect(events("kernel.epoch")).toEqual(["kernel.epochstarted", "kernel.epochsettled"]);
    expect(events("execute_tool work")).toEqual(["kernel.tooldispatched", "kernel.toolended"]);
  });

  it("of a run that the provider or the kernel failed are errors, of every other ending none", async () => {
    const ends = [
      ["completed", "noCalls"],
      ["aborted", "abort"],
      ["limitExceeded", "maxTurns"],
      ["providerError", "modelTimeout"],
      ["kernelError", undefined],
    ] as const;
    const errors = ends.map(async ([status, endedBy]) => {
      const tracing = openTracing();
      const end = { status, ...(endedBy !== undefined && { endedBy }) };
      playStepsInto(tracing.telemetry, [
        [0, "runStarted", {}],
        [1, "runEnded", end],
      ]);
      const [run] = await tracing.trees();
      return run?.isError === true ? run.attributes["error.type"] : "none";
    });
    expect(await Promise.all(errors)).toEqual(["none", "none", "none", "modelTimeout", "kernelError"]);
  });

  it("end with their run, whatever was open", async () => {
    const tracing = openTracing();
    playStepsInto(tracing.telemetry, [...RUN.slice(0, 12), [60, "runEnded", { status: "kernelError" }]]);
    expect(outlineOf(await tracing.trees())).toEqual([
      "invoke_agent 0..60!",
      "  kernel.turn 1..60",
      "    kernel.batch 31..60",
      "      kernel.epoch 35..60",
      "        execute_tool work 35..60",
      "        execute_tool work 35..60",
    ]);
  });

  it("hold nothing of arguments, results, reasons or receipts", async () => {
    const tracing = openTracing();
    const lanes = new LaneNumbers();
    const kinds: readonly KernelEventKind[] = ["runStarted", ...KINDS];
    for (const kind of kinds)
      tracing.telemetry.record(traceEvent(fullEvent(kind), { lanes, wantsConflictKeys: false }));
    const spans = await tracing.spans();
    const told = spans.map(({ name, attributes, events }) => JSON.stringify({ name, attributes, events }));
    expect(told).toHaveLength(5);
    expect(told.filter((text) => text.includes(SECRET))).toEqual([]);
  });

  it("of a durable action say how it was answered", async () => {
    const tracing = openTracing();
    const { action } = FULL_FIELDS.toolEnded;
    playStepsInto(tracing.telemetry, [
      [0, "toolDispatched", dispatched(0)],
      [9, "toolEnded", ended(0, { action })],
    ]);
    await Promise.resolve();
    expect(spanNamed(await tracing.trees(), "execute_tool work").attributes).toMatchObject({
      "kernel.action.disposition": "replayed",
      "kernel.action.duplicate_execution_prevented": true,
      "kernel.action.host_ms": 5,
      "kernel.action.framework_ms": 7,
      "kernel.action.status": "committed",
    });
  });

  it("are made by the tracer that the host's API gives, when it is handed over as it is", () => {
    const names: string[] = [];
    const tracer = { startSpan: () => api.trace.wrapSpanContext(api.INVALID_SPAN_CONTEXT) };
    const given: OpenTelemetryApi = {
      ...api,
      trace: {
        setSpan: (parent) => parent,
        getTracer: (name) => {
          names.push(name);
          return tracer;
        },
      },
    };
    expect(openTelemetry({ api })).toEqual({ record: expect.any(Function) });
    openTelemetry({ api: given });
    expect(names).toEqual(["toolkernel"]);
  });
});

describe("OBS-3: OpenTelemetry spans of an Agent", () => {
  it("are one tree for the whole run", async () => {
    const tracing = openTracing();
    const { clock } = trackedClock();
    const read = defineTool({
      name: "read",
      description: "Reads.",
      inputSchema: { type: "object" },
      execute: () => "text",
    });
    const calls = ["read", "nothing"].map((name) => ({ type: "toolCall", id: name, name, arguments: "{}" }) as const);
    const model: ModelProvider = {
      generate: async ({ turn }) =>
        turn === 1
          ? { content: calls, stopReason: "toolUse" }
          : { content: [{ type: "text", text: "Done." }], stopReason: "stop" },
    };
    const agent = new Agent({ model, tools: [read], clock, telemetry: tracing.telemetry });
    expect((await agent.run("hello").result).status).toBe("completed");
    const trees = await tracing.trees();
    expect(outlineOf(trees, clock.now())).toEqual([
      "invoke_agent 0..0",
      "  kernel.turn 0..0",
      "    kernel.batch 0..0",
      "      execute_tool nothing 0..0!",
      "      kernel.epoch 0..0",
      "        execute_tool read 0..0",
      "  kernel.turn 0..0",
    ]);
    expect(spanNamed(trees, "invoke_agent").attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "kernel.status": "completed",
      "kernel.ended_by": "noCalls",
    });
  });
});
