import type { BatchResult, ToolResultMessage } from "toolkernel";
import { createToolSession, defineTool } from "toolkernel";
import { callsFromAiSdk, fromAiSdkModel, fromAiSdkTools, toAiSdk, toAiSdkMessages } from "toolkernel/ai-sdk";
import { callsFromAnthropic, toAnthropicMessages, toAnthropicTools } from "toolkernel/anthropic";
import { callsFromGemini, toGeminiContents, toGeminiTools } from "toolkernel/gemini";
import { callsFromLangChain, fromLangChainTools, toLangChainMessages } from "toolkernel/langchain";
import { fromMcp } from "toolkernel/mcp";
import { openTelemetry } from "toolkernel/open-telemetry";
import {
  callsFromChat,
  callsFromResponses,
  fromOpenAIAgentsTools,
  toChatMessages,
  toChatTools,
  toResponsesCallId,
  toResponsesItems,
  toResponsesTools,
} from "toolkernel/openai";
import { type PublicCall, publicCall } from "./public-call.ts";

type Calls = Readonly<Record<string, readonly PublicCall[]>>;

const PARTS: ToolResultMessage["content"] = [
  { type: "text", text: "x" },
  { type: "json", value: { a: 1 } },
  { type: "image", mediaType: "image/png", data: "AAAA", name: "x" },
  { type: "file", mediaType: "text/plain", data: "AAAA" },
  { type: "resource", uri: "x:y", mediaType: "text/plain", text: "x" },
];

function batch(): Pick<BatchResult, "messages"> {
  const result = {
    role: "toolResult",
    callId: "a",
    toolName: "take",
    callIndex: 0,
    content: [...PARTS],
    isError: false,
    outcomeUncertain: false,
    terminate: false,
    providerData: { type: "custom_tool_call", call_id: "a", caller: { type: "x" } },
  } as const;
  return { messages: [result, { role: "policy", policy: "agent_policy", content: "x", audience: "internal" }] };
}

function tools() {
  const inputSchema = { type: "object", properties: { item: { type: "string" } } };
  return [{ name: "take", description: "Takes.", inputSchema, execute: () => 1 }];
}

const POLICIES = () => ({
  take: {
    risk: "readOnly",
    executionMode: "parallel",
    timeoutMs: 5,
    trackExactRepeats: true,
    throwMeans: "failed",
    validate: () => undefined,
    conflictKey: () => "k",
    prepareArguments: (draft: unknown) => draft,
  },
});

/** Two functions that a wire has: what reads its response, and what writes a batch's results. */
function wire(name: string, response: () => object, made: { calls: unknown; messages: unknown }): Calls {
  const read = made.calls as (given: unknown) => unknown;
  const write = made.messages as (given: unknown) => unknown;
  return {
    [`callsFrom${name}`]: [publicCall(`callsFrom${name}`, (): [unknown] => [response()], { of: read })],
    [write.name]: [publicCall(write.name, (): [unknown] => [batch()], { of: write })],
  };
}

function declaring(declare: unknown): Calls {
  const { name } = declare as { readonly name: string };
  return {
    [name]: [
      publicCall(name, (): [unknown] => [tools()], { of: declare as (given: unknown) => unknown, shown: ["0.0.name"] }),
    ],
  };
}

function importing(use: unknown, given: () => object): Calls {
  const load = use as (given: unknown, policies: unknown) => readonly never[];
  return {
    [load.name]: [
      publicCall(load.name, (): [object, object] => [given(), POLICIES()], {
        of: load,
        use: (imported) => createToolSession({ tools: imported as never }).close(),
        closed: ["1.take"],
        shown: ["0.0.name", "1"],
      }),
    ],
  };
}

const USED = { type: "tool_use", id: "a", name: "take", input: { item: "x" } };
const CALL = { id: "a", type: "function", function: { name: "take", arguments: "{}" } };

const model = () => ({ specificationVersion: "v3", doGenerate: () => undefined, doStream: () => undefined });

