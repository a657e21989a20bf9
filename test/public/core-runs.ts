import {
  Agent,
  ajvValidator,
  compat,
  createLanes,
  createToolSession,
  defineTool,
  type Message,
  type ModelProvider,
  memoryRunStore,
  type Run,
  type ToolSession,
} from "toolkernel";
import { scriptedModel, simulatedClock } from "toolkernel/testing";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { wholeTool } from "./core-tools.ts";
import { type PublicCall, publicCall } from "./public-call.ts";

const { recover: _recover, inputJsonSchema: _inputJsonSchema, ...TOOL } = wholeTool();
const LIMITS = { maxTurns: 3, toolTimeoutMs: 1_000, exactToolRepeatAdvisoryThreshold: 2 };
const HOOKS = {
  rewriteToolCall: () => undefined,
  authorizeToolCall: { run: () => undefined, timeoutMs: 1_000 },
  afterToolCall: () => undefined,
};
const CALLS = [{ id: "a", name: "take", arguments: { item: "x" }, providerData: { k: 1 } }];

function sessionOptions() {
  return {
    tools: [defineTool(TOOL as never)],
    toolExecution: "parallel",
    limits: { ...LIMITS },
    hooks: { ...HOOKS },
    uncertainWriteScope: "batch",
    lanes: createLanes(),
    compat: [compat.all],
    host: {},
    runStore: memoryRunStore(),
    clock: simulatedClock().clock,
    inspect: () => undefined,
    telemetry: { record: () => undefined },
    interpreter: "xstate",
    jsonSchemaValidator: ajvValidator(),
  } as const;
}

async function withSession(use: (session: ToolSession) => unknown): Promise<void> {
  const session = createToolSession({ tools: [defineTool(TOOL as never)], clock: simulatedClock().clock });
  try {
    await use(session);
  } finally {
    await session.close();
  }
}

const ANSWER = { content: [{ type: "text", text: "x" }], stopReason: "stop" } as const;

function model(): ModelProvider {
  return scriptedModel([ANSWER]);
}

/** What a run came to; its misuse is in its result. */
async function ended(run: Run): Promise<unknown> {
  const { error } = await run.result;
  if (error !== undefined) throw error;
  return undefined;
}

function withRun(use: (run: Run) => unknown): Promise<unknown> {
  const run = new Agent({ model: model(), tools: [], clock: simulatedClock().clock }).run("x");
  return Promise.resolve()
    .then(() => use(run))
    .finally(() => run.result);
}

function messages(): readonly Message[] {
  return [
    { role: "user", content: [{ type: "text", text: "x" }] },
    {
      role: "assistant",
      content: [{ type: "toolCall", id: "a", name: "take", arguments: { item: "x" } }],
      stopReason: "toolUse",
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    },
    {
      role: "toolResult",
      callId: "a",
      toolName: "take",
      callIndex: 0,
      content: [{ type: "text", text: "x" }],
      isError: false,
      outcomeUncertain: false,
      terminate: false,
    },
    { role: "policy", policy: "agent_policy", content: "x", audience: "internal" },
    { role: "user", content: "x" },
  ];
}

const RESOLUTION = { status: "committed", details: {} } as const;

