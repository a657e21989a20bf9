import { createLanes, DEFAULT_LIMITS, systemClock, type ToolSessionOptions } from "toolkernel";
import { describe, expect, it } from "vitest";
import { create, faultOf, read } from "../support/options-scene.ts";

describe("createToolSession", () => {
  it.each([[undefined], [null], [5], ["tools"], [[read]], [() => ({ tools: [] })]])(
    "PREP-8: takes an object of options, not %j",
    (options) => {
      expect(faultOf(() => create(options))).toBe("INVALID_OPTIONS options");
    },
  );

  it.each<[string, unknown]>([
    ["tools", undefined],
    ["tools", null],
    ["tools", { read }],
    ["tools", new Set([read])],
    ["toolExecution", "serial"],
    ["toolExecution", null],
    ["limits", null],
    ["limits", []],
    ["limits", 5],
    ["hooks", null],
    ["hooks", []],
    ["hooks", () => undefined],
    ["uncertainWriteScope", "session"],
    ["lanes", {}],
    ["lanes", new Map()],
    ["compat", "all"],
    ["compat", [() => undefined]],
    ["compat", null],
    ["runId", ""],
    ["runId", 5],
    ["runId", "a\u0000b"],
    ["runId", "a\ud83d"],
    ["runId", "é".repeat(257)],
    ["clock", {}],
    ["clock", { now: () => 1 }],
    ["clock", Date],
    ["inspect", {}],
    ["telemetry", () => undefined],
    ["telemetry", {}],
    ["interpreter", "fast"],
    ["jsonSchemaValidator", {}],
    ["jsonSchemaValidator", () => undefined],
  ])("PREP-8: refuses the option %s of a wrong type", (name, value) => {
    expect(faultOf(() => create({ tools: [], [name]: value }))).toBe(`INVALID_OPTIONS ${name}`);
  });

  it.each(["tool", "Tools", "toolexecution", "maxTurns", "__proto__", "constructor", "toString"])(
    "PREP-8: refuses the unknown option %s by its name",
    (name) => {
      const options = Object.fromEntries([
        ["tools", []],
        [name, undefined],
      ]);
      expect(faultOf(() => create(options))).toBe(`INVALID_OPTIONS ${name}`);
    },
  );

  it("PREP-8: takes every option, and undefined for absent", () => {
    const all: Required<{ [Name in keyof ToolSessionOptions]: unknown }> = {
      tools: [read],
      toolExecution: undefined,
      limits: undefined,
      hooks: undefined,
      uncertainWriteScope: undefined,
      lanes: undefined,
      compat: undefined,
      host: undefined,
      runId: undefined,
      runStore: undefined,
      clock: undefined,
      inspect: undefined,
      telemetry: undefined,
      interpreter: undefined,
      jsonSchemaValidator: undefined,
    };
    expect(create(all).runId).toMatch(/^[0-9a-f-]{36}$/);
    const given = {
      tools: [],
      lanes: createLanes(),
      clock: systemClock,
      host: null,
      runId: "é".repeat(256),
      interpreter: "xstate",
      toolExecution: "parallel",
      uncertainWriteScope: "run",
      compat: [],
      limits: Object.fromEntries(Object.keys(DEFAULT_LIMITS).map((name) => [name, undefined])),
      hooks: { rewriteToolCall: undefined, authorizeToolCall: undefined, afterToolCall: undefined },
    };
    expect(create(given).runId).toBe("é".repeat(256));
  });
});