const AI_SDK: Calls = {
  ...wire(
    "AiSdk",
    () => ({
      content: [{ type: "tool-call", toolCallId: "a", toolName: "take", input: {}, providerMetadata: { p: {} } }],
      toolCalls: [],
      finishReason: { unified: "tool-calls", raw: "x" },
    }),
    { calls: callsFromAiSdk, messages: toAiSdkMessages },
  ),
  fromAiSdkModel: [
    publicCall("fromAiSdkModel", (): [object, object] => [model(), { maxRetries: 2 }], {
      of: (given, options) => fromAiSdkModel(given as never, options),
      closed: ["1"],
    }),
  ],
  ...importing(fromAiSdkTools, () => ({ take: { ...tools()[0], needsApproval: false } })),
  toAiSdk: [
    publicCall("toAiSdk", (): [object] => [{ tools: tools(), execute: () => undefined }], {
      of: (session) => toAiSdk(session as never),
      shown: ["0.tools.0.name"],
    }),
    publicCall("toAiSdk().model", (): [object] => [model()], {
      of: (given) =>
        toAiSdk({ tools: [defineTool(tools()[0] as never)], execute: () => undefined as never }).model(given),
    }),
  ],
};

const server = (answer: () => unknown) => ({
  request: async () => answer(),
  getServerCapabilities: () => ({ tools: {} }),
});
const listed = () => ({ tools: [{ name: "take", inputSchema: { type: "object" } }] });

/** The adapters, by entry. */
export const ADAPTER_CALLS: Readonly<Record<string, Calls>> = {
  "toolkernel/ai-sdk": AI_SDK,
  "toolkernel/anthropic": {
    ...wire("Anthropic", () => ({ content: [USED], stop_reason: "tool_use" }), {
      calls: callsFromAnthropic,
      messages: toAnthropicMessages,
    }),
    ...declaring(toAnthropicTools),
  },
  "toolkernel/openai": {
    ...wire(
      "Chat",
      () => ({ choices: [{ finish_reason: "tool_calls", message: { refusal: null, tool_calls: [CALL] } }] }),
      {
        calls: callsFromChat,
        messages: toChatMessages,
      },
    ),
    ...wire(
      "Responses",
      () => ({
        status: "completed",
        incomplete_details: { reason: "x" },
        output: [
          { type: "function_call", call_id: "a", name: "take", arguments: "{}", status: "completed" },
          { type: "message", content: [{ type: "text" }] },
        ],
      }),
      { calls: callsFromResponses, messages: toResponsesItems },
    ),
    ...declaring(toChatTools),
    ...declaring(toResponsesTools),
    ...importing(fromOpenAIAgentsTools, () => [
      { type: "function", name: "take", parameters: { type: "object" }, invoke: () => 1, needsApproval: false },
    ]),
    toResponsesCallId: [publicCall("toResponsesCallId", (): [string] => ["a"], { of: toResponsesCallId })],
  },
  "toolkernel/gemini": {
    ...wire(
      "Gemini",
      () => ({
        candidates: [{ finishReason: "STOP", content: { parts: [{ functionCall: { name: "take", args: {} } }] } }],
        promptFeedback: { blockReason: null },
      }),
      { calls: callsFromGemini, messages: toGeminiContents },
    ),
    ...declaring(toGeminiTools),
  },
  "toolkernel/langchain": {
    ...wire(
      "LangChain",
      () => ({
        content: [{ type: "text" }],
        tool_calls: [{ id: "a", name: "take", args: {} }],
        invalid_tool_calls: [{ id: "b", name: "take", args: "{" }],
        additional_kwargs: { tool_calls: [] },
        response_metadata: { finish_reason: "tool_calls" },
      }),
      { calls: callsFromLangChain, messages: toLangChainMessages },
    ),
    ...importing(fromLangChainTools, () => [
      { name: "take", description: "x", schema: { type: "object" }, returnDirect: false, invoke: () => 1 },
    ]),
  },
  "toolkernel/mcp": {
    fromMcp: [
      publicCall(
        "fromMcp",
        (): [object, object] => [server(listed), { prefix: "p", trusted: true, tools: POLICIES(), only: ["take"] }],
        {
          of: (client, options) => fromMcp(client as never, options as never),
          use: (imported) => createToolSession({ tools: imported }).close(),
          closed: ["1", "1.tools.take"],
          shown: ["1.only", "1.tools"],
        },
      ),
    ],
  },
  "toolkernel/open-telemetry": {
    openTelemetry: [
      publicCall(
        "openTelemetry",
        (): [object] => {
          const tracer = { startSpan: () => undefined };
          return [
            {
              api: { trace: { getTracer: () => tracer, setSpan: () => undefined }, context: { active: () => 1 } },
              tracer,
            },
          ];
        },
        { of: (options) => openTelemetry(options as never), closed: ["0"] },
      ),
    ],
  },
};