const SESSION_CALLS: readonly PublicCall[] = [
  publicCall("createToolSession", (): [object] => [{ ...sessionOptions(), runId: "r" }], {
    of: (options) => createToolSession(options as never),
    use: (session) => session.close(),
    closed: ["0", "0.limits", "0.hooks"],
    shown: ["0.tools.0.name", "0.runId"],
  }),
  publicCall(
    "session.execute",
    (): [object, object] => [
      { calls: CALLS, stopReason: "toolUse" },
      { signal: new AbortController().signal, turn: 1, stopReason: "toolUse", approvals: {}, blockOthers: false },
    ],
    {
      of: (response, options) => withSession((session) => session.execute(response as never, options as never).result),
      closed: ["0", "0.calls.0", "1"],
    },
  ),
  publicCall("session.execute of a list", (): [object] => [CALLS], {
    of: (response) => withSession((session) => session.execute(response as never).result),
  }),
  publicCall("session.setTools", (): [readonly unknown[]] => [[defineTool(TOOL as never)]], {
    of: (tools) => withSession((session) => session.setTools(tools as never)),
    shown: ["0.0.name"],
  }),
  publicCall("session.resolveUncertain", (): [string, object] => ["a", RESOLUTION], {
    of: (id, resolution) =>
      withSession((session) => session.resolveUncertain(id, resolution as never).catch(unlessUnknown)),
    closed: ["1"],
  }),
  publicCall("batch.subscribe", (): [() => void] => [() => undefined], {
    of: (listener) => withSession((session) => session.execute([]).subscribe(listener)),
  }),
  publicCall("batch.events$.subscribe", (): [object] => [{ next: () => undefined }], {
    of: (observer) => withSession((session) => session.execute([]).events$.subscribe(observer as never)),
  }),
];

function unlessUnknown(error: unknown): void {
  if ((error as { readonly code?: unknown }).code !== "OPERATION_UNKNOWN") throw error;
}

const AGENT_CALLS: readonly PublicCall[] = [
  publicCall(
    "new Agent",
    (): [object] => {
      const { ...options } = sessionOptions();
      const hooks = { ...HOOKS, prepareNextTurn: () => undefined, shouldStopAfterTurn: () => false };
      return [{ ...options, hooks, model: model(), systemPrompt: "x" }];
    },
    {
      of: (options) => new Agent(options as never),
      use: (agent) => ended(agent.run("x")),
      closed: ["0", "0.limits", "0.hooks"],
      shown: ["0.tools.0.name"],
    },
  ),
  publicCall(
    "agent.run",
    (): [readonly Message[], object] => [messages(), { signal: new AbortController().signal, host: {}, runId: "r" }],
    {
      of: (input, options) => ended(new Agent({ model: model(), tools: [] }).run(input, options)),
      closed: ["1"],
      shown: ["1.runId"],
    },
  ),
  publicCall(
    "agent.resume",
    (): [string, object] => [
      "r",
      {
        approvals: { a: true, b: { block: "x" } },
        blockOthers: true,
        message: "x",
        host: {},
        signal: new AbortController().signal,
      },
    ],
    {
      of: (runId, options) =>
        ended(new Agent({ model: model(), tools: [] }).resume(runId, options)).catch((error: { code?: unknown }) => {
          if (error.code !== "RUN_NOT_FOUND") throw error;
        }),
      closed: ["1"],
      shown: ["0"],
    },
  ),
  publicCall("agent.resume with a store", (): [string] => ["r"], {
    of: (runId) => {
      leaveChartsOpen();
      const run = new Agent({ model: model(), tools: [], runStore: memoryRunStore() }).resume(runId);
      return ended(run).catch((error: { code?: unknown }) => {
        if (error.code !== "RUN_NOT_FOUND") throw error;
      });
    },
    shown: ["0"],
  }),
  publicCall("run.subscribe", (): [() => void] => [() => undefined], {
    of: (listener) => withRun((run) => run.subscribe(listener)),
  }),
  publicCall("run.steer", (): [object] => [{ role: "user", content: "x" }], {
    of: (message) => withRun((run) => run.steer(message as never)),
  }),
  publicCall("run.followUp", (): [object] => [{ role: "user", content: "x" }], {
    of: (message) => withRun((run) => run.followUp(message as never)),
  }),
  publicCall("run.abort", (): [string] => ["x"], { of: (reason) => withRun((run) => run.abort(reason)) }),
  publicCall("run.resolveUncertain", (): [string, object] => ["a", RESOLUTION], {
    of: (id, resolution) => withRun((run) => run.resolveUncertain(id, resolution as never).catch(unlessUnknown)),
    closed: ["1"],
  }),
];

/** Sessions and runs. */
export const RUN_CALLS: Readonly<Record<string, readonly PublicCall[]>> = {
  createToolSession: SESSION_CALLS,
  Agent: AGENT_CALLS,
};