describe("limits", () => {
  const bounds: Record<string, [minimum: number, maximum: number]> = {
    maxTurns: [1, 1_000_000],
    maxToolCallsPerTurn: [1, 1_000_000],
    maxToolCalls: [1, 1_000_000_000],
    maxConcurrentTools: [1, 100_000],
    maxTotalTokens: [1, Number.MAX_SAFE_INTEGER],
    maxMessages: [1, 10_000_000],
    maxArgumentCharacters: [2, 100_000_000],
    maxResultCharacters: [256, 100_000_000],
    maxProgressEventsPerTool: [0, 1_000_000],
    maxQueuedMessages: [1, 1_000_000],
    toolTimeoutMs: [1, 2_147_483_647],
    modelTimeoutMs: [1, 2_147_483_647],
    hookTimeoutMs: [1, 2_147_483_647],
    cancellationGraceMs: [1, 2_147_483_647],
    abandonAfterMs: [1, 2_147_483_647],
    exactToolRepeatAdvisoryThreshold: [0, 10_000],
    exactToolRepeatTerminationThreshold: [0, 10_000],
  };
  // So that no threshold is refused for the sake of the other.
  const off = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 0 };
  const creating = (name: string, value: unknown) => () => create({ tools: [], limits: { ...off, [name]: value } });

  it("REP-6: are these, with these defaults", () => {
    expect(Object.keys(bounds)).toEqual(Object.keys(DEFAULT_LIMITS));
    expect(DEFAULT_LIMITS).toEqual({
      maxTurns: 32,
      maxToolCallsPerTurn: 32,
      maxToolCalls: 1_024,
      maxConcurrentTools: 8,
      maxTotalTokens: 1_000_000,
      maxMessages: 1_024,
      maxArgumentCharacters: 1_000_000,
      maxResultCharacters: 1_000_000,
      maxProgressEventsPerTool: 256,
      maxQueuedMessages: 64,
      toolTimeoutMs: 120_000,
      modelTimeoutMs: 120_000,
      hookTimeoutMs: 30_000,
      cancellationGraceMs: 1_000,
      abandonAfterMs: 30_000,
      exactToolRepeatAdvisoryThreshold: 3,
      exactToolRepeatTerminationThreshold: 8,
    });
  });

  it.each(Object.entries(bounds))("PREP-9: %s is a whole number within its bounds", (name, [minimum, maximum]) => {
    for (const value of [minimum, maximum]) expect(faultOf(creating(name, value))).toBe("no fault");
    const bad = [minimum - 1, maximum + 1, minimum + 0.5, Number.NaN, Number.POSITIVE_INFINITY, "8", null, true, 8n];
    for (const value of bad) expect(faultOf(creating(name, value))).toBe(`INVALID_OPTIONS limits.${name}`);
  });

  it.each(["maxturns", "timeoutMs", "__proto__"])("PREP-9: there is no limit %s", (name) => {
    const limits = Object.fromEntries([[name, 1]]);
    expect(faultOf(() => create({ tools: [], limits }))).toBe(`INVALID_OPTIONS limits.${name}`);
  });
});

describe("hooks", () => {
  const creating = (name: string, hook: unknown) => () => create({ tools: [], hooks: { [name]: hook } });

  it.each(["rewriteToolCall", "authorizeToolCall", "afterToolCall"])(
    "PREP-13: %s is a function, or one with a time-out",
    (name) => {
      const run = () => undefined;
      const good = [run, { run, timeoutMs: 1 }, { run, timeoutMs: 2_147_483_647 }, { run, timeoutMs: null }, undefined];
      for (const hook of good) expect(faultOf(creating(name, hook))).toBe("no fault");
      const bad = [
        ...[null, true, "run", {}, [], { run: 5, timeoutMs: 1 }, { timeoutMs: 1 }, { run }],
        ...[0, -1, 0.5, 2_147_483_648, Number.NaN, Number.POSITIVE_INFINITY, "5", undefined].map((timeoutMs) => ({
          run,
          timeoutMs,
        })),
        { run, timeoutMs: 5, timeout: 5 },
      ];
      for (const hook of bad) expect(faultOf(creating(name, hook))).toBe(`INVALID_OPTIONS hooks.${name}`);
    },
  );

  it.each(["authorize", "prepareNextTurn", "shouldStopAfterTurn"])("PREP-13: a session has no hook %s", (name) => {
    expect(faultOf(creating(name, () => undefined))).toBe(`INVALID_OPTIONS hooks.${name}`);
  });
});
