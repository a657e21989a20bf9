/**
 * pi-agent-core by its loop functions, the fastest of its public ways: `runAgentLoop` with a listener that
 * does nothing. One response is one turn of the loop; `shouldStopAfterTurn` ends it there.
 */
import { type AgentMessage, type AgentTool, runAgentLoop, type StreamFn } from "@mariozechner/pi-agent-core";
import {
  type AssistantMessage,
  createAssistantMessageEventStream,
  type Message,
  type Model,
} from "@mariozechner/pi-ai";
import { type TSchema, Type } from "typebox";
import type { BenchAnswer, BenchArguments, BenchCall, BenchSchema, BenchSetup, Contender, Host } from "../contender.ts";
import { versionOf } from "./version-of.ts";

const PACKAGE = "@mariozechner/pi-agent-core";

/** Everything of a response at once: the default. */
export const pi: Contender = {
  name: "pi-agent-core",
  version: versionOf(PACKAGE),
  equip: (setup) => equip(setup, false),
};
/** With barriers marked `sequential`, which makes it run the whole response one by one. */
export const piSequential: Contender = {
  name: "pi-agent-core, marked",
  version: versionOf(PACKAGE),
  equip: (setup) => equip(setup, true),
};

const MODEL: Model<"bench"> = {
  id: "bench",
  name: "bench",
  api: "bench",
  provider: "bench",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000_000,
  maxTokens: 1_000_000,
};

function equip({ tools }: BenchSetup, isMarked: boolean): () => Host {
  const agentTools: AgentTool[] = tools.map((tool) => ({
    name: tool.name,
    label: tool.name,
    description: tool.name,
    parameters: typeboxOf(tool.schema),
    ...(isMarked && tool.kind !== "read" && { executionMode: "sequential" as const }),
    execute: async (_id, args, signal) => ({
      content: [{ type: "text", text: await tool.execute(args as BenchArguments, () => signal) }],
      details: undefined,
    }),
  }));
  return () => open(agentTools);
}

function open(agentTools: AgentTool[]): Host {
  const run = (
    callsOf: (turn: number) => readonly BenchCall[],
    isOneTurn: boolean,
    signal?: AbortSignal,
  ): Promise<AgentMessage[]> => {
    let turn = 0;
    const stream: StreamFn = () => {
      turn += 1;
      const events = createAssistantMessageEventStream();
      const message = messageOf(callsOf(turn));
      events.push({ type: "done", reason: message.stopReason === "toolUse" ? "toolUse" : "stop", message });
      return events;
    };
    return runAgentLoop(
      [{ role: "user", content: "Go on.", timestamp: 0 }],
      { systemPrompt: "", messages: [], tools: agentTools },
      {
        model: MODEL,
        convertToLlm: (messages) => messages as Message[], // nothing but a model's messages is in there
        ...(isOneTurn && { shouldStopAfterTurn: () => true }),
      },
      async () => undefined,
      signal,
      stream,
    );
  };
  return {
    respond: (calls, signal) => run(() => calls, true, signal),
    answers: (results) => answersOf(results as AgentMessage[]), // what the loop has given
    converse: async (callsOf) => {
      await run(callsOf, false);
    },
  };
}

/** A provider of pi parses the text of arguments while it streams; here it is done at once. */
function messageOf(calls: readonly BenchCall[]): AssistantMessage {
  return {
    role: "assistant",
    content: calls.map(({ id, name, arguments: text }) => ({
      type: "toolCall",
      id,
      name,
      arguments: JSON.parse(text) as Record<string, unknown>, // the schema says the rest
    })),
    api: "bench",
    provider: "bench",
    model: "bench",
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: calls.length === 0 ? "stop" : "toolUse",
    timestamp: 0,
  };
}

function answersOf(messages: readonly AgentMessage[]): BenchAnswer[] {
  return messages.flatMap((message) =>
    message.role === "toolResult"
      ? [
          {
            id: message.toolCallId,
            text: message.content.map((part) => (part.type === "text" ? part.text : "")).join(""),
            isError: message.isError,
          },
        ]
      : [],
  );
}

function typeboxOf(schema: BenchSchema): TSchema {
  switch (schema.type) {
    case "string":
      return Type.String();
    case "integer":
      return Type.Integer();
    case "array":
      return Type.Array(typeboxOf(schema.items ?? { type: "string" }));
    case "object":
      return Type.Object(
        Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, typeboxOf(inner)])),
      );
  }
}
